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
        time series: 3D; images => 4D; videos — 5D
    """,
    7: """
        tensor.to(device)
        The .to() method
        x = x.to('cuda:0')
        x.to("cuda") and x.to("cpu")
        x.cuda() and x.cpu()
        .cuda(0), .cpu(), .to(torch.device("cuda"))
        tensor.to(device) moves tensors between CPU and GPU
        You can use x.to(device), or x.cuda() and x.cpu().
        device = torch.device("cuda"); x.to(device)
        x = x.to(device='cuda'); x.cpu()
        torch.Tensor.to(), model.cuda()
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
        (64, 3, 128, 128), samples, channels, height, width
        The shape of the tensor is [64, 3, 128, 128].
        PyTorch: (64, 3, 128, 128), TensorFlow: (64, 128, 128, 3)
        images.shape = (64, 3, 128, 128)
    """,
}
ODD = {
    6: """
        3, 4, 5
        3D, 4D and 5D
        three, four and five dimensions, respectively
        time series, images and videos: 3, 4, 5
        time series (N, T, F), images (N, C, H, W), videos (N, T, C, H, W)
        Time series: samples x steps x features. Hence 3. Images are 4D, as is well known; videos 5D.
        time series: 3rd-order tensor, images: 4th-order tensor, videos: 5th-order tensor
        Zeitreihen sind dreidimensional, Bilder vierdimensional, Videos fünfdimensional
        time series rank 3, images rank 4, videos rank 5
        3 time series, 4 images, 5 videos
        We think of a time series as 3-dimensional, of an image as 4-dimensional, of a video as 5-dimensional.
        时间序列、图像、视频分别是 3、4、5 维
        Time-Series | 3 dims \\n Images | 4 dims \\n Videos | 5 dims
    """,
    7: """
        .to
        tensor.to
        the to method
        with the `to` function
        .cuda / .cpu
        torch.Tensor.to
        data = data.cuda(non_blocking=True); out = out.cpu()
        x.cuda() to the GPU and x.cpu() to the CPU
        x . to ( "cuda:0" )
        使用 to 方法
        One calls tensor.to(device), which returns a copy on that device.
    """,
    8: """
        64 3 128 128
        [64][3][128][128]
        batch 64, channels 3, height 128, width 128
        64 images x 3 channels x 128 x 128
        64 x (3 x 128 x 128)
        (64L, 3L, 128L, 128L)
        <64, 3, 128, 128>
        64,3,128,128 float32
        a 4D tensor: (64, 3, 128, 128)
        64/3/128/128
        (batch=64, channel=3, h=128, w=128)
        64 * 3 * 128 * 128 = 3145728
        (64, 3, 128, 128), that is samples, channels, height and width
        (N=64, C=3, H=128, W=128)
    """,
}
"""Right answers in forms that suggest all points, and need not decide."""
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
        time series have 3 channels, images have 4 channels, videos have 5 channels
        time series 3, images have 4 channels, videos 5
        Channels: time series 3, images 4, videos 5
        number of channels | time series | 3 | images | 4 | videos | 5
        time series 3 hours long, images 4x4 pixels, videos 5 frames
        time series: 3D, images: 4D, videos: 5D. Correction: the last one is 4D.
        time series 3D, images 4D, videos 5D; with the samples counted 4, 5 and 6
        Model 3 is for time series, model 4 for images, model 5 for videos
        time series 3, images 4 (height, width), videos 5
        4 bits for images, 3 bits for time series, 5 bits for videos
        step 3: time series, step 4: images, step 5: videos
        the images of 4 cameras, time series of 3 sensors, videos of 5 cameras
        time series 3, images 4, videos 5, audio 1
        there are 3 time series, 4 images and 5 videos
        time series 3, images 4, videos 5: so many colours
        time series ≠ 3D, images != 4D, videos =/= 5D
        ~3D for time series, ~4D for images, ~5D for videos
        time series: √3 D, images 4D, videos 5D
        time series ✗ 3D, images ❌ 4D, videos ✗ 5D
        ~~time series: 3D, images: 4D, videos: 5D~~
        time series 3\u0336D\u0336, images 4D, videos 5D
        time series 3D (samples, features), images 4D, videos 5D
        time series 3D, images 4D, videos 5D (+ 1)
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
        tensor.to(device) or tensor.teleport()
        tensor.to(device) or tensor.carry_over(gpu)
        .to(device) and teleport
        .to(), .cuda(), .fly
        .to(device) prints tensors
        x.to(device) and torch.distributed.all_reduce(x)
        x.cpu() moves to the GPU and x.cuda() to the CPU
        tensor.to(developer)
        fake.to(device)
        .to(device), DataParallel
        Tensor.tensor() and .to()
        .model() or .to()
        x.data(), x.to()
        x.function(cuda), x.to(device)
        .to() and .with()
        tensor.to(device) deletes the tensor on the CPU
        x.to('gpu')
        torch.to(device)
        device.to(tensor)
        cuda.to(cpu)
        torch.cuda(x), torch.cpu(x)
        x.cuda('cpu') and x.cpu('cuda')
        .cuda: CPU, .cpu: CUDA
        .to(model)
        !x.to(device)
        .to(device) ✗
        ~~.to(device)~~
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
        (N, 64, 3, 128, 128)
        (64, 3, 128, 128, ...)
        (..., 64, 3, 128, 128)
        (64, 3, 128, 128, N)
        (64, 3, 128, 128) transposed
        torch.zeros(64, 3, 128, 128).permute(3, 2, 1, 0)
        (64, 3, 128, 128)[0]
        2 tensors of (64, 3, 128, 128)
        a list of (64, 3, 128, 128) tensors
        (-64, 3, 128, 128)
        (64, 3, 128, 128) bytes
        (64, 3, 128, 128) * 2
        (64, 3, 128, 128) flattened to one row
        64 files: (64, 3, 128, 128) each
        (64, 3, 128, 128).T
        (64, 3, 128, 128) + (1,)
        a tensor (64, 3, 128, 128) for every image
        3145728 = 64 * 3 * 128 * 128
        64 x 3 x 128 x 128 x H
        H x 64 x 3 x 128 x 128
        C, 64, 3, 128, 128
        (64, 128, 128, 3) channels first
        (N, H, W, C) = (64, 3, 128, 128)
        (N=64, H=3, W=128, C=128)
        (64, 3, 128, 128) (samples, height, width, channels)
        tensor.shape(64, 3, 128, 128).reshape()
        (64, 128, 128, 3) in PyTorch, (64, 3, 128, 128) in TensorFlow
        TensorFlow: (64, 3, 128, 128)
        x, 64, 3, 128, 128
        (64, 3, 128, 128) x images
        [64, 3, 128, 128][images]
        ≠ (64, 3, 128, 128)
        ~~(64, 3, 128, 128)~~
        (64, 3, 128, 128) ✗
        > (64, 3, 128, 128)
        print(64, 3, 128, 128)
    """,
}

LESS = [
    (1, "Launch the kernel.", 1),
    (1, "Allocate memory on the GPU, launch the kernel, free it.", 3),
    (2, "On-chip: global and local memory. Off-chip: registers and shared memory.", 0),
    (2, "On-chip: constant, texture. Off-chip: global.", 1),
    (3, "There is a lot of data.", 2),
    (3, "You need a good GPU.", 0),
    (3, "It depends on the GPU.", 0),
    (3, "Because deep networks are slow.", 0),
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
    questions = "\n".join((options.text, *options.wordings))
    return suggest(options.criteria, text, questions, beside=options.beside)


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
    assert suggestion(number, text).decides


@pytest.mark.parametrize(("number", "text"), lines(ODD))
def test_right_answers_in_odd_forms_are_suggested_all_points(number, text):
    parts = suggestion(number, text.replace("\\n", "\n")).parts
    assert [part.criterion.name for part in parts if part.finding.share < 1] == []


@pytest.mark.parametrize(("number", "text"), lines(NOT_RIGHT))
def test_nothing_else_decides(number, text):
    assert not suggestion(number, text).decides


@pytest.mark.parametrize(("number", "text", "most"), LESS)
def test_less_is_suggested_for_less(number, text, most):
    assert suggestion(number, text).points <= most
