"""`grader post NAME --rehearse`: everything but the platform is real, and nothing is left of it."""

from __future__ import annotations

import json

import pytest

WRONG = "def double(x): return x + 1\ndef square(x): return x * x"
KEYS = {
    "canvas": "canvas: {url: 'http://127.0.0.1:9', course: 1, assignments: {tiny: 1}}",
    "moodle": "moodle: {url: 'http://127.0.0.1:9', assignments: {tiny: 1}}",
}


@pytest.fixture
def graded(course, kept):
    """Ann has 3 points and Ben 2; Cy is on the roster alone. There is no token, and no platform."""
    submissions = course.submit("ann"), course.submit("ben", WRONG)
    course.run_once(kept, "run", *submissions, "--gradebook", "gradebook.db")
    course.write("course.yaml", "title: A tiny course\nroster: roster.csv\n")
    course.write("roster.csv", "student,canvas id,email\nann,42,ann@uni.edu\nben,,\ncy,,\n")
    return course


def rehearse(course, platform, *arguments):
    book = course.cwd / "gradebook.db"
    before = book.read_bytes()
    done = course.run("post", platform, "tiny", "--rehearse", *arguments)
    assert book.read_bytes() == before
    assert not list(course.tmp.iterdir())
    return done


@pytest.mark.parametrize(("platform", "title"), [("canvas", "Canvas"), ("moodle", "Moodle")])
def test_the_plan_is_sent_and_what_arrives_is_shown(graded, platform, title):
    done = rehearse(graded, platform)
    assert (done.returncode, done.stderr) == (
        0,
        f"grader: a stand-in plays {title} on this machine: nothing leaves it, and the gradebook stays as it "
        "is\n",
    )
    plan, arrived, again = done.stdout.replace("Planned once more:", "Arrived:").split("Arrived:\n")
    assert plan.splitlines()[-1] == "sent: 2 there"
    assert plan.startswith(f"Rehearsal ({platform} 127.0.0.1:")
    assert [line.split(", comment:")[0] for line in arrived.splitlines()] == [
        "  ann: 3 points",
        "  ben: 2 points",
    ]
    assert all("comment: " in line for line in arrived.splitlines())
    assert again.splitlines()[-1] == "nothing is to be sent"
    assert "cy" in plan


@pytest.mark.parametrize("platform", KEYS)
def test_a_course_on_a_platform_is_rehearsed_without_it(graded, platform):
    graded.write("course.yaml", f"title: A tiny course\n{KEYS[platform]}\n")
    done = rehearse(graded, platform, "--no-comment")
    assert done.returncode == 0
    assert "  ann: 3 points\n  ben: 2 points\n" in done.stdout


@pytest.mark.parametrize("platform", KEYS)
def test_where_every_grade_is_held_back_none_is_said_to_be_there(course, platform):
    course.rubric({"id": "style", "title": "Style", "points": 3, "check": "manual", "asks": "Readable?"})
    course.run("run", course.submit("ann"), course.submit("ben"), "--gradebook", "gradebook.db")
    done = rehearse(course, platform)
    assert done.returncode == 0
    assert "as planned: 2 held back\nsent: nothing; 2 grades not there\nArrived: nothing\n" in done.stdout


def test_pages_go_to_the_stand_in_too(graded):
    done = rehearse(graded, "canvas", "--results", str(graded.out))
    assert done.returncode == 0
    assert "sent: 2 there" in done.stdout


def test_programs_get_a_line_for_each_student_that_something_arrived_for(graded):
    done = rehearse(graded, "canvas", "--json", "--no-comment")
    documents = [json.loads(line) for line in done.stdout.splitlines()]
    assert [document for document in documents if "arrived" in document] == [
        {"student": "ann", "arrived": "3 points"},
        {"student": "ben", "arrived": "2 points"},
    ]


def test_what_cannot_be_rehearsed_is_said_in_a_line(graded):
    done = rehearse(graded, "canvas", "--apply")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "grader: --rehearse: sends to a stand-in on this machine; leave out --apply, or --rehearse\n"
    )
    done = graded.run("post", "canvas", "tinny", "--rehearse")
    assert done.returncode == 2
    assert "did you mean tiny? (1 assignment in all)" in done.stderr


def test_a_platform_of_a_plugin_without_a_stand_in_is_named(graded):
    graded.write(
        "assignments/zz/assignment.py",
        """
        from grader.api import hookimpl
        from grader.contracts.platform import Platform, PlatformOptions

        class Ours(Platform):
            name, title, Options = "ours", "Ours", PlatformOptions

            @classmethod
            def connect(cls, options, assignment, token): raise NotImplementedError
            def target(self): raise NotImplementedError
            def grades(self): raise NotImplementedError
            def apply(self, changes): raise NotImplementedError

        @hookimpl
        def grader_platforms():
            return [Ours]
        """,
    )
    done = rehearse(graded, "ours")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "grader: --rehearse: there is no stand-in for Ours; post to a test course\n"
