"""The tutorial is followed to the letter, as somebody new to grader would: its files, then its commands."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.docs_reader import BLOCK, DOCS, Reader, Step, steps

PAGE = "tutorial.md"
TIMED = 9
"""From this step on something is timed, and a busy machine may leave it open."""
OPEN = 5


def is_whole(said: subprocess.CompletedProcess[str], step: Step) -> bool:
    """Whether all was as expected; of what is timed, whether it merely could not be observed."""
    if said.returncode == OPEN and step.number >= TIMED:
        told = [line for line in said.stdout.splitlines() if line.startswith(("✗", "…"))]
        return all("layers.speedup is pending" in line for line in told)
    return said.returncode == 0


@pytest.mark.slow
def test_whoever_follows_the_tutorial_has_a_course_that_passes_verify(tmp_path: Path):
    reader = Reader(tmp_path)
    verified = []
    for step in steps(PAGE):
        if step.file:
            reader.writes(step)
            continue
        said = reader.types(step.text)
        assert is_whole(said, step), f"{step.heading}\n{step.text}\n{said.stdout}{said.stderr}"
        if "grader verify" in step.text:
            verified.append(
                re.search(r"(\d+) submissions, 1 reference and 1 starter: (.*); ", said.stdout).groups()
            )
    assert [submissions for submissions, _ in verified] == ["2", "2", "3"]
    assert [counts for _, counts in verified[:2]] == ["4 as expected"] * 2
    course = tmp_path / "gpu-course"
    assert (course / "class.html").is_file()
    assert (course / "results" / "layers" / "layers_right" / "feedback" / "report.html").is_file()


@pytest.mark.slow
def test_what_the_tutorial_shows_of_verify_is_what_it_prints(tmp_path: Path):
    shown = [
        [line for line in text.splitlines() if line.startswith("✓")]
        for _, language, text in BLOCK.findall((DOCS / PAGE).read_text(encoding="utf-8"))
        if language == "console" and "✓" in text
    ]
    reader = Reader(tmp_path)
    printed = []
    for step in steps(PAGE):
        if step.number >= TIMED:
            break
        if step.file:
            reader.writes(step)
        elif "grader run" not in step.text:
            printed.append(reader.types(step.text).stdout)
    said = [
        [line for line in text.splitlines() if line.startswith("✓")]
        for text in printed
        if "submissions, 1 reference" in text
    ]
    assert said == shown


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "was", "now", "told"),
    [
        (
            "tests/submissions/layers_wrong/expected.yaml",
            ": 0",
            ": 1",
            "layers_wrong: layers.softmax earned 0, expected 1",
        ),
        ("assignments/layers/reference/layers.py", "np.exp(x - x", "np.exp2(x - x", "layers/reference"),
        ("assignments/layers/expected.py", "math.exp", "math.exp2", "layers/reference"),
    ],
)
def test_a_course_with_a_mistake_does_not_pass(tmp_path: Path, file: str, was: str, now: str, told: str):
    """The tutorial's checks are alive: each part of it that is wrong is found."""
    reader = Reader(tmp_path)
    for step in steps(PAGE):
        if step.number >= TIMED:
            break
        if step.file:
            reader.writes(step)
        elif not step.text.startswith(("grader run", "grader verify")):
            reader.types(step.text)
    path = reader.cwd / file
    assert was in path.read_text()
    path.write_text(path.read_text().replace(was, now))
    said = reader.types("grader verify")
    assert said.returncode == 4
    assert f"✗ {told}" in said.stdout
