"""The installed program, in a process of its own: one run of every command, and one of every exit code.

What else the commands do is tested in the process of the tests, through the same function.
"""

from __future__ import annotations

import pytest

from grader.cli.main import COMMANDS
from grader.errors import ExitCode

ITEM = {"title": "it doubles", "points": 1, "check": "matches_reference", "inputs": "numbers"}
DOUBLE = ITEM | {"id": "double", "of": "work.double"}
BROKEN = """
from grader.grading.grade import Grading

def grade(self, requests):
    return 1 / 0

Grading.grade = grade
"""
"""Imported by Python itself as it starts: a grader with a fault of its own."""

EXAMPLES = {
    "run": (["run", "{archive}"], 0, "1 / 1"),
    "verify": (["verify"], 0, "1 reference: 1 as expected"),
    "rubric": (["rubric", "check"], 0, "tiny.yaml: fine"),
    "course": (["course", "check"], 0, ": fine"),
    "init": (["init", "begun", "--title", "Begun"], 0, "course.yaml: written"),
    "new": (["new", "hw7"], 0, "hw7_right.tar.gz: written"),
    "pack": (["pack", "--check"], 0, ""),
    "manual": (["manual", "export", "--results", "{results}", "--out", "points.csv"], 0, "points.csv"),
    "review": (["review", "--person", "ann:boss"], 2, "there is no role 'boss'"),
    "record": (["record", "{results}"], 0, "1 recorded already"),
    "show": (["show", "ann"], 0, "1 / 1"),
    "history": (["history", "ann"], 0, "run: 1 / 1"),
    "rescore": (["rescore", "tiny"], 0, "no points change"),
    "replay": (["replay", "{results}/tiny/ann/score.json", "--item", "double"], 0, "double"),
    "report": (["report"], 0, "class.html: written"),
    "export": (["export", "json"], 0, '"student": "ann"'),
    "post": (["post", "canvas", "tiny"], 4, "grader: course.yaml: canvas: missing"),
    "gradescope": (["gradescope", "--autograder", "."], 2, "submission_metadata.json: cannot be read"),
    "plugins": (["plugins"], 0, "grader_course.tiny"),
    "profile": (["profile", "no_such.py"], 2, "no_such.py: there is no such file"),
    "doctor": (["doctor"], 0, "bubblewrap"),
}
"""By command: arguments, exit code, and a part of what is printed; in an order in which each can work."""


@pytest.fixture(scope="module")
def graded(tmp_path_factory, course_folder):
    """A course with one graded submission that is in the gradebook, too."""
    course = course_folder(tmp_path_factory.mktemp("installed"))
    course.rubric(DOUBLE)
    course.environment["GRADER_GRADEBOOK"] = str(course.cwd / "gradebook.db")
    assert course.installed("run", course.submit()).returncode == 0
    return course


def test_every_command_has_an_example():
    assert EXAMPLES.keys() == COMMANDS.keys()


@pytest.mark.parametrize("command", EXAMPLES)
def test_the_installed_program_has_the_command(graded, command):
    arguments, status, expected = EXAMPLES[command]
    paths = {"archive": graded.submissions_folder / "ann.tar.gz", "results": graded.out}
    done = graded.installed(*(argument.format(**paths) for argument in arguments))
    assert "Traceback" not in done.stderr
    assert (done.returncode, expected in done.stdout + done.stderr) == (status, True), done


@pytest.mark.parametrize("status", ExitCode)
def test_the_installed_program_ends_with_each_exit_code(course, status):
    course.rubric(DOUBLE)
    environment = {}
    if status is ExitCode.BUG:
        course.write("broken/sitecustomize.py", BROKEN)
        environment["PYTHONPATH"] = str(course.folder / "broken")
    if status is ExitCode.COURSE:
        course.write("course.yaml", "titel: misspelt\n")
    if status is ExitCode.NOT_OBSERVED:
        course.out.mkdir()
        (course.out / "tiny").write_text("a file where a folder should be")
    archive = course.submit(name="else.txt" if status is ExitCode.NOT_ACCEPTED else "work.py")
    option = ("--no-such-option",) if status is ExitCode.USAGE else ()
    assert course.installed("run", archive, *option, **environment).returncode == status
