"""Who handed in."""

from __future__ import annotations

import pytest

from grader.errors import CourseError, UsageError
from grader.intake.names import Sender, sender_named, sender_of
from grader.model.roster import Roster, Student

ALLOWED = "letters A-Z, digits and . _ -, not a dot or hyphen first, 64 at most; a team as alice+bob"


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("alice.tar.gz", "alice"),
        ("alice.TGZ", "alice"),
        ("alice.b-c_1.zip", "alice.b-c_1"),
        ("a.tar.tar.xz", "a.tar"),
        ("alice.RAR", "alice"),
        ("alice.b.7z", "alice.b"),
        ("207797", "207797"),
        ("alice-2.zip", "alice-2"),
        ("alice_hw1_2.zip", "alice_hw1_2"),
        ("alice_2024_01_hw1.zip", "alice_2024_01_hw1"),
    ],
)
def test_a_plain_name_says_who_by_itself(name, student):
    assert sender_of(name) == Sender(student=student, file=name)


@pytest.mark.parametrize("name", ["alice+bob.tar.gz", "bob+alice.tar.gz"])
def test_a_team_is_one_sender_in_whatever_order_it_is_written(name):
    assert sender_of(name) == Sender(student="alice+bob", members=("alice", "bob"), file=name)


CANVAS = {
    "doejane_12345_67890_hw1.tar.gz": ("doejane_12345", "12345", "hw1.tar.gz", None, False),
    "doejane_LATE_12345_67890_hw1-2.tar.gz": ("doejane_12345", "12345", "hw1.tar.gz", 2, True),
    "doejane_12345_67890_hw1.tar-2.gz": ("doejane_12345", "12345", "hw1.tar.gz", 2, False),
    "studenttest_3143_207797_zipsubmission.zip": (
        "studenttest_3143",
        "3143",
        "zipsubmission.zip",
        None,
        False,
    ),
    "doejane_12345_67890_my_hw_1_2_x-20231234.zip": (
        "doejane_12345",
        "12345",
        "my_hw_1_2_x-20231234.zip",
        None,
        False,
    ),
    # Loose files.
    "doejane_12345_67890_utils.py": ("doejane_12345", "12345", "utils.py", None, False),
    "doejane_12345_67890_utils-2.py": ("doejane_12345", "12345", "utils.py", 2, False),
    "doejane_12345_67890_.env": ("doejane_12345", "12345", ".env", None, False),
    # A group is called by its name, which may have an underscore.
    "team_seven_12345_67890_hw1.zip": ("teamseven_12345", "12345", "hw1.zip", None, False),
    "müllerjürgen_12_67890_hw1.zip": ("mullerjurgen_12", "12", "hw1.zip", None, False),
    "иванов_12_67890_hw1.zip": ("12", "12", "hw1.zip", None, False),
    "_12_67890_hw1.zip": ("12", "12", "hw1.zip", None, False),
    "LATE_anon_x7Kq2_67890_hw1.zip": ("anon_x7Kq2", "x7Kq2", "hw1.zip", None, True),
    "anon_x7Kq2_LATE_67890_hw1-1.zip": ("anon_x7Kq2", "x7Kq2", "hw1.zip", 1, True),
    "anon_12_67890_hw1.zip": ("anon_12", "12", "hw1.zip", None, False),
}


@pytest.mark.parametrize("name", CANVAS)
def test_a_name_that_canvas_gives_is_understood(name):
    student, lms_id, file, attempt, late = CANVAS[name]
    got = sender_of(name)
    assert got == Sender(student=student, file=file, lms_id=lms_id, attempt=attempt, late=late)


def test_two_students_of_one_name_are_not_one_student():
    first, second = (sender_of(f"doejane_{user}_67890_hw1.zip").student for user in (12345, 12346))
    assert first != second


MOODLE = {
    "Jane Doe_123_assignsubmission_file": ("janedoe_123", "123", None),
    "Jane Doe_123_assignsubmission_file_": ("janedoe_123", "123", None),
    "Jane Doe_123_assignsubmission_file_hw1_b.tar.gz": ("janedoe_123", "123", "hw1_b.tar.gz"),
    "Jürgen O-Müller Jr._123_assignsubmission_file_hw1.zip": ("jurgenomullerjr_123", "123", "hw1.zip"),
    "Participant_123_assignsubmission_file": ("participant_123", "123", None),
    "Иван_123_assignsubmission_file": ("123", "123", None),
    "Default group_assignsubmission_file": ("defaultgroup", None, None),
}


@pytest.mark.parametrize("name", MOODLE)
def test_a_name_that_moodle_gives_is_understood(name):
    student, lms_id, file = MOODLE[name]
    assert sender_of(name) == Sender(student=student, file=file or name, lms_id=lms_id)


def test_an_archive_in_a_folder_of_moodle_may_have_any_name():
    got = sender_of("1 (2).zip", folder="Jane Doe_123_assignsubmission_file")
    assert got == Sender(student="janedoe_123", file="1 (2).zip", lms_id="123")


def test_the_longest_names_of_a_platform_stay_names_of_students():
    student = sender_of(f"{'x' * 150}_{'9' * 20}_67890_hw1.zip").student
    assert sender_named(student, "").student == student
    with pytest.raises(UsageError):
        sender_named("x" * 65, "")


def test_a_roster_says_which_student_or_team_an_id_stands_for():
    roster = Roster(
        students=(
            Student(student="jdoe", canvas_id="12345"),
            Student(student="bob", canvas_id="x7Kq2", team="red"),
            Student(student="alice", team="red"),
        )
    )
    assert sender_of("doejane_12345_67890_hw1.zip", roster=roster).student == "jdoe"
    assert sender_of("anon_x7Kq2_67890_hw1.zip", roster=roster).members == ("alice", "bob")
    assert sender_of("doejane_12346_67890_hw1.zip", roster=roster).student == "doejane_12346"
    assert sender_of("12345.zip", roster=roster).student == "12345"


@pytest.mark.parametrize(
    ("name", "party"),
    [
        *(("bob", "bob+jdoe"), ("jdoe", "bob+jdoe"), ("red", "bob+jdoe"), ("jdoe+bob", "bob+jdoe")),
        *(("ann", "ann+cy+dan"), ("cy+ann", "ann+cy+dan"), ("two words", "ann+cy+dan")),
        *(("eve", "eve"), ("fay", "fay"), ("guest", "guest")),
        *(("bob+ann", "ann+bob"), ("eve+bob", "bob+eve"), ("bob+guest", "bob+guest")),
    ],
)
def test_whoever_is_in_a_team_on_the_roster_hands_in_for_all_of_it(name, party):
    teams = {"jdoe": "red", "bob": "red", "ann": "two words", "cy": "two words", "dan": "two words"}
    teams |= {"eve": "", "fay": "bob"}  # a team called as a student is that student
    roster = Roster(students=tuple(Student(student=who, team=team) for who, team in teams.items()))
    members = tuple(party.split("+")) if "+" in party else ()
    for sender in (
        sender_of(f"{name}.tar.gz", roster=roster),
        sender_named(name, "hw1.zip", roster=roster),
    ):
        assert (sender.student, sender.members) == (party, members)


def test_a_team_of_the_roster_that_is_too_long_for_a_folder_is_a_mistake_of_the_course():
    students = tuple(Student(student=letter * 60, team="red") for letter in "abcd")
    with pytest.raises(CourseError, match=r"^roster: 'aaa.* for red: is no name that can be used; write"):
        sender_named("red", "hw1.zip", roster=Roster(students=students))


def test_a_roster_with_a_name_that_cannot_be_used_is_a_mistake_of_the_course():
    with pytest.raises(CourseError) as caught:
        sender_of(
            "doejane_12345_67890_hw1.zip",
            roster=Roster(students=(Student(student="../x", canvas_id="12345"),)),
        )
    assert caught.value.problems == (
        f"roster: '../x' for id 12345: is no name that can be used; write {ALLOWED}",
    )


@pytest.mark.parametrize(
    "name",
    [
        *("hw1 (2).zip", "é.zip", ".zip", "..", "-rf.zip", ".x.tar", "a\n.zip", "a" * 65),
        *("alice+.zip", "alice+alice.zip", "+", "+".join(["a" * 64, "b" * 64, "c" * 64, "d" * 64])),
        "Группа_assignsubmission_file",
    ],
)
def test_a_name_that_does_not_say_asks_for_student(name):
    with pytest.raises(UsageError) as caught:
        sender_of(name)
    (line,) = caught.value.problems
    assert line.endswith(
        ": its name does not say who handed it in; rename it, or grade it by itself with "
        f"--student NAME ({ALLOWED})"
    )
    assert "\n" not in line


@pytest.mark.parametrize("student", ["a/b", "..", "", "a b", "../x", "-x", "a\n", "a+a", "a+../b", "+a"])
def test_a_student_that_is_no_safe_folder_is_refused(student):
    with pytest.raises(UsageError) as caught:
        sender_named(student, "alice.zip")
    assert caught.value.problems[0].endswith(f": is no name that can be used; give {ALLOWED}")
    assert "\n" not in caught.value.problems[0]


def test_whoever_is_said_is_taken_whatever_the_name_says():
    name = "doejane_12345_67890_hw1.zip"
    assert sender_named("team_7", name) == Sender(student="team_7", file=name)
    assert sender_named("b+a", name).members == ("a", "b")
