"""Patterns of a rubric and of an assignment: whether one name may fit both."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.config.accepted import overlap, unaccepted
from grader.model.assignment import Assignment


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
