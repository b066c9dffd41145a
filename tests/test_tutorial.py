"""The tutorial is followed to the letter, as somebody new to grader would: its files, then its commands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent / "docs" / "tutorial.md"
FILE = re.compile(r"`((?:assignments|rubrics|tests)/[\w./]+\.(?:py|yaml))`")
BLOCK = re.compile(r"([^\n]*(?:\n[^\n]+)*)\n\n```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
TIMED = 9
"""From this step on something is timed, and a busy machine may leave it open."""
OPEN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One line of commands, or the text of a file."""

    number: int
    heading: str
    file: str = ""
    text: str
    added: bool = False


def steps() -> Iterator[Step]:
    tutorial = PAGE.read_text(encoding="utf-8")
    for section in re.split(r"^(?=## )", tutorial, flags=re.MULTILINE)[1:]:
        heading = section.partition("\n")[0]
        number = int(heading.split()[1].rstrip("."))
        for paragraph, language, text in BLOCK.findall(section):
            if language == "sh":
                for line in text.splitlines():
                    yield Step(number=number, heading=heading, text=line)
            elif language in ("python", "yaml"):
                files = FILE.findall(paragraph)
                assert len(files) == 1, f"{heading}: which file is this? {paragraph}"
                added = "*added at the end*" in paragraph.lower()
                yield Step(number=number, heading=heading, file=files[0], text=text, added=added)
            else:
                assert language in ("", "console"), f"{heading}: nobody tries a block of {language}"


class Reader:
    """Types what the tutorial says, somewhere on a machine where grader is installed."""

    def __init__(self, folder: Path) -> None:
        self.cwd = folder
        self.folder = folder
        programs = Path(sys.executable).parent
        self.environment = {
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
        }

    def types(self, command: str) -> subprocess.CompletedProcess[str]:
        here = self.folder / "cwd"
        done = subprocess.run(
            ["bash", "-euc", f"trap 'pwd > {here}' EXIT\n{command}"],
            cwd=self.cwd,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        self.cwd = Path(here.read_text().strip())
        return done

    def writes(self, step: Step) -> None:
        path = self.cwd / step.file
        assert path.is_file() or not step.added, f"{step.heading}: {step.file} is not there"
        before = path.read_text() if step.added else ""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(before + step.text)


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
    for step in steps():
        if step.file:
            reader.writes(step)
            continue
        said = reader.types(step.text)
        assert is_whole(said, step), f"{step.heading}\n{step.text}\n{said.stdout}{said.stderr}"
        if "grader verify" in step.text:
            verified.append(re.search(r"(\d+) submissions and 1 reference: (.*); ", said.stdout).groups())
    assert [submissions for submissions, _ in verified] == ["3", "3", "4"]
    assert [counts for _, counts in verified[:2]] == ["4 as expected"] * 2
    course = tmp_path / "gpu-course"
    assert (course / "class.html").is_file()
    assert (course / "results" / "layers" / "layers_right" / "feedback" / "report.html").is_file()


@pytest.mark.slow
def test_what_the_tutorial_shows_of_verify_is_what_it_prints(tmp_path: Path):
    shown = [
        [line for line in text.splitlines() if line.startswith("✓")]
        for _, language, text in BLOCK.findall(PAGE.read_text(encoding="utf-8"))
        if language == "console" and "✓" in text
    ]
    reader = Reader(tmp_path)
    printed = []
    for step in steps():
        if step.number >= TIMED:
            break
        if step.file:
            reader.writes(step)
        elif "grader run" not in step.text:
            printed.append(reader.types(step.text).stdout)
    said = [
        [line for line in text.splitlines() if line.startswith("✓")]
        for text in printed
        if "submissions and" in text
    ]
    assert said == shown


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "was", "now", "told"),
    [
        ("tests/submissions/layers_wrong/expected.yaml", "total: 0", "total: 1", "layers_wrong: total is 0"),
        ("assignments/layers/reference/layers.py", "np.exp(x - x", "np.exp2(x - x", "layers/reference"),
        ("assignments/layers/expected.py", "math.exp", "math.exp2", "layers/reference"),
    ],
)
def test_a_course_with_a_mistake_does_not_pass(tmp_path: Path, file: str, was: str, now: str, told: str):
    """The tutorial's checks are alive: each part of it that is wrong is found."""
    reader = Reader(tmp_path)
    for step in steps():
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
