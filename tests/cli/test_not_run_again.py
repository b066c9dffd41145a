"""An unchanged submission is not run again, and the output says so, with the time that its results are of."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from grader.contracts.engine import Ended, Engine, Records
from grader.grading.grade import Grading
from grader.grading.submission import CourseFiles, Request
from tests.cli.conftest import DOUBLE, SQUARE

AGAIN = "Nothing was run again: the submission is unchanged. Its results are of "


def began(course, student="ann"):
    run = [record["run"] for record in course.records(student) if record["record"] == "run"][-1]
    return datetime.fromisoformat(run["started_at"]).strftime("%Y-%m-%d %H:%M UTC")


def lines(done):
    assert (done.returncode, done.stderr) == (0, "")
    return [line.strip() for line in done.stdout.splitlines()]


def test_a_card_says_that_nothing_was_run_again_and_when_it_was(course):
    archive = course.submit()
    first = lines(course.run("run", archive))
    assert not any("run again" in line or "collected" in line for line in first)
    assert f"{AGAIN}{began(course)}." in lines(course.run("run", archive))
    course.rubric(DOUBLE | {"points": 2}, SQUARE)
    assert f"{AGAIN}{began(course)}." in lines(course.run("run", archive)), "judged anew, and not run"
    assert not any("run again" in line for line in lines(course.run("run", archive, "--fresh")))
    course.submit(code="def double(x): return 2 * x\ndef square(x): return x * x")
    assert not any("run again" in line for line in lines(course.run("run", archive)))


def test_the_time_is_that_of_the_course(course):
    course.write("course.yaml", "title: A tiny course\ntime_zone: Asia/Tokyo\n")
    archive = course.submit()
    course.run("run", archive)
    (line,) = (line for line in lines(course.run("run", archive)) if line.startswith(AGAIN))
    assert line.endswith(" JST.")


def test_rows_of_a_class_and_its_sums_say_so(course):
    for number in range(6):
        course.submit(f"s{number}")
    assert course.run("run", str(course.submissions_folder)).returncode == 0
    course.submit("new")
    done = course.run("run", str(course.submissions_folder))
    rows = {row.split()[1]: row for row in done.stdout.splitlines()}
    assert rows.pop("new").endswith("3 / 3")
    for student, row in rows.items():
        assert row.endswith(f"  not run again, results of {began(course, student)}")
    assert done.stderr.splitlines()[-1] == (
        "6 submissions are unchanged, and nothing was run again for them; --fresh runs them again"
    )


def test_what_was_run_by_this_command_is_not_called_unchanged_where_the_best_attempt_counts(course):
    course.rubric(DOUBLE, SQUARE, attempts="best")
    for name in ("d_12_1_hw", "d_12_2_hw-1"):
        course.submit(name)
    done = course.run("run", str(course.submissions_folder))
    assert "run again" not in done.stdout + done.stderr
    done = course.run("run", str(course.submissions_folder))
    assert "not run again, results of" in done.stdout


def test_what_only_a_person_judges_was_never_run(course):
    course.rubric({"id": "style", "title": "s", "points": 1, "check": "manual"})
    archive = course.submit()
    for _ in range(2):
        assert not any("run again" in line for line in lines(course.run("run", archive)))


class Collects(Engine):
    """An engine whose orders were run before this command began, as those of a cluster."""

    name = "collects"

    def __init__(self):
        self.records = ()
        self._events = []

    def open(self, settings):
        raise NotImplementedError

    def wants(self):
        return True

    def submit(self, order):
        self._events = [Records(order=order, lines=self.records), Ended(order=order)]

    def event(self):
        return self._events.pop(0) if self._events else None


@pytest.mark.parametrize("earlier", [True, False])
def test_what_a_cluster_ran_before_is_collected(course, earlier):
    from grader.cli.outcome import not_run_again
    from grader.config.course import load_course
    from grader.plugins import Plugins

    archive = course.submit()
    assert course.run("run", archive).returncode == 0
    file = course.results() / "evidence.jsonl"
    records = [json.loads(line) for line in file.read_text().splitlines()]
    file.unlink()
    loaded = load_course(course.folder)
    engine = Collects()
    grading = Grading(CourseFiles(loaded, Plugins(loaded.folder)), engine, alone=True)
    now = datetime.now(UTC).isoformat(timespec="seconds")  # whole seconds, as runs note them
    for record in records:
        if record["record"] == "run":
            record["run"]["started_at"] = "2024-12-20T10:00:00+00:00" if earlier else now
    engine.records = tuple(json.dumps(record).encode() + b"\n" for record in records)
    request = Request(archive=course.submissions_folder / "ann.tar.gz", out=course.out)
    ((_, graded),) = grading.grade([request])
    line = "Nothing was run by this command: it collected results of 2024-12-20 10:00 UTC."
    assert not_run_again(graded, loaded.zone) == (line if earlier else "")


def test_what_needs_a_skipped_item_is_skipped_also_where_it_is_timed(course):
    """What is timed is observed in another part of the run than what it needs."""
    timed = {"check": "speedup", "of": "work.double", "over": "work.square", "inputs": "numbers"}
    speed = {"id": "speed", "title": "is fast", "points": 1, **timed, "expected": "double", "at_least": 2}
    course.rubric(DOUBLE, SQUARE | {"needs": ["double"]}, speed | {"needs": ["square"]})
    archive = course.submit(code="def double(x): return x\ndef square(x): return x * x")
    course.run("run", archive)
    outcomes = [r["observation"]["outcome"] for r in course.records() if r["record"] == "observation"]
    assert outcomes == ["observed", "skipped", "skipped"]
    before = course.records()
    assert any(line.startswith(AGAIN) for line in lines(course.run("run", archive)))
    assert course.records() == before
