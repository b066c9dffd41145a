"""`grader post canvas` through the installed command, against a Canvas on loopback."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from pathlib import Path

import pytest

from grader.lms.loopback import canvas as loopback

ANN, BEN, CY = 101, 102, 103
WRONG = "def double(x): return x + 1\ndef square(x): return x * x"


@pytest.fixture
def canvas():
    """Three students, ann, ben and cy; the assignment is worth as much as `tiny`."""
    with loopback.LoopbackCanvas(students=0) as running:
        for number, login in ((ANN, "ann"), (BEN, "ben"), (CY, "cy")):
            running.enroll(number, login)
        running.assignment["points_possible"] = 3.0
        yield running
    assert running.violations == []


@pytest.fixture
def marked(course, canvas, kept):
    """Marks of ann (3) and ben (2) in a gradebook, and the course on Canvas."""
    numbers = f"course: {loopback.COURSE}, assignments: {{tiny: {loopback.ASSIGNMENT}}}"
    course.write("course.yaml", f"title: x\ncanvas: {{url: '{canvas.url}', {numbers}}}\n")
    course.environment["CANVAS_TOKEN"] = loopback.TOKEN
    submissions = course.submit("ann"), course.submit("ben", WRONG)
    course.run_once(kept, "run", *submissions, "--gradebook", "gradebook.db")
    return course


def post(course, *arguments, code=0, **environment):
    done = course.run("post", "canvas", "tiny", *arguments, **environment)
    assert loopback.TOKEN not in done.stdout + done.stderr
    assert done.returncode == code, done.stdout + done.stderr
    return done


def posts(course):
    """Outcomes that the gradebook has noted, by student, in their order."""
    done = {}
    for who in ("ann", "ben"):
        told = json.loads(course.run("history", who, "--json").stdout)
        done[who] = [event["details"]["outcome"] for event in told if event["what"] == "post"]
    return done


def test_a_plan_is_a_table_and_changes_nothing(marked, canvas):
    canvas.grade(BEN, 1.0)
    done = post(marked)
    assert done.stdout.splitlines() == [
        f"HW1 (canvas 127.0.0.1:{canvas.port} 1234 4242), 3 points",
        "student            now  new",
        "ann                  -    3  new",
        "ben                  1    2  somebody else's grade is there; --overwrite replaces it",
        "cy, Student (103)    -    -  is there and has no grade",
        "planned: 1 unchanged, 1 without a grade, 1 written",
        "1 would be sent; --apply sends them",
    ]
    assert {method for method, _ in canvas.requests} == {"GET"}
    assert posts(marked) == {"ann": [], "ben": []}


def test_what_is_applied_is_there_once_and_noted(marked, canvas):
    done = post(marked, "--apply", "--results", str(marked.out))
    assert done.stdout.splitlines()[-1] == "sent: 2 there"
    assert canvas.scores() == {ANN: 3.0, BEN: 2.0, CY: None}
    (comment,) = [one for one in canvas.comments if one["user"] == BEN]
    page = (marked.results("ben") / "feedback" / "report.html").read_bytes()
    assert comment["files"] == (("report.html", page),)
    assert posts(marked) == {"ann": ["sending", "there"], "ben": ["sending", "there"]}
    again = post(marked, "--apply", "--results", str(marked.out))
    assert again.stdout.splitlines()[-1] == "sent: nothing, all of it is there"
    assert len(canvas.comments) == 2


@pytest.mark.slow
def test_killed_at_any_request_the_next_run_completes_it_without_doubling(marked, canvas):
    place, killed = 0, True
    while killed:
        killed = False
        canvas.comments.clear()
        canvas.graded.clear()
        canvas.requests.clear()
        for number in (ANN, BEN):
            canvas.records[number] |= {"entered_score": None, "grader_id": None}
        (marked.cwd / "gradebook.db").unlink()
        assert marked.run("record", str(marked.out), "--gradebook", "gradebook.db").returncode == 0
        with marked.start("post", "canvas", "tiny", "--apply") as process:

            def kill(_):
                nonlocal killed
                if len(canvas.requests) == place + 1:  # noqa: B023 - asked before the next round
                    killed = True
                    os.kill(process.pid, signal.SIGKILL)
                    return "drop_after"
                return None

            canvas.chooser = kill
            process.communicate()
        canvas.chooser = lambda _: None
        post(marked, "--apply")
        assert canvas.scores() == {ANN: 3.0, BEN: 2.0, CY: None}
        assert sorted(one["user"] for one in canvas.comments) == [ANN, BEN]
        place += 1
    assert place > 5


def test_a_mark_that_the_late_rule_could_not_be_applied_to_waits_for_its_time(marked, canvas):
    keys = json.loads((marked.folder / "rubrics/tiny.yaml").read_text())
    keys |= {"due": "2024-12-23T12:00:00+02:00", "late": {"per_day": "50%"}}
    marked.write("rubrics/tiny.yaml", json.dumps(keys))
    times = marked.cwd / "times.csv"
    times.write_text("student,submitted at\nann,2024-12-23 11:00+02:00\n")
    grading = ("run", marked.submit("ann"), marked.submit("ben", WRONG), "--gradebook", "gradebook.db")
    assert marked.run(*grading, "--times", str(times)).returncode == 0
    done = post(marked, "--apply")
    (held_back,) = [line for line in done.stdout.splitlines() if line.startswith("ben ")]
    assert held_back.split(maxsplit=3)[1:] == [
        "-",
        "2",
        "has no time of submission, and the rubric a late rule: grade again with --times, "
        "or --include-untimed takes nothing off",
    ]
    assert canvas.scores() == {ANN: 3.0, BEN: None, CY: None}
    assert "1 held back" in done.stdout
    post(marked, "--apply", "--include-provisional", "--overwrite")
    assert canvas.scores()[BEN] is None
    post(marked, "--apply", "--include-untimed")
    assert canvas.scores()[BEN] == 2.0
    times.write_text("student,submitted at\nben,2024-12-23 13:00+02:00\n")
    assert marked.run(*grading, "--times", str(times)).returncode == 0
    post(marked, "--apply", "--lower")
    assert canvas.scores()[BEN] == 1.0
    assert canvas.comments_of(BEN)[-1].startswith("1 of 3 points. Handed in 1 hour late: 50 % off.")


def test_what_cannot_be_is_a_line_and_nothing_is_sent(marked, canvas):
    def said(code, *arguments, **environment):
        (line,) = post(marked, *arguments, code=code, **environment).stderr.splitlines()
        return line.removeprefix("grader: ")

    assert said(2, CANVAS_TOKEN="").startswith("CANVAS_TOKEN: is not set; ")
    assert said(2, "--token-file", "none").startswith("--token-file none: cannot be read (No such file")
    assert said(2, CANVAS_TOKEN="7~wrong").endswith(
        "does not accept the token; make a new one in your settings there"
    )
    assert said(2, "--gradebook", "none.db").startswith("none.db: there is no gradebook")
    canvas.assignment["points_possible"] = 30.0
    assert said(2, "--apply") == (
        "HW1: the maximum is 30 there, and 3 in the rubric; make them alike, or convert with --scale"
    )
    canvas.assignment["published"] = False
    assert said(2, "--apply") == "HW1: is not published in Canvas; publish it first"
    whole = (marked.folder / "course.yaml").read_text()
    marked.write("course.yaml", whole.replace("tiny:", "other:"))
    assert said(4) == "course.yaml: canvas.assignments: has no tiny; there are other"
    marked.write("course.yaml", "title: x\n")
    assert said(4) == "course.yaml: canvas: missing; give url, assignments and course there"
    assert {method for method, _ in canvas.requests} == {"GET"}


def test_a_token_may_be_in_a_file_and_programs_read_json(marked, canvas):
    (marked.cwd / "token").write_text(f"{loopback.TOKEN}\n")
    canvas.assignment["points_possible"] = 30.0
    arguments = ("--token-file", "token", "--scale", "--no-comment", "--json")
    *lines, sums = map(json.loads, post(marked, *arguments, CANVAS_TOKEN="").stdout.splitlines())
    change = {"id": "101", "points": 30.0, "comment": "", "page": None, "rubric": {}}
    assert lines[0] == {
        "student": "ann",
        "outcome": "written",
        "now": "",
        "new": "30",
        "note": "",
        "change": change,
    }
    assert sums == {"outcomes": {"written": 2, "without a grade": 1}, "changes": 2, "answers": None}
    *_, sums = map(json.loads, post(marked, *arguments, "--apply", CANVAS_TOKEN="").stdout.splitlines())
    assert sums["answers"] == {"there": 2}
    assert canvas.scores() == {ANN: 30.0, BEN: 20.0, CY: None}
    assert canvas.comments == []


def test_who_is_refused_is_named_and_the_exit_code_says_so(marked, canvas):
    def leaves(request):
        if request.command == "PUT":
            canvas.records.pop(BEN, None)

    canvas.chooser = leaves
    done = post(marked, "--apply", code=5)
    assert done.stderr.splitlines() == ["ben: refused: user not authorized to perform that action"]
    assert done.stdout.splitlines()[-1] == "sent: 1 refused, 1 there"
    assert posts(marked) == {"ann": ["sending", "there"], "ben": ["sending", "refused"]}


def test_a_page_of_another_rubric_is_not_attached_though_the_points_are_the_same(marked, canvas):
    """The page has titles, maxima and the late rule of its own rubric."""
    rubric = marked.folder / "rubrics" / "tiny.yaml"
    text = rubric.read_text()
    rubric.write_text(text.replace('"title": "double doubles"', '"title": "double doubles a number"'))
    assert marked.run("rescore", "tiny", "--gradebook", "gradebook.db", "--apply").returncode == 0
    done = post(marked, "--apply", "--results", str(marked.out))
    assert done.stdout.count("is not of this grade; grader run writes it anew") == 2
    assert canvas.comments == []


def test_of_a_page_of_an_older_submission_the_newer_one_is_named(marked, canvas):
    """A run of the older one writes its page, and its grade is refused, as often as it is repeated."""
    evidence = marked.results("ann") / "evidence.jsonl"
    old = re.sub('"started_at":"[0-9]{4}', '"started_at":"2001', evidence.read_text())
    right = Path(marked.submit("ann"))
    again = shutil.copy(right, right.with_name("again.tar.gz"))
    wrong = marked.submit("ann", WRONG)
    assert marked.run("run", wrong, "--gradebook", "gradebook.db").returncode == 0
    evidence.write_text(old)
    run = "run", str(again), "--student", "ann", "--gradebook", "gradebook.db"
    assert marked.run(*run).returncode == 5
    line = "is of an older submission than the grade; run the newer one again (ann.tar.gz)"
    assert line in post(marked, "--results", str(marked.out)).stdout
    assert marked.run("run", wrong, "--gradebook", "gradebook.db").returncode == 0
    assert "no comment yet" not in post(marked, "--results", str(marked.out)).stdout


def test_a_page_that_is_not_there_is_told_so(marked, canvas):
    """Old results were removed, as `rm -r results/tiny` does, or another folder is named."""
    shutil.rmtree(marked.results("ann"))
    (marked.results("ben") / "feedback" / "report.html").unlink()
    done = post(marked, "--apply", "--results", str(marked.out))
    assert done.stdout.count("report.html is not there; grader run writes it anew") == 2
    assert canvas.comments == []


def test_a_page_of_another_mark_is_not_attached_and_points_of_items_go_to_criteria(marked, canvas):
    canvas.assignment["rubric"] = [{"id": "_c1", "points": 1}, {"id": "_c2", "points": 2}]
    whole = (marked.folder / "course.yaml").read_text()
    marked.write(
        "course.yaml", whole.replace("4242}}", "4242}, rubrics: {tiny: {double: _c1, square: _c2}}}")
    )
    score = marked.results("ben") / "score.json"
    score.write_text(score.read_text().replace('"ben": 2', '"ben": 1'))
    done = post(marked, "--apply", "--results", str(marked.out))
    assert "no comment yet: " in done.stdout
    assert [one["user"] for one in canvas.comments] == [ANN]
    assert canvas.records[BEN]["rubric_assessment"] == {"_c1": {"points": 0.0}, "_c2": {"points": 2.0}}
    marked.write("course.yaml", whole.replace("4242}}", "4242}, rubrics: {tiny: {double: _c9}}}"))
    assert "canvas.rubrics.tiny.double: no criterion there is called _c9; there are _c1" in (
        post(marked, code=4).stderr
    )
    marked.write("course.yaml", whole.replace("4242}}", "4242}, rubrics: {tiny: {doble: _c1}}}"))
    assert "canvas.rubrics.tiny.doble: the rubric has no such item; there are double, square" in (
        post(marked, code=4).stderr
    )
