"""How-to guides that are followed literally: compiling C++, and posting to the stand-in for Canvas."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.docs_reader import DOCS, Reader, steps

ROOT = Path(__file__).parent.parent


def course(folder: Path) -> Reader:
    """Begin a course, and go there."""
    reader = Reader(folder)
    assert reader.types('grader init course --title "A course"; cd course').returncode == 0
    return reader


def follow(reader: Reader, page: str) -> str:
    """Write the files of a page's whole assignment and type its commands; what the last one printed."""
    printed = ""
    for step in steps(page, until="## What else there is to know"):
        if step.file:
            reader.writes(step)
        else:
            done = reader.types(step.text)
            assert done.returncode == 0, f"{step.text}\n{done.stdout}{done.stderr}"
            printed = done.stdout
    return printed


@pytest.mark.slow
@pytest.mark.skipif(not (shutil.which("g++") and shutil.which("make")), reason="needs g++ and make")
def test_the_guide_to_programs_makes_an_assignment_that_passes_verify(tmp_path: Path):
    assert "1 submission, 1 reference and 1 starter: 3 as expected" in follow(
        course(tmp_path), "how-to/programs.md"
    )


@pytest.mark.slow
def test_the_guide_to_pytorch_makes_an_assignment_that_passes_verify(tmp_path: Path):
    pytest.importorskip("torch")
    assert "1 submission, 1 reference and 1 starter: 3 as expected" in follow(
        course(tmp_path), "how-to/pytorch.md"
    )


@pytest.mark.slow
@pytest.mark.skipif(not (shutil.which("g++") and shutil.which("make")), reason="needs g++ and make")
def test_the_guide_to_cpp_makes_an_assignment_that_passes_verify(tmp_path: Path):
    reader = course(tmp_path)
    assert "2 submissions, 1 reference and 1 starter: 4 as expected" in follow(reader, "how-to/compile.md")
    # it is the library that decides, and not the driver
    broken = reader.cwd / "assignments/heat/reference/heat.cpp"
    broken.write_text(broken.read_text().replace("/ 4;", "/ 5;"))
    done = reader.types("grader verify")
    assert done.returncode == 4
    assert "heat/reference" in done.stdout


@pytest.mark.slow
def test_the_rehearsal_posts_to_the_stand_in_and_the_second_time_nothing(tmp_path: Path):
    reader = course(tmp_path)
    for command in (
        "grader new layers",
        "cp submissions/layers_*.tar.gz received/",
        "grader run --gradebook gradebook.db received/*",
    ):
        done = reader.types(command)
        assert done.returncode == 0, done.stderr
    printed = [reader.types(step.text) for step in steps("how-to/rehearse-posting.md")]
    for done in printed:
        assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    posting = printed[0].stdout
    assert "sent: 2 there\nArrived:\n" in posting
    assert "  layers_right: 10 points, comment: " in posting
    assert "  layers_wrong: 0 points, comment: " in posting
    assert posting.splitlines()[-1] == "nothing is to be sent"


def test_every_script_that_a_page_names_is_there():
    named = {
        name
        for page in (*DOCS.rglob("*.md"), *ROOT.glob("*.md"))
        for name in re.findall(r"\b((?:scripts|benchmarks)/\w+\.(?:py|sh))", page.read_text(encoding="utf-8"))
    }
    assert named
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
