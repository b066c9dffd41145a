"""What a run remarks on standard error, because a teacher would otherwise hear of it from a student."""

from __future__ import annotations

import pytest


@pytest.fixture
def late_course(course):
    course.write("roster.csv", "student,name\nann,Ann\n")
    text = "title: A tiny course\nroster: roster.csv\nextensions: {anne: {tiny: 3d}}\n"
    course.write("course.yaml", text)
    (item,) = [{"id": "m", "title": "m", "points": 2, "check": "manual"}]
    course.rubric(item, due="2024-01-01T00:00:00+00:00", late={"per_day": "10%"})
    return course


def run(course, moment: str, *archives: str) -> str:
    done = course.run("run", *archives, "--submitted-at", moment)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_an_extension_for_nobody_on_the_roster_is_remarked_on(late_course):
    told = run(late_course, "2024-01-01T12:00:00+00:00", late_course.submit("ann"))
    assert "course.yaml:3:14: extensions.anne: nobody on the roster is called so; did you mean ann?" in told


def test_a_time_of_submission_that_has_not_come_yet_is_remarked_on(late_course):
    archive = late_course.submit("ann")
    assert "later than now" not in run(late_course, "2024-01-01T12:00:00+00:00", archive)
    told = run(late_course, "2999-01-01T12:00:00+00:00", archive)
    assert "1 submission came in later than now, by the times that were given" in told


def test_a_class_has_a_column_of_totals_after_lateness(late_course):
    late_course.rubric(
        {
            "id": "double",
            "title": "double",
            "points": 2,
            "check": "matches_reference",
            "of": "work.double",
            "inputs": "numbers",
        },
        due="2024-01-01T00:00:00+00:00",
        late={"per_day": "10%"},
    )
    archives = [late_course.submit(name, "def double(x): return 2 * x") for name in "abcdef"]
    done = late_course.run("run", *archives, "--submitted-at", "2024-01-01T12:00:00+00:00")
    lines = (line for line in done.stdout.splitlines() if "late" in line)
    assert sorted(line.split()[1:] for line in lines) == [
        [name, "2", "/", "2", "1.8", "after", "lateness"] for name in "abcdef"
    ]


def test_the_reference_of_an_assignment_is_no_student_and_never_late(late_course):
    late_course.write("course.yaml", "title: A tiny course\nroster: roster.csv\n")
    reference = late_course.folder / "assignments" / "tiny" / "reference"
    done = late_course.run("run", str(reference), "--student", "reference")
    assert (done.returncode, done.stderr) == (0, "")
    done = late_course.run("run", late_course.submit("stranger"))
    assert "stranger is not on the roster" in done.stderr
    assert "has a late rule, which takes nothing off" in done.stderr


def test_students_who_are_no_team_of_the_roster_are_told(late_course):
    late_course.write("course.yaml", "title: A tiny course\nroster: roster.csv\n")
    late_course.write("roster.csv", "student,team\nann,\nben,red\ncem,red\n")
    told = late_course.run("run", late_course.submit("ann+ben")).stderr
    assert "ann+ben.tar.gz: is graded as of ann+ben, and by the roster (" in told
    assert ") ben is in team red, with cem; if the name is a slip, correct it and grade again\n" in told
    assert "by the roster" not in late_course.run("run", late_course.submit("ben+cem")).stderr
    assert "by the roster" not in late_course.run("run", late_course.submit("ann")).stderr


def test_a_pair_of_which_nobody_is_in_a_team_is_told_where_others_are(late_course):
    late_course.write("course.yaml", "title: A tiny course\nroster: roster.csv\n")
    late_course.write("roster.csv", "student,team\nann,\nben,\ncem,red\ndan,red\n")
    archive = late_course.submit("ann")
    told = late_course.run("run", archive, "--student", "ann+ben").stderr
    assert "ann.tar.gz: is graded as of ann+ben, and by the roster (" in told
    advice = "if the name is a slip, correct it and grade again; otherwise give them a team there\n"
    assert f") ann and ben are in no team; {advice}" in told
    told = late_course.run("run", archive, "--student", "ann+eva").stderr
    assert "eva is not on the roster" in told
    assert "in no team" not in told
    late_course.write("roster.csv", "student,team\nann,\nben,\n")
    assert "no team" not in late_course.run("run", archive, "--student", "ann+ben").stderr


@pytest.mark.parametrize("place", ["results", "gradebook"])
def test_a_time_that_replaces_another_for_a_class_is_remarked_on(late_course, place):
    archives = [late_course.submit(name) for name in ("ann", "ben")]
    gradebook = ["--gradebook", str(late_course.cwd / "g.db")] if place == "gradebook" else []
    told = run(late_course, "2023-12-31T12:00:00+00:00", archives[0], *gradebook)
    assert "another time" not in told
    if gradebook:
        late_course.out = late_course.cwd / "other_results"
    line = (
        "grader: 1 submission got another time than was known before; are the times meant for all? "
        "ann 2023-12-31 12:00 UTC -> 2024-01-01 12:00 UTC\n"
    )
    assert line in run(late_course, "2024-01-01T12:00:00+00:00", *archives, *gradebook)
    assert "another time" not in run(late_course, "2024-01-01T12:00:00+00:00", *archives, *gradebook)
