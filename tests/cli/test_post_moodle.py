"""`grader post moodle` through the installed command, against a Moodle on loopback."""

from __future__ import annotations

import json

import pytest

from grader.lms.loopback import moodle as loopback

ANN, BEN, CY = 101, 102, 103
WRONG = "def double(x): return x + 1\ndef square(x): return x * x"
SAVE = "mod_assign_save_grade"


@pytest.fixture
def moodle():
    """Three students, ann, ben and cy; the assignment is worth as much as `tiny`."""
    with loopback.LoopbackMoodle(students=0) as running:
        for number, login in ((ANN, "ann"), (BEN, "ben"), (CY, "cy")):
            running.enroll(number, login)
        running.assignment["grade"] = 3
        yield running
    assert running.violations == []


@pytest.fixture
def marked(course, moodle, kept):
    """Marks of ann (3) and ben (2) in a gradebook, and the course in Moodle."""
    keys = f"url: '{moodle.url}', assignments: {{tiny: {loopback.MODULE}}}"
    course.write("course.yaml", f"title: x\nmoodle: {{{keys}}}\n")
    course.environment["MOODLE_TOKEN"] = loopback.TOKEN
    submissions = course.submit("ann"), course.submit("ben", WRONG)
    course.run_once(kept, "run", *submissions, "--gradebook", "gradebook.db")
    return course


def post(course, *arguments, code=0, **environment):
    done = course.run("post", "moodle", "tiny", *arguments, **environment)
    assert loopback.TOKEN not in done.stdout + done.stderr
    assert done.returncode == code, done.stdout + done.stderr
    return done


def noted(course, who):
    told = json.loads(course.run("history", who, "--json").stdout)
    return [event["details"]["outcome"] for event in told if event["what"] == "post"]


def test_a_plan_then_apply_then_nothing_is_left(marked, moodle):
    moodle.comments[BEN] = "<p>Good work</p>"
    done = post(marked)
    assert done.stdout.splitlines()[-1] == "2 would be sent; --apply sends them"
    assert moodle.count(SAVE) == 0
    done = post(marked, "--apply")
    assert done.stdout.splitlines()[-1] == "sent: 2 there"
    assert moodle.scores() == {ANN: 3.0, BEN: 2.0}
    assert moodle.comments[BEN].startswith("<p>Good work</p>\n<p>2 of 3 points. [grader 1.")
    assert (noted(marked, "ann")[-1], noted(marked, "ben")[-1]) == ("there", "there")
    assert post(marked, "--apply").stdout.splitlines()[-1] == "sent: nothing, all of it is there"
    assert moodle.count(SAVE) == 2


def test_a_grade_that_is_locked_there_is_told_and_ends_with_its_code(marked, moodle):
    moodle.locked = {BEN}
    done = post(marked, "--apply", code=5)
    assert "ben: refused: Moodle accepted it and did not save it" in done.stderr
    assert moodle.scores() == {ANN: 3.0}
    assert noted(marked, "ben")[-1] == "refused"


def test_where_comments_are_off_none_is_planned(marked, moodle):
    moodle.comments_enabled = "0"
    assert "feedback comments are off there: grades go without" in post(marked, "--apply").stderr
    assert post(marked).stdout.splitlines()[-1] == "nothing is to be sent"


def test_an_answer_that_got_lost_is_found_at_the_next_run(marked, moodle):
    script = ["drop_after", "drop_before"]

    def choose(request):
        return script.pop(0) if script and SAVE.encode() in request.body else None

    moodle.chooser = choose
    post(marked, "--apply")
    assert moodle.scores() == {ANN: 3.0, BEN: 2.0}
    assert [number for number, _ in moodle.saved] == [ANN, BEN]


@pytest.mark.parametrize(
    ("yaml", "code", "said"),
    [
        ("", 4, "course.yaml: moodle: missing; give url and assignments there"),
        ("moodle: {{url: '{url}', assignments: {{other: 1}}}}", 4, "has no tiny; there are other"),
        (
            "moodle: {{url: 'http://lms.example.edu', assignments: {{tiny: 1}}}}",
            4,
            "must begin with https://",
        ),
        (
            "moodle: {{url: '{url}', assignments: {{tiny: 0}}}}",
            4,
            "assignments.tiny: must be a whole number > 0",
        ),
        ("moodle: {{url: '{url}', assignments: {{tiny: 17}}}}", 2, "is it 4242, HW1?"),
    ],
)
def test_what_the_course_says_wrong_is_one_line(marked, moodle, yaml, code, said):
    marked.write("course.yaml", "title: x\n" + yaml.format(url=moodle.url) + "\n")
    (line,) = post(marked, "--apply", code=code).stderr.splitlines()
    assert said in line
    assert moodle.count(SAVE) == 0


def test_a_token_comes_from_a_file_or_the_environment_and_is_asked_for(marked, moodle, tmp_path):
    (line,) = post(marked, code=2, MOODLE_TOKEN="").stderr.splitlines()
    assert "MOODLE_TOKEN: is not set" in line
    file = tmp_path / "token"
    file.write_text(loopback.TOKEN + "\n")
    post(marked, "--token-file", str(file), MOODLE_TOKEN="")
    (line,) = post(marked, code=2, MOODLE_TOKEN="f" * 32).stderr.splitlines()
    assert "does not accept the token" in line
