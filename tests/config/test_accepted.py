"""Patterns of a rubric and of an assignment: whether one name may fit both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.config.accepted import overlap, requires_objection, unaccepted, unaccepted_options
from grader.model.assignment import Assignment, Build
from grader.model.options import FunctionName, ModuleName, ProgramFile, SubmittedFile, option


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        ("a.md", "a.md", True),
        ("a.md", "b.md", False),
        ("answers.*", "answers.md", True),
        ("answers.*", "*.pdf", True),
        ("answers.*", "report.*", False),
        ("*.md", "a?.m*", True),
        ("", "*", True),
        ("", "?", False),
        ("[ab].py", "c.py", True),
        ("/abs", "a*", False),
    ],
)
def test_patterns_that_one_name_may_fit(first, second, both):
    assert overlap(first, second) is overlap(second, first) is both


PATTERNS = st.text("ab.*?", max_size=6)


@given(PATTERNS, PATTERNS, st.text("ab.", max_size=5))
def test_a_name_that_fits_both_is_never_denied(first, second, name):
    if fnmatchcase(name, first) and fnmatchcase(name, second):
        assert overlap(first, second)


@pytest.mark.parametrize("pattern", ["", "/abs/olute", "../up", "driver.py", "sub/*.py"])
def test_any_pattern_is_looked_for_in_given(tmp_path: Path, pattern: str):
    (tmp_path / "given/sub").mkdir(parents=True)
    (tmp_path / "given/driver.py").touch()
    (tmp_path / "given/sub/more.py").touch()
    message = unaccepted(pattern, Assignment(name="a", title="", accepts=("work.py",)), tmp_path)
    assert bool(message) is (pattern not in ("driver.py", "sub/*.py"))


def test_a_file_in_a_folder_is_let_in_by_no_pattern_of_the_top(tmp_path: Path):
    def message(accepts: str) -> str:
        return unaccepted("src/work.cpp", Assignment(name="a", title="", accepts=(accepts,)), tmp_path)

    assert message("*.cpp").startswith('given/ has no "src/work.cpp", and no pattern of accepts fits it')
    assert message("src/*.cpp") == ""


@pytest.mark.parametrize("pattern", ["/work.py", "/*.py", "../*.py", "src/../work.py"])
def test_a_pattern_that_leads_out_of_the_submission_is_never_handed_in(tmp_path: Path, pattern: str):
    everything = Assignment(name="a", title="", accepts=("*", "*/*", "*/*/*"))
    assert "leads out of the submission" in unaccepted(pattern, everything, tmp_path)


def test_a_file_of_the_course_is_handed_in_by_nobody(tmp_path: Path):
    (tmp_path / "given").mkdir()
    (tmp_path / "given/driver.py").touch()
    assignment = Assignment(name="hw", title="HW", accepts=("hw.py",))
    assert not unaccepted("driver.py", assignment, tmp_path)
    assert (
        unaccepted("driver.py", assignment, tmp_path, by_course=False)
        == '"driver.py" lies in given/, and nobody hands it in; name a file of the submission'
    )
    assert not unaccepted("hw.py", assignment, tmp_path, by_course=False)


def test_a_misspelt_or_forgotten_file_of_the_course_is_not_asked_of_students(tmp_path: Path):
    (tmp_path / "given").mkdir()
    (tmp_path / "given/bounds.py").touch()
    (tmp_path / "given/main.cpp").touch()
    assignment = Assignment(name="hw", title="HW", accepts=("prims.cpp",))
    why = "and no pattern of accepts fits it"
    assert unaccepted("bound.py", assignment, tmp_path) == (
        f'given/ has no "bound.py", {why}; did you mean bounds.py?'
    )
    assert unaccepted("race.py", assignment, tmp_path) == (
        f'given/ has no "race.py", {why}; write given/race.py, or name it in accepts if students hand it in'
    )
    # what students write is not looked for among the files of the course
    assert unaccepted("bound.py", assignment, tmp_path, by_course=False) == (
        'no pattern of accepts fits "bound.py"; add one to accepts in assignment.py'
    )


def test_a_file_of_the_reference_alone_is_to_be_moved_or_asked_for(tmp_path: Path):
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference/driver.py").touch()
    (tmp_path / "reference/hw.py").touch()
    assignment = Assignment(name="hw", title="HW", accepts=("hw.py",))
    why = '"driver.py" lies in reference/ alone, and no pattern of accepts fits it; '
    asked = "add it to accepts in assignment.py"
    assert unaccepted("driver.py", assignment, tmp_path) == f"{why}move it to given/, or {asked}"
    assert unaccepted("driver.py", assignment, tmp_path, by_course=False) == f"{why}{asked}"
    misspelt = replace(assignment, accepts=("hw.py", "drivers.py"))
    why_misspelt = '"driver.py" is called so in reference/, and drivers.py in accepts; write one name in both'
    assert unaccepted("driver.py", misspelt, tmp_path) == why_misspelt
    assert requires_objection(replace(assignment, requires={"hw": ("driver.py",)}), tmp_path).startswith(
        f"['hw']: {why}"
    )


def test_names_that_no_comma_parts_in_accepts_are_told_as_that(tmp_path: Path):
    (tmp_path / "reference").mkdir()
    for name in ("prims.cpp", "stats.cpp", "report.md"):
        (tmp_path / "reference" / name).touch()
    assignment = Assignment(name="hw", title="HW", accepts=("prims.cppstats.cpp", "report.md"))
    why = '"prims.cppstats.cpp" in accepts has no comma between its parts; write'
    for name in ("prims.cpp", "stats.cpp"):
        assert unaccepted(name, assignment, tmp_path) == f"{why} 'prims.cpp', 'stats.cpp'"


def test_where_accepts_fits_no_file_of_the_reference_that_alone_is_wrong(tmp_path: Path):
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference/hw.py").touch()
    assert unaccepted("hw.py", Assignment(name="hw", title="HW", accepts=("hw.ipynb",)), tmp_path) == ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    of: FunctionName = option("It.")
    over: tuple[FunctionName, ...] = option("More.")
    tests: ModuleName = option("A file.")
    file: ProgramFile = option("A program.")
    reads: SubmittedFile = option("A document.", default=SubmittedFile(""))


@pytest.mark.parametrize("products", [(), ("lib/made.so",)])
def test_every_option_that_names_a_file_is_looked_at(tmp_path: Path, products):
    build = Build(command=("make",), products=products, variable="LIBRARY") if products else None
    assignment = Assignment(name="hw", title="HW", accepts=("hw.py",), build=build)
    right = {"of": "hw.f", "over": ["hw.g"], "tests": "hw", "file": "hw.py", "reads": "hw.py"}
    wrong = {"of": "made.f", "over": ["hw.f", "made.g"], "tests": "no", "file": "no.py", "reads": "no.md"}
    assert list(unaccepted_options(Options, right, assignment, tmp_path)) == []
    places = [path for path, _ in unaccepted_options(Options, wrong, assignment, tmp_path)]
    called = [] if products else [("of",), ("over", 1)]
    assert places == [*called, ("tests",), ("file",), ("reads",)]
