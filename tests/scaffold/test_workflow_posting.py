"""Scores are posted of a class that was graded whole, and by the run alone that graded and planned it last.

The jobs run as the services run them, and a Canvas on loopback notes whoever asks it anything.
"""

from __future__ import annotations

import os
import signal
import subprocess
from typing import Any

import pytest

from grader.errors import ExitCode
from grader.scaffold.course import CI

SERVICES = sorted(CI)
WHOLE = {ExitCode.GRADED, ExitCode.NOT_OBSERVED, ExitCode.NOT_ACCEPTED}
"""Codes of a grading after which every submission that could be graded is."""
FAILED = (1, 2, 3, 4, 7, 124, 126, 127, 130, 143, "TERM", "KILL", "works 3", "works 4")
"""At once, as if nobody had been graded, and after all of them were."""
WARNS = {"github": 0}
"""How a job ends that warns: on GitHub no failure is a warning."""


def test_every_exit_code_is_one_of_both():
    assert {code for code in FAILED if code in set(ExitCode)} == set(ExitCode) - WHOLE


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("service", "code"),
    [
        pytest.param(service, int(code), marks=() if code == quick else pytest.mark.slow)
        for service, quick in zip(SERVICES, (ExitCode.NOT_OBSERVED, ExitCode.NOT_ACCEPTED), strict=True)
        for code in sorted(WHOLE)
    ],
)
def test_a_class_that_was_graded_is_planned_and_posted(machine: Any, scores: Any, service: str, code: int):
    machine.end("run", f"works {code}")
    ended = machine.run(service, 2)
    assert ended == {"grade": WARNS.get(service, code), "plan": 0, "apply": 0}
    assert scores() == (10.0, 0.0)


@pytest.mark.quick(13)
@pytest.mark.covering
@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("end", FAILED)
def test_after_any_other_end_nothing_is_planned_or_posted_and_the_job_is_red(
    machine: Any, canvas: Any, service: str, end: int | str
):
    machine.end("run", end)
    ended = machine.run(service, 2)
    assert list(ended) == ["grade"]
    assert ended["grade"] not in WHOLE
    assert "The grading ended with " in machine.said
    assert "Nothing is planned or posted." in machine.said
    if service == "github":
        assert "::error::The grading ended with " in machine.said
        assert "Nothing is planned or posted.**" in machine.summary.read_text()
    # neither by the run that failed, nor by the one before it, whose plan is of other marks
    for job in ("plan", "apply"):
        for run in (1, 2):
            code, said = machine.job(service, job, run)
            assert code == 1
            assert "Nothing is planned;" in said or "Nothing is posted;" in said
    assert canvas.requests == []


@pytest.mark.quick(2)
@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("command", ["doctor", "report"])
@pytest.mark.parametrize("code", [1, 5])
def test_another_command_that_fails_in_the_same_job_is_no_warning(
    machine: Any, canvas: Any, service: str, command: str, code: int
):
    machine.end(command, code)
    ended = machine.run(service, 2)
    assert list(ended) == ["grade"]
    assert ended["grade"] not in (0, *(WHOLE if service == "gitlab" else ()))
    assert canvas.requests == []


@pytest.mark.quick(1)
@pytest.mark.parametrize("service", SERVICES)
def test_a_plan_that_fails_is_not_applied_and_is_made_again_by_a_retry(
    machine: Any, canvas: Any, scores: Any, service: str
):
    machine.end("post", 5)
    assert machine.job(service, "plan")[0] == 5
    machine.end("", "")
    assert machine.job(service, "apply")[0] == 1
    assert scores() == (None, None)
    assert [machine.job(service, name)[0] for name in ("plan", "apply")] == [0, 0]
    assert scores() == (10.0, 0.0)


@pytest.mark.parametrize("service", SERVICES)
def test_where_nobody_was_graded_the_marks_of_an_earlier_run_are_not_posted(
    machine: Any, canvas: Any, service: str
):
    """A run that was killed has half of the class in the gradebook; then a download is cut off."""
    (machine.received / "vectors_wrong.tar.gz").unlink()
    machine.end("run", 3)
    assert machine.run(service, 2) == {"grade": 3}
    machine.end("", "")
    whole = machine.received / "vectors_right.tar.gz"
    whole.write_bytes(whole.read_bytes()[:100])
    assert machine.run(service, 3) == {"grade": 1}
    assert "Nobody was graded. Nothing is planned or posted." in machine.said
    assert canvas.requests == []


@pytest.mark.parametrize("service", SERVICES)
def test_without_submissions_nothing_is_posted_of_an_earlier_run(machine: Any, canvas: Any, service: str):
    for archive in machine.received.iterdir():
        archive.unlink()
    assert list(machine.run(service, 2)) == ["grade"]
    assert canvas.requests == []


@pytest.mark.quick(1)
@pytest.mark.parametrize("service", SERVICES)
def test_a_run_that_another_one_has_overtaken_posts_nothing(machine: Any, scores: Any, service: str):
    assert machine.run(service, 2, post=False) == {"grade": 0, "plan": 0}
    assert machine.job(service, "apply", 1)[0] == 1
    assert machine.job(service, "plan", 1)[0] == 1
    assert scores() == (None, None)
    assert machine.job(service, "apply", 2)[0] == 0, "what came too late has not taken the plan away"
    assert scores() == (10.0, 0.0)


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.slow
def test_what_was_graded_again_in_the_same_run_is_planned_again_before_it_is_posted(
    machine: Any, scores: Any, service: str
):
    assert machine.job(service, "grade")[0] == 0
    assert machine.job(service, "apply")[0] == 1
    assert scores() == (None, None)
    assert [machine.job(service, name)[0] for name in ("plan", "apply")] == [0, 0]
    assert scores() == (10.0, 0.0)


@pytest.mark.quick(1)
@pytest.mark.parametrize("service", SERVICES)
def test_a_plan_is_applied_once_and_a_posting_that_failed_may_be_tried_again(
    machine: Any, canvas: Any, scores: Any, service: str
):
    machine.end("post", "KILL")
    assert machine.job(service, "apply")[0] != 0
    machine.end("", "")
    assert machine.job(service, "apply")[0] == 0
    assert scores() == (10.0, 0.0)
    canvas.requests.clear()
    assert machine.job(service, "apply")[0] == 1
    assert canvas.requests == []


@pytest.mark.slow
@pytest.mark.parametrize("service", SERVICES)
def test_another_assignment_is_not_in_the_way(machine: Any, scores: Any, service: str):
    machine.environment["ASSIGNMENT"] = "vectors2"
    assert list(machine.run(service, 2)) == ["grade"]
    machine.environment["ASSIGNMENT"] = "vectors"
    assert machine.job(service, "apply", 1)[0] == 0
    assert scores() == (10.0, 0.0)


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_cancelled_while_it_grades_leaves_nothing_to_post(
    machine: Any, canvas: Any, service: str, number: signal.Signals
):
    """As a service does it: a signal to everything that the step has started."""
    machine.end("run", "hangs")
    os.mkfifo(machine.pipe)
    (script, _) = machine.scripts(service, "grade")[-1 if service == "gitlab" else 1]
    step = subprocess.Popen(
        machine.command(script),
        cwd=machine.clone,
        env=machine.environment | {"GITHUB_RUN_ID": "2", "CI_PIPELINE_ID": "2"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        assert machine.pipe.read_text() == "here\n"
        os.killpg(step.pid, number)
        assert step.wait(60) != 0
    finally:
        if step.poll() is None:
            os.killpg(step.pid, signal.SIGKILL)
            step.wait()
    machine.end("", "")
    for job in ("plan", "apply"):
        for run in (1, 2):
            assert machine.job(service, job, run)[0] == 1
    assert canvas.requests == []


@pytest.mark.slow
def test_on_gitlab_the_scripts_are_those_of_any_shell(machine: Any, scores: Any):
    """Its runners take bash where there is one, and otherwise sh."""
    (machine.kept / "times").mkdir()
    (machine.kept / "times" / "vectors.csv").write_text("student,submitted at\n")
    assert machine.run("gitlab", shell="sh") == {"grade": 0, "plan": 0, "apply": 0}
    assert scores() == (10.0, 0.0)
    machine.end("run", 3)
    assert machine.run("gitlab", 2, shell="sh") == {"grade": 3}
