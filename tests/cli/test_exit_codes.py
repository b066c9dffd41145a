"""Every exit code, and what leads to it; `test_installed` has each once in a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from grader.errors import ExitCode
from tests.cli.conftest import DOUBLE, SQUARE

WRONG = "def double(x): return x + 1\ndef square(x): return x"


def lines_of(done):
    """The error output; a traceback is for our bugs alone."""
    assert "Traceback" not in done.stderr
    return done.stderr.splitlines()


def test_0_if_everything_was_graded_and_a_zero_is_a_grade(course):
    done = course.run("run", course.submit(code=WRONG))
    assert (done.returncode, done.stderr) == (0, "")
    assert course.points() == {"double": 0, "square": 0}
    reports = "(score.json, junit.xml, report.html; for the student: feedback/)"
    assert done.stdout.splitlines()[-1] == f"    Reports: {course.results()}/ {reports}"


def test_0_if_points_are_open_but_5_if_they_must_not_be(course):
    archive = course.submit()
    done = course.run("run", archive, "--item", "double")
    assert (done.returncode, "not observed yet" in done.stdout) == (0, False)
    assert "    Shown: 1 of 2 items, as --item names them." in done.stdout.splitlines()
    assert course.run("run", archive, "--item", "double", "--require-final").returncode == 5
    assert course.run("run", archive, "--require-final").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run"], "ARCHIVES"),
        (["run", "{archive}", "--itme", "x"], "--itme"),
        (
            ["run", "{archive}", "--item", "nothing.*"],
            "--item nothing.*: matches no item; there are double, square",
        ),
        (["run", "{archive}", "--rubric", "nowhere"], "--rubric nowhere"),
        (["run", "{archive}", "--assignment", "hw9"], "--assignment hw9"),
        (["run", "{archive}", "{archive}", "--student", "x"], "--student"),
        (["run", "/nowhere/at/all.tar.gz"], "/nowhere/at/all.tar.gz"),
        (["--course", "/nowhere", "run", "{archive}"], "/nowhere"),
        (["no_such_command"], "no_such_command"),
    ],
    ids=" ".join,
)
def test_2_if_the_command_was_used_wrongly(course, arguments, said):
    archive = course.submit()
    done = course.run(*(argument.format(archive=archive) for argument in arguments))
    assert done.returncode == 2
    assert said in lines_of(done)[-1]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["run", "x", "--jobs", "0"], "--jobs: 0 is not in the range x>=1; see grader run --help"),
        (
            ["review", "--port", "99999"],
            "--port: 99999 is not in the range 0<=x<=65535; see grader review --help",
        ),
        (["run"], "missing argument 'ARCHIVES...'; see grader run --help"),
        (["review", "--port"], "option '--port' requires an argument"),
        (["rubric", "check", "tinny"], "tinny: there is no such name or file; did you mean tiny?"),
        (["rubric", "check", "no/such.yaml"], "no/such.yaml: there is no such name or file; there are tiny"),
        (["run", "--fresj"], "no such option '--fresj'; did you mean --fresh?"),
        (
            ["new", "hw2", "--course", "w c"],
            "--course stands before the command: write grader --course 'w c' new hw2",
        ),
        (
            ["rubric", "check", "--course=wc"],
            "--course stands before the command: write grader --course=wc rubric check",
        ),
        (["new", "--version", "hw"], "--version stands before the command: write grader --version new hw"),
        (
            ["run", *"abcdefgh", "--course", "wc"],
            "--course stands before the command: write grader --course wc run a b c d e f …",
        ),
        (
            ["new", "hw2", "--course"],
            "--course stands before the command: write grader --course COURSE new hw2",
        ),
        (["no_such_command"], "no such command 'no_such_command'; see grader --help"),
        (["rnu", "x"], "no such command 'rnu'; did you mean run?"),
        (["Verify"], "no such command 'Verify'; did you mean verify?"),
        (["course", "chek"], "no such command 'chek'; did you mean check?"),
        (["export", "canvsa", "tiny"], "no such command 'canvsa'; did you mean canvas?"),
        (["export", "cvs", "tiny"], "no such command 'cvs'; did you mean csv?"),
        (["post", "canva", "tiny"], "no such command 'canva'; did you mean canvas?"),
        (["post", "blackboard", "tiny"], "no such command 'blackboard'; see grader post --help"),
        (
            ["export", "csv", "a", "b", "c"],
            "got unexpected extra arguments (b c); see grader export csv --help",
        ),
        (
            ["export", "csv", "a", "b.csv"],
            "got unexpected extra argument (b.csv); if b.csv is the file to write, name it by --out",
        ),
        (
            ["report", "b.html"],
            "got unexpected extra argument (b.html); if b.html is the file to write, name it by --out",
        ),
        (
            ["report", "hw2"],
            "got unexpected extra argument (hw2); if hw2 is an assignment, name it by --assignment; "
            "if hw2 is the file to write, name it by --out",
        ),
        (
            ["report", "--assignment", "hw1", "hw2"],
            "got unexpected extra argument (hw2); if hw2 is the file to write, name it by --out",
        ),
        (
            ["show", "ann", "hw2"],
            "got unexpected extra argument (hw2); if hw2 is an assignment, name it by --assignment",
        ),
        (
            ["history", "ann", "hw2"],
            "got unexpected extra argument (hw2); if hw2 is an assignment, name it by --assignment",
        ),
        (
            ["plugins", "hw2"],
            "got unexpected extra argument (hw2); grader plugins takes options alone; leave it out",
        ),
        (
            ["export", "csv", "a", "b", "--out", "c.csv"],
            "got unexpected extra argument (b); see grader export csv --help",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_2_and_one_line_for_an_option_that_cannot_be(course, arguments, line):
    done = course.run(*arguments)
    (told,) = lines_of(done)
    assert (done.returncode, told[: len(line) + 8]) == (2, f"grader: {line}")


def test_2_and_a_rubric_behind_manual_export_is_told_its_option(course):
    evidence = course.cwd / "results" / "tiny" / "ann" / "evidence.jsonl"
    evidence.parent.mkdir(parents=True)
    evidence.write_text("")
    done = course.run("manual", "export", "hw2", "--out", "points.csv")
    (told,) = lines_of(done)
    line = "grader: got unexpected extra argument (hw2); if hw2 is a rubric, name it by --rubric"
    assert (done.returncode, told[: len(line)]) == (2, line)


def test_4_if_a_limit_fits_no_program_whatever_the_command(course):
    """As a number in another unit: everybody would lose by it, or nobody be bounded."""
    file = course.folder / "assignments/tiny/assignment.py"
    course.write("assignments/tiny/assignment.py", file.read_text().replace("60.0", "0.001"))
    line = "limits: call_wall_s: 0.001 is too little for any program (the bound is 0.05); mind the unit"
    for command in (("course", "check"), ("run", course.submit())):
        done = course.run(*command)
        assert (done.returncode, line in lines_of(done)[-1]) == (4, True)


@pytest.mark.quick(1)
@pytest.mark.parametrize("wrong", [("--item", "nothing.*"), ("--min-isolation", "a_moat")])
def test_what_cannot_be_asked_for_leaves_the_results_as_they_are(course, wrong):
    assert course.run("run", course.submit(), *wrong).returncode == 2
    assert not course.out.exists()
    assert course.run("run", course.submit()).returncode == 0

    def held():
        return {path: path.read_bytes() for path in course.out.rglob("*") if path.is_file()}

    before = held()
    assert course.run("run", course.submit(code=WRONG), *wrong).returncode == 2
    assert held() == before


def test_2_if_there_is_no_course_and_the_line_says_how_to_name_one(course):
    done = course.run("run", course.submit(), GRADER_COURSE="")
    assert done.returncode == 2
    (line,) = lines_of(done)
    assert "--course" in line
    assert "GRADER_COURSE" in line


def test_an_item_may_be_named_like_a_message_of_a_worker(course):
    item = {"title": "d", "points": 1, "check": "matches_reference", "of": "work.double", "inputs": "numbers"}
    names = "done", "waits", "grants", "waiting"
    course.rubric(*(item | {"id": name} for name in names))
    done = course.run("run", course.submit())
    assert (done.returncode, done.stderr) == (0, "")
    assert course.points() == dict.fromkeys(names, 1)


def test_4_with_a_traceback_if_a_courses_check_kind_breaks_and_the_other_items_are_observed_still(course):
    double = {"id": "double", "title": "d", "points": 1, "check": "matches_reference"}
    double |= {"of": "work.double", "inputs": "numbers"}
    course.rubric({"id": "broken", "title": "b", "points": 1, "check": "breaks"}, double)
    done = course.run("run", course.submit())
    assert done.returncode == 4
    assert course.points() == {"broken": 0, "double": 1}
    broken, fine = (r["observation"] for r in course.records() if r["record"] == "observation")
    assert (broken["outcome"], broken["fault"]) == ("not_observed", "course")
    assert "checks.py:" in broken["note"]
    assert "check kind breaks: ZeroDivisionError: nobody thought of this" in broken["note"]
    assert fine["outcome"] == "observed"
    assert "Traceback" in (course.results() / "worker.log").read_text()


def test_4_if_an_oracle_returns_nothing_and_no_word_on_the_reference(course):
    course.write("assignments/tiny/expected.py", "def double(x):\n    x + x\n")
    course.rubric(DOUBLE)
    done = course.run("run", course.submit())
    assert done.returncode == 4
    (seen,) = (r["observation"] for r in course.records() if r["record"] == "observation")
    said = "tiny/expected.py:1: double: returns None for case 'a number'; is a return missing?"
    assert (seen["outcome"], seen["fault"]) == ("not_observed", "course")
    assert said in seen["note"]


BROKEN = """
from grader.checks.matches_reference import MatchesReference

def award(self, options, observation, related):
    return 1 / 0

MatchesReference.award = award
"""
"""Imported by Python itself as it starts: a grader whose own kind cannot judge."""


def test_3_if_judging_breaks_and_the_other_archives_are_graded_still(course):
    course.write("broken/sitecustomize.py", BROKEN)
    archives = course.submit("ann"), course.submit("ben")
    done = course.run("run", *archives, PYTHONPATH=str(course.folder / "broken"))
    assert done.returncode == 3
    assert "this is a bug of ours" in done.stderr
    assert course.observed("ann") == course.observed("ben") == ["double", "square"]


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ('reason="it was looked at"', "reason=1 / 0", "22: award: ZeroDivisionError: division by zero"),
        (
            "fraction=1.0",
            "fraction=2.0",
            "21: check kind kills_once: award: must return a fraction from 0 to 1, got 2.0 for item w",
        ),
        (
            "Award(fraction=1.0",
            "dict(fraction=1.0",
            "21: check kind kills_once: award: must return an Award, got {",
        ),
    ],
    ids=["raises", "too much", "no award"],
)
def test_4_if_judging_by_a_kind_of_the_course_breaks_and_the_other_archives_are_graded_still(
    course, right, wrong, said
):
    checks = course.folder / "assignments/tiny/checks.py"
    assert right in checks.read_text()
    checks.write_text(checks.read_text().replace(right, wrong))
    course.rubric({"id": "w", "title": "w", "points": 1, "check": "kills_once", "path": "/nowhere"})
    done = course.run("run", course.submit("ann"), course.submit("ben"))
    assert done.returncode == 4
    assert done.stderr.count(f"tiny/checks.py:{said}") == 1, "once, not for each archive"
    assert course.observed("ann") == course.observed("ben") == ["w"]


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("course.yaml", "titel: x", "course.yaml:1:1: "),
        ("rubrics/tiny.yaml", "schema: 1\nassignment: tiny\npoints: 1\nitems: 7\n", "tiny.yaml:4:1: "),
        ("assignments/tiny/assignment.py", "def f(:\n", "assignment.py"),
        ("assignments/tiny/inputs.py", "def numbers(rng:\n", "inputs.py:1:"),
    ],
    ids=lambda text: text.partition("\n")[0],
)
def test_4_if_a_file_of_the_course_is_wrong_and_nothing_is_written(course, file, text, said):
    course.write(file, text)
    done = course.run("run", course.submit())
    assert done.returncode == 4
    assert said in lines_of(done)[0]
    assert not course.out.exists()


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("file", "text", "where"),
    [
        ("inputs.py", "def numbers(rng):\n    yield 1 / 0\n", "inputs.py:2: numbers: ZeroDivisionError"),
        (
            "inputs.py",
            "import nunpy\ndef numbers(rng): pass\n",
            "inputs.py:1: no module is called nunpy; did you mean numpy?",
        ),
        ("inputs.py", "def numbers(rng):\n    raise SystemExit(0)\n", "inputs.py:2: numbers: SystemExit"),
        ("inputs.py", "def numbers(rng): return []\n", "inputs.py:1: numbers: gives no case"),
        (
            "inputs.py",
            "from grader.api import case\ndef numbers(rng): return case('one', 1)\n",
            "inputs.py:2: numbers: returns a case; write yield case(",
        ),
        (
            "inputs.py",
            "from grader.api import case\ndef numbers(rng): case('no yield', 1)\n",
            "inputs.py:2: numbers: returns None; write yield before case(…)",
        ),
        (
            "expected.py",
            "def double(x):\n    return helper(x)\ndef helper(x):\n    return {}[x]\nsquare = double\n",
            "expected.py:4: double: KeyError",
        ),
        (
            "expected.py",
            "import math\n\ndef double(x, y): return x\nsquare = double\n",
            "expected.py:3: double: cannot take the arguments of a case in inputs.py (missing a required",
        ),
        (
            "inputs.py",
            "from grader.api import case\n\ndef numbers(rng):\n    yield case('b', X=1)\n",
            "inputs.py:4: double(): TypeError: double() got an unexpected keyword argument 'X'",
        ),
    ],
    ids=lambda text: text.splitlines()[-1],
)
def test_4_if_inputs_or_oracles_fail_and_the_item_says_where(course, file, text, where):
    course.cwd = course.folder
    course.write(f"assignments/tiny/{file}", text)
    done = course.run("run", course.submit())
    assert done.returncode == 4
    assert lines_of(done) == []
    seen = next(r["observation"] for r in course.records() if r["record"] == "observation")
    assert (seen["outcome"], seen["fault"]) == ("not_observed", "course")
    assert seen["note"].removeprefix("assignments/tiny/").startswith(where)


def test_4_if_a_file_of_the_course_takes_the_place_of_a_students(course):
    course.cwd = course.folder
    course.write("assignments/tiny/given/work.py", "def double(x): ...\n")
    done = course.run("run", course.submit())
    assert done.returncode == 4
    line = "accepts: given/work.py takes the place of the work.py that students hand in; rename one of them"
    assert lines_of(done) == [f"grader: assignments/tiny/assignment.py:6: {line}"]


def test_4_if_the_limits_let_no_sanitizer_start(course):
    path = course.folder / "assignments/tiny/assignment.py"
    build = "__import__('grader.api').api.Build(command=('make',), products=('a.so',), variable='LIB')"
    path.write_text(path.read_text().replace("accepts=", f"build={build}, accepts="))
    course.write("assignments/tiny/given/Makefile", "a.so:\n\tg++ -fsanitize=address -o $@ a.cpp\n")
    done = course.run("run", course.submit())
    assert done.returncode == 4
    assert "limits: given/Makefile has -fsanitize=address, which reserves terabytes" in lines_of(done)[0]


def test_4_if_an_item_takes_points_from_the_reference_too_and_nobody_loses_them(course):
    loops = {"id": "loops", "title": "l", "points": 1, "check": "source", "file": "work.py"}
    loops |= {"function": "double", "require_decorator": ["numba.njit"], "decides": True}
    ends = {"id": "ends", "title": "e", "points": 1, "check": "script", "file": "work.py", "exit_status": 1}
    course.rubric(loops, ends)
    code = "def double(x): return 2 * x\ndef square(x): return x * x\nprint('secret of the', __file__)\n"
    course.write("assignments/tiny/reference/work.py", code.replace("secret", "secret word"))
    done = course.run("run", course.submit(code=code))
    assert done.returncode == 4
    for record in (r["observation"] for r in course.records() if r["record"] == "observation"):
        assert (record["outcome"], record["fault"]) == ("not_observed", "course")
        assert f"rubric: {record['item']}: the reference loses points as well: " in record["note"]
    student = (course.results() / "feedback/report.html").read_text()
    assert "mistake in the course" in student
    assert "numba" not in student
    assert "secret" not in student
    assert "secret word of the" in (course.results() / "report.html").read_text()
    verified = course.run("verify")
    assert (verified.returncode, verified.stdout.count("loses points as well")) == (4, 2)


ENDLESS = """
from grader.harness.course_functions import CourseFunctions
from grader.machine import time_limit

CourseFunctions.__init__.__kwdefaults__["within_s"] = 0.4  # of the items after this one
time_limit.TELL_S = 0.1
time_limit.COMPILED_TIMES = 2.0

def double(x): return x + x

def square(x):
    while True:
        x += 1
"""


def test_4_if_a_function_of_the_course_does_not_end_and_the_display_says_so(course):
    course.write("assignments/tiny/expected.py", ENDLESS)
    done = course.run("run", course.submit())
    assert done.returncode == 4
    assert re.search(r"grader: ann waits: \S+/tiny/expected\.py:1[23]: square has not ended yet", done.stderr)
    _, seen = (r["observation"] for r in course.records() if r["record"] == "observation")
    assert (seen["outcome"], seen["fault"]) == ("not_observed", "course")
    assert re.search(r"tiny/expected\.py:1[23]: square: has not ended after 0\.4 s; make it", seen["note"])


PATTERN = """
    import re
    return re.match("(x|x)*y", "x" * 40)
"""
COMPILED = """
    from itertools import repeat
    return all(repeat(1))
"""


@pytest.mark.parametrize(
    ("loop", "said"), [(PATTERN, "has not ended after 0.4 s"), (COMPILED, "stays in compiled code")]
)
def test_4_if_a_function_of_the_course_stays_in_compiled_code_and_other_items_are_observed(
    course, loop, said
):
    course.write("assignments/tiny/expected.py", ENDLESS.replace("\n    while True:\n        x += 1", loop))
    course.rubric(DOUBLE, SQUARE, DOUBLE | {"id": "third"})
    done = course.run("run", course.submit())
    assert done.returncode == 4
    first, seen, last = (r["observation"] for r in course.records() if r["record"] == "observation")
    assert (first["outcome"], last["outcome"]) == ("observed", "observed")
    assert (seen["item"], seen["outcome"], seen["fault"]) == ("square", "not_observed", "course")
    assert re.search(rf"tiny/expected\.py:1[123]: square: .*{re.escape(said)}", seen["note"])
    assert all("square has not ended yet" in line for line in lines_of(done))


@pytest.mark.parametrize("status", [0, 3])
def test_4_if_a_function_of_the_course_ends_the_worker_and_other_items_are_observed(course, status):
    ends = f"import os\n\ndef double(x): return x + x\n\ndef square(x): os._exit({status})\n"
    course.write("assignments/tiny/expected.py", ends)
    course.rubric(DOUBLE, SQUARE, DOUBLE | {"id": "third"})
    done = course.run("run", course.submit())
    assert done.returncode == 4, done.stderr
    first, seen, last = (r["observation"] for r in course.records() if r["record"] == "observation")
    assert (first["outcome"], last["outcome"]) == ("observed", "observed")
    assert (seen["item"], seen["outcome"], seen["fault"]) == ("square", "not_observed", "course")
    assert seen["note"] == (
        f"a function of the course ended grader's own process with status {status}, without an exception, "
        "while matches_reference observed; look for os._exit in checks.py, inputs.py and expected.py"
    )


def test_a_mistake_in_what_a_kind_of_the_course_draws_is_told_and_the_page_stands(course):
    checks = course.folder / "assignments/tiny/checks.py"
    show = "    def show(self, options, observation):\n        yield 1 / 0\n\n    def award"
    checks.write_text(checks.read_text().replace("    def award", show))
    course.rubric({"id": "w", "title": "w", "points": 1, "check": "kills_once", "path": "/nowhere"})
    done = course.run("run", course.submit("ben"))
    place = "tiny/checks.py:22: check kind kills_once: show"
    line = f"{place}: cannot draw this: ZeroDivisionError: division by zero"
    assert (done.returncode, done.stderr.count(f"{line}; correct the file")) == (0, 1)
    page = (course.results("ben") / "report.html").read_text()
    assert line in page
    assert "it was looked at" in page
    assert "ZeroDivision" not in (course.results("ben") / "feedback/report.html").read_text()
    verified = course.run("verify")
    assert (verified.returncode, line in verified.stdout) == (4, True)


def test_4_if_the_course_demands_a_layer_that_does_not_exist(course):
    course.write("course.yaml", "title: x\nmin_isolation: bubblewarp\n")
    done = course.run("run", course.submit())
    assert done.returncode == 4
    (line,) = lines_of(done)
    assert "min_isolation" in line
    assert "bubblewarp" in line
    assert "process" in line


def test_5_if_no_sandbox_is_strong_enough_and_no_point_is_lost(course, no_bubblewrap):
    course.write("course.yaml", "title: x\nmin_isolation: bubblewrap\n")
    done = course.run("run", course.submit(), **no_bubblewrap)
    assert (done.returncode, done.stdout) == (5, "")
    (line,) = lines_of(done)
    assert "bubblewrap is not installed" in line
    seen = [r["observation"] for r in course.records() if r["record"] == "observation"]
    assert [(s["outcome"], s["fault"]) for s in seen] == [("not_observed", "machine")] * 2
    assert all("bubblewrap is not installed" in s["note"] for s in seen)
    assert course.records()[0]["run"]["isolation"] == "none"


def test_5_if_somebody_put_something_else_where_the_results_go(course):
    course.out.mkdir()
    (course.out / "tiny").write_text("a file")
    done = course.run("run", course.submit())
    assert done.returncode == 5
    assert len(lines_of(done)) == 1


def test_5_if_the_workspace_cannot_be_replaced(course):
    course.results().mkdir(parents=True)
    (course.results() / "workspace").write_text("a file")
    done = course.run("run", course.submit())
    assert done.returncode == 5
    (line,) = lines_of(done)
    assert "workspace" in line


def test_6_if_the_submission_is_not_accepted_and_nothing_at_all_is_left(course):
    archive = course.submissions_folder / "eve.tar.gz"
    archive.write_bytes(b"no archive")
    done = course.run("run", str(archive))
    assert done.returncode == 6
    assert len(lines_of(done)) == 1
    assert not course.out.exists()


def test_several_archives_end_with_the_worst_and_each_is_graded(course, no_bubblewrap):
    fine, refused = course.submit("ann"), course.submit("eve", name="else.txt")
    assert course.run("run", fine, refused).returncode == 6
    assert course.run("run", refused, fine).returncode == 6

    course.write("course.yaml", "title: x\nmin_isolation: bubblewrap\n")
    done = course.run("run", refused, course.submit("ben"), **no_bubblewrap)
    assert done.returncode == 5

    course.write("course.yaml", "title: x\n")
    course.write("assignments/tiny/inputs.py", "def numbers(rng):\n    yield 1 / 0\n")
    assert course.run("run", refused, course.submit("cem"), **no_bubblewrap).returncode == 4


def test_json_is_alone_on_standard_output(course):
    done = course.run("run", "--json", course.submit("ann"))
    document = json.loads(done.stdout)
    assert (document["scores"][0]["items"][0]["id"], document["refused"]) == ("double", [])
    done = course.run("run", "--json", course.submit("ann"), course.submit("eve", name="else.txt"))
    document = json.loads(done.stdout)
    assert [len(card["items"]) for card in document["scores"]] == [2]
    remarks = [line for line in lines_of(done) if line.startswith("grader: ")]  # without the sums
    assert [f"grader: {line}" for line in document["refused"]] == remarks
    done = course.run("run", "--json", str(course.submissions_folder / "eve.tar.gz"))
    assert json.loads(done.stdout) == {"scores": [], "refused": document["refused"]}
    for number in range(2):
        course.submit(f"fay{number}", name="else.txt")
    done = course.run("run", "--json", str(course.submissions_folder))
    document = json.loads(done.stdout)
    assert [card["students"] for card in document["scores"]] == [["ann"]]
    named = [line.partition(":")[0].rpartition("/")[2] for line in document["refused"]]
    assert sorted(named) == ["eve.tar.gz", "fay0.tar.gz", "fay1.tar.gz"]


@pytest.mark.parametrize(("code", "number"), [(129, "SIGHUP"), (130, "SIGINT"), (143, "SIGTERM")])
def test_129_130_and_143_if_a_signal_told_it_to_end(course, code, number):
    times = course.cwd / "times.csv"
    os.mkfifo(times)
    reading = course.start("run", course.submit(), "--times", str(times))
    with reading as process, times.open("w"):  # waits until it is opened for reading, too
        process.send_signal(signal.Signals[number])
        _, said = process.communicate(timeout=60)
    assert process.returncode == code
    assert said.strip() == "grader: stopped; what is done is kept"


def test_every_code_of_the_page_has_a_test_here():
    page = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()
    codes = re.findall(r"^\| (\d+) \|", page, re.MULTILINE)
    assert {int(code) for code in codes} >= {int(code) for code in ExitCode}
    tested = " ".join(name for name in globals() if name.startswith("test_"))
    assert [code for code in codes if not re.search(rf"(?<!\d){code}(?!\d)", tested)] == []


def test_141_if_whoever_reads_our_output_stops_and_there_is_no_traceback(course):
    with course.start("plugins") as process:
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141


def test_outside_linux_one_line_says_so_and_rubric_check_still_works(course):
    code = "import sys; sys.platform = 'darwin'; from grader.cli.main import main; main()"
    for arguments, status in (["run", "x.zip"], 2), (["rubric", "check"], 0):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            env=course.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status
        assert len(lines_of(done)) == (1 if status else 0)


def test_help_names_every_command_and_imports_none_of_them(course):
    code = """if True:
        import sys
        from grader.cli.main import main
        try: main()
        except SystemExit as end: assert not end.code
        print(sorted(name for name in sys.modules if name in {"numpy", "yaml", "pluggy", "rich"}))
    """
    done = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "rubric" in done.stdout
