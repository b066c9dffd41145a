"""An assignment names the kinds of GPU that it may be measured on; what ran on another one runs again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.grading.digests import task_digests
from grader.grading.tasks import still_valid
from grader.model.assignment import Assignment
from grader.model.evidence import Evidence, WorkerRun
from grader.model.job import Task
from grader.model.observation import Observation, Outcome
from grader.model.rubric import Rubric
from grader.model.submission import Submission

ANN = Submission(student="ann", assignment="tiny", archive="", digest="sha256:0", files=())


def evidence(*names):
    run = WorkerRun(
        id="e1",
        started_at="2030-01-31T00:00:00+00:00",
        isolation="bubblewrap",
        environment={"gpus": [{"name": name} for name in names]},
    )
    seen = Observation(item="fast", outcome=Outcome.OBSERVED, digest="sha256:1")
    return Evidence(submission=ANN, runs=(run,), observations={"fast": seen}, run_of={"fast": "e1"})


def task(*kinds):
    return Task(
        item="fast", check="speedup", options={}, devices={"gpu": 1}, gpu_kinds=kinds, digest="sha256:1"
    )


@pytest.mark.parametrize(
    ("kinds", "names", "holds"),
    [
        ((), ("NVIDIA A100",), True),
        (("H200",), ("NVIDIA H200",), True),
        (("h200", "H100"), ("NVIDIA H100 80GB HBM3",), True),
        (("H200",), ("NVIDIA A100",), False),
        (("H200",), ("NVIDIA H200", "NVIDIA A100"), False),
        (("H200",), (), True),
    ],
)
def test_an_observation_holds_if_its_gpus_were_of_a_kind_that_is_named(kinds, names, holds):
    assert ("fast" in still_valid(evidence(*names), [task(*kinds)])) is holds


def test_naming_kinds_changes_no_digest(tmp_path):
    assignment = Assignment(name="tiny", title="Tiny", accepts=("work.py",))
    rubric = Rubric(assignment="tiny", name="tiny", points=0.0, items=(), digest="sha256:2")
    before, after = (
        task_digests(rubric, given, tmp_path)("sha256:0")
        for given in (assignment, replace(assignment, gpu_kinds=("H200",)))
    )
    assert before == after


def test_a_text_in_place_of_kinds_is_refused():
    with pytest.raises(ValueError, match="gpu_kinds: must be a tuple of texts"):
        Assignment(name="tiny", title="Tiny", accepts=("work.py",), gpu_kinds="H200")  # type: ignore[arg-type]
