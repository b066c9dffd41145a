"""A function of the course that does not end is called once, unless a student chose its arguments."""

from __future__ import annotations

import pytest

from grader.errors import CourseError
from grader.harness.course_functions import EndlessError, once


def test_what_did_not_end_is_not_called_for_the_next_submission(tmp_path):
    calls = []

    def endless():
        calls.append(1)
        raise EndlessError("expected.py:3: f: has not ended after 60 s")

    for _ in range(2):
        with pytest.raises(CourseError, match="has not ended after 60 s"):
            once(tmp_path, "expected.py", "f", endless)
    assert len(calls) == 1


def fails(number):
    raise CourseError(f"mistake {number}")


def test_other_mistakes_are_told_of_each_submission(tmp_path):
    for number in range(2):
        with pytest.raises(CourseError, match=f"mistake {number}"):
            once(tmp_path, "expected.py", "f", lambda number=number: fails(number))
