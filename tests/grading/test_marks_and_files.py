"""A tiny course, graded for real: what the mark is, and which files whoever may see."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from textwrap import dedent

import pytest

from grader.config.course import load_course
from grader.errors import ExitCode
from grader.grading.grade import Grading
from grader.grading.sessions import open_session
from grader.grading.submission import CourseFiles, Request
from grader.model.score import Standing
from grader.plugins import Plugins

pytestmark = pytest.mark.usefixtures("forked_workers")
COURSE = {
    "course.yaml": """
        title: A tiny course
        time_zone: Asia/Jerusalem
        extensions: {bob: {tiny: 2d}}
    """,
    "assignments/tiny/assignment.py": """
        from grader.api import Assignment, hookimpl

        @hookimpl
        def grader_assignments():
            return [Assignment(name="tiny", title="Tiny", accepts=("work.py",))]
    """,
    "assignments/tiny/inputs.py": """
        from grader.api import case

        def numbers(rng):
            yield case("a number", int(rng.integers(3, 100)))
    """,
    "assignments/tiny/expected.py": "def double(x): return x + x\ndef secret(x): return -x\n",
    "assignments/tiny/reference/work.py": "def double(x): return 2 * x\ndef secret(x): return -x\n",
    "rubrics/tiny.yaml": """
        schema: 1
        assignment: tiny
        points: 10
        due: 2024-03-28T23:59:00+02:00
        late: {per_day: 10%}
        items:
          - {id: double, title: double doubles, points: 4,
             check: matches_reference, of: work.double, inputs: numbers}
          - {id: hush, title: a hidden title, points: 3, visible: never,
             check: matches_reference, of: work.secret, inputs: numbers}
          - {id: fast, title: fast on many GPUs, points: 3, devices: {gpu: 99},
             check: matches_reference, of: work.double, inputs: numbers}
          - {id: extra, title: once more, points: 1, bonus: true,
             check: matches_reference, of: work.double, inputs: numbers}
    """,
    "ann/work.py": 'def double(x): return 2 * x\ndef secret(x): raise ValueError("my own hidden words")\n',
}
ONE_MINUTE_LATE = datetime.fromisoformat("2024-03-29T00:00:00+02:00")
FORMATS = {"score.json", "junit.xml", "report.html"}


@pytest.fixture
def course(tmp_path: Path) -> Path:
    for name, text in COURSE.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text))
    return tmp_path


@pytest.fixture
def graded(course: Path):
    plugins = Plugins(course)

    def run(**asked):
        request = Request(archive=course / "ann", out=course / "results", **asked)
        with open_session(plugins) as session:
            grading = Grading(CourseFiles(load_course(course), plugins), session, alone=True)
            ((_, result),) = grading.grade([request])
        return result

    return run


def test_staff_and_student_get_the_same_formats_in_places_of_their_own(graded, course):
    graded()
    folder = course / "results" / "tiny" / "ann"
    assert {file.name for file in folder.iterdir()} == {*FORMATS, "evidence.jsonl", "feedback", "workspace"}
    assert {file.name for file in (folder / "feedback").iterdir()} == FORMATS
    told = "".join(file.read_text() for file in (folder / "feedback").iterdir())
    for secret in ("hush", "a hidden title", "my own hidden words", "secret("):
        assert secret in "".join((folder / name).read_text() for name in (*FORMATS, "evidence.jsonl"))
        assert secret not in told
    assert "double doubles" in told


def test_a_hidden_item_is_observed_after_those_that_the_student_sees(graded, course):
    """Its program may leave what it got in counters of the kernel, which a later one can print."""
    rubric = course / "rubrics/tiny.yaml"
    rubric.write_text(rubric.read_text().replace("{id: double,", "{id: double, needs: [seed],"))
    with rubric.open("a") as file:
        file.write(
            "  - {id: seed, title: first, points: 0, visible: never, check: matches_reference,"
            " of: work.double, inputs: numbers}\n"
        )
    assert [*graded().evidence.observations] == ["fast", "extra", "seed", "double", "hush"]


def test_an_item_whose_devices_are_not_here_is_pending_and_nobodys_fault(graded):
    done = graded()
    line = next(line for line in done.scorecard.lines if line.item == "fast")
    assert line.standing is Standing.PROVISIONAL
    assert line.reason.startswith("needs 99 GPUs; this machine has ")
    assert done.exit_code is ExitCode.GRADED
    assert not done.final


def test_an_engine_that_loses_an_order_leaves_its_items_open_and_ends_nothing(course):
    class Forgetful:
        def wants(self):
            return True

        def submit(self, order):
            pass

        def event(self):
            return None

    plugins = Plugins(course)
    grading = Grading(CourseFiles(load_course(course), plugins), Forgetful(), alone=True)
    request = Request(archive=course / "ann", out=course / "results")
    ((_, done),) = grading.grade([request])
    assert done.trouble == "the engine ended without a word of it; run again"
    assert done.exit_code is ExitCode.NOT_OBSERVED
    assert not done.evidence.observations


def test_what_is_left_out_is_not_observed_though_another_item_uses_it(graded, course):
    rubric = course / "rubrics/tiny.yaml"
    rubric.write_text(rubric.read_text().replace("bonus: true,", "bonus: true, uses: [double],"))
    done = graded(items=("extra",), without=frozenset({"double"}))
    assert done.evidence.observations.keys() == {"extra"}


def test_a_time_makes_a_submission_late_and_an_extension_makes_it_not(graded):
    (ann,) = graded(submitted_at=ONE_MINUTE_LATE).scorecard.totals
    assert (ann.adjusted, ann.final) == (4.5, None)  # of 4 and 1 bonus, a tenth less
    assert str(ann.late.due.tzinfo) == "Asia/Jerusalem"
    (bob,) = graded(submitted_at=ONE_MINUTE_LATE, student="bob").scorecard.totals
    assert (bob.adjusted, bob.late.due.isoformat()) == (5.0, "2024-03-30T23:59:00+03:00")
    (eve,) = graded(student="eve").scorecard.totals
    assert (eve.adjusted, eve.late.submitted_at) == (5.0, None)


def test_a_time_that_was_said_is_not_forgotten(graded):
    graded(submitted_at=ONE_MINUTE_LATE)
    assert graded().submission.submitted_at == ONE_MINUTE_LATE


def test_a_time_that_was_said_when_nothing_was_left_to_observe_is_not_forgotten(graded):
    graded(items=("double",))
    graded(items=("double",), submitted_at=ONE_MINUTE_LATE)
    again = graded(items=("double",))
    assert again.submission.submitted_at == ONE_MINUTE_LATE
    assert len(again.evidence.runs) == 1


def test_a_time_on_the_command_line_is_read_as_one_of_a_list(course):
    def run(time):
        command = [
            "-P",
            "-m",
            "grader",
            "--course",
            course,
            "run",
            course / "ann",
            "--json",
            "--submitted-at",
            time,
        ]
        return subprocess.run(
            [sys.executable, *command], capture_output=True, text=True, check=False, cwd=course
        )

    for wrong, reason in {
        "yesterday": "is no date and time",
        "2024-03-29": "is a day without a time",
    }.items():
        done = run(wrong)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            f'grader: --submitted-at "{wrong}" {reason}; write it like 2024-12-23T22:10:00+02:00, '
            "or without the offset\n"
        )
    for moment in ("2024-03-28T22:00:00Z", "2024-03-29 00:00", "29.03.2024 00:00"):
        (late,) = json.loads(run(moment).stdout)["scores"][0]["late"]
        assert (late["late_s"], late["lost"], late["due"]) == (60.0, 0.5, "2024-03-28T23:59:00+02:00")
