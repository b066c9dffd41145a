"""Who handed in."""

from __future__ import annotations

import pytest

from grader.errors import UsageError
from grader.intake.names import student_from, student_named

ALLOWED = "letters A-Z, digits and . _ -, not a dot or hyphen first, 64 at most"


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("alice.tar.gz", "alice"),
        ("alice.TGZ", "alice"),
        ("alice.b-c_1.zip", "alice.b-c_1"),
        ("a.tar.tar.xz", "a.tar"),
        ("207797", "207797"),
    ],
)
def test_the_archives_name_says_who(name, student):
    assert student_from(name) == student


@pytest.mark.parametrize(
    "name", ["hw1 (2).zip", "é.zip", ".zip", "..", "-rf.zip", ".x.tar", "a\n.zip", "a" * 65]
)
def test_a_name_that_does_not_say_asks_for_student(name):
    with pytest.raises(UsageError) as caught:
        student_from(name)
    (line,) = caught.value.problems
    assert line.endswith(f": its name does not say who handed it in; say so with --student NAME ({ALLOWED})")
    assert "\n" not in line


@pytest.mark.parametrize("student", ["a/b", "..", "", "a b", "../x", "-x", "a\n"])
def test_a_student_that_is_no_safe_folder_is_refused(student):
    with pytest.raises(UsageError) as caught:
        student_named(student)
    assert caught.value.problems[0].endswith(f": is no name that can be used; give {ALLOWED}")
    assert "\n" not in caught.value.problems[0]


def test_a_student_who_is_said_is_taken():
    assert student_named("team_7") == "team_7"
