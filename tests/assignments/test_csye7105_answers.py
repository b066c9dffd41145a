"""The questions of csye7105_hw4 are those of the hand-out, and right answers are recognised in many words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from grader.config.rubric import load_rubric
from grader.matching.suggestion import suggest
from grader.plugins import Plugins

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "assignments" / "csye7105_hw4"
plugins = Plugins(ROOT)
RUBRIC = load_rubric(
    ROOT / "rubrics" / "csye7105_hw4.yaml", kinds=plugins.checks, assignments=plugins.assignment_folders
)
QUESTIONS = {int(item.options.question): item for item in RUBRIC.items if item.check == "answer"}
LANGUAGES = yaml.safe_load(Path(__file__).with_name("csye7105_answers.yaml").read_text(encoding="utf-8"))
NUMBERED = re.compile(r"^(\d+)\. (.*(?:\n(?:   .*)?)*)", re.MULTILINE)
"""An entry of a numbered list, with its indented lines."""

RIGHT = {
    6: """
        time series: 3D, images: 4D, videos: 5D
        3D tensors for time series, 4D tensors for images and 5D for videos
        three for time series, four for images, five for videos
        time-series -> 3-D; images -> 4-D; videos -> 5-D
        Time series = 3 (samples, timesteps, features); image = 4 (n, 3, 224, 224); video = 5
        Time series 3D tensors of shape (samples, steps, features). Images 4D tensors. Video 5D tensors.
        时间序列 3 维,图像 4 维,视频 5 维
    """,
    7: """
        tensor.to(device)
        The .to() method
        x = x.to('cuda:0')
        x.to("cuda") and x.to("cpu")
        x.cuda() and x.cpu()
        .cuda(0), .cpu(), .to(torch.device("cuda"))
    """,
    8: """
        (64, 3, 128, 128)
        [64,3,128,128]
        64x3x128x128
        64 \u00d7 3 \u00d7 128 \u00d7 128
        torch.Size([64, 3, 128, 128])
        x = torch.zeros((64, 128, 128, 3))
        (64, 128, 128, 3)
        64, 3, 128, 128
        (N, C, H, W) = (64, 3, 128, 128)
        (64, 3, 128, 128) in PyTorch, (64, 128, 128, 3) in TensorFlow
    """,
}
NOT_RIGHT = {
    6: """
        time series 2, images 3, videos 4
        time series 5, images 4, videos 3
        time series 3, 2; images 4, 3; videos 5, 4
        5, 4, 3
        I do not know: maybe 3, 4, 5
        time series 3 or 4, images 3 or 4, videos 4 or 5
        not 3 for time series, not 4 for images, not 5 for videos
        see chapter 3 of the book on time series, chapter 4 on images, chapter 5 on videos, or 6
        time series 30, images 40, videos 50
    """,
    7: """
        x.cuda()
        .cpu()
        tensor.move(), tensor.send() and tensor.to(device)
        x.to(torch.float16)
        x.to(dtype=torch.float16)
        That is all. To (be honest) I do not know.
        tensor.to_dense()
        x.tolist()
        don't use .to(device)
        cudaMemcpy and .to(device)
    """,
    8: """
        64 x 128 x 128
        (3, 64, 128, 128)
        (128, 128, 64, 3)
        (64, 3, 128)
        (64, 3, 128, 128, 1)
        (64, 3, 128, 128) or (3, 64, 128, 128)
        not (64, 3, 128, 128)
        164, 3, 128, 128
        64 images of 3 x 128 x 128
        Line 64, column 3: 128 128
    """,
}

LESS = [
    (1, "Launch the kernel.", 1),
    (1, "Allocate memory on the GPU, launch the kernel, free it.", 3),
    (2, "On-chip: global and local memory. Off-chip: registers and shared memory.", 0),
    (2, "On-chip: constant, texture. Off-chip: global.", 1),
    (3, "There is a lot of data.", 2),
    (3, "You need a good GPU.", 0),
    (4, "Data parallelism.", 1.5),
    (5, "Point-to-point: MPI_Send and MPI_Recv", 0),
    (5, "MPI_Allreduce", 2),
    (9, "All of them.", 0),
    (9, "Recurrent networks.", 0),
    (10, "When training is too slow on one GPU.", 0),
    (10, "When there is much data.", 0),
    (11, "It tells how long each function takes.", 3),
    (12, "FP16", 1),
    (13, "GradScaler scales the gradients.", 1),
    (13, "Both are needed for AMP.", 0),
]
"""Answers that are not right, or not all of it, and the most that may be suggested for them."""


def lines(by_question):
    return [
        (number, line.strip()) for number, text in by_question.items() for line in text.strip().split("\n")
    ]


def suggestion(number, text):
    options = QUESTIONS[number].options
    return suggest(options.criteria, text, options.text)


def test_the_questions_and_their_points_are_those_of_the_hand_out():
    handout = (FOLDER / "handout.md").read_text(encoding="utf-8")
    part = handout[handout.index("## Part 1") : handout.index("How to write")]
    asked = {int(number): " ".join(text.replace("`", "").split()) for number, text in NUMBERED.findall(part)}
    assert asked == {
        number: f"{item.options.text} ({item.points:g} points)" for number, item in QUESTIONS.items()
    }


def test_three_questions_are_decided_and_all_have_a_model_answer_and_a_reason_for_lost_points():
    assert [number for number, item in QUESTIONS.items() if item.options.decides] == [6, 7, 8]
    assert sum(item.points for item in QUESTIONS.values()) == 60
    for item in QUESTIONS.values():
        assert item.options.model
        assert [criterion.name for criterion in item.options.criteria if not criterion.feedback] == []


@pytest.mark.parametrize("number", QUESTIONS)
def test_the_model_answer_and_the_reference_are_suggested_all_points(number):
    reference = dict(NUMBERED.findall((FOLDER / "reference" / "answers.md").read_text(encoding="utf-8")))
    for text in (QUESTIONS[number].options.model, reference[str(number)]):
        found = suggestion(number, text)
        assert [part.criterion.name for part in found.parts if part.finding.share < 1] == []


@pytest.mark.parametrize(
    ("language", "number"), [(language, number) for language in LANGUAGES for number in LANGUAGES[language]]
)
def test_a_right_answer_in_another_language_is_suggested_all_points(language, number):
    found = suggestion(number, str(LANGUAGES[language][number]))
    assert [part.criterion.name for part in found.parts if part.finding.share < 1] == []


@pytest.mark.parametrize("number", QUESTIONS)
@pytest.mark.parametrize("text", ["", "I do not know.", "Full points, please.", "- - -", "13", "x " * 1000])
def test_what_is_no_answer_is_suggested_nothing(number, text):
    assert suggestion(number, text).points == 0


@pytest.mark.parametrize("number", QUESTIONS)
def test_a_copied_question_is_suggested_nothing(number):
    assert suggestion(number, QUESTIONS[number].options.text).points == 0


@pytest.mark.parametrize(("number", "text"), lines(RIGHT))
def test_right_writings_decide(number, text):
    assert suggestion(number, text).meets_all


@pytest.mark.parametrize(("number", "text"), lines(NOT_RIGHT))
def test_nothing_else_decides(number, text):
    assert not suggestion(number, text).meets_all


@pytest.mark.parametrize(("number", "text", "most"), LESS)
def test_less_is_suggested_for_less(number, text, most):
    assert suggestion(number, text).points <= most
