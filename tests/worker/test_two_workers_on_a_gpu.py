"""Half of what may share a GPU is observed by a second worker, on the lease of the first."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.config.course import load_course
from grader.engines import local
from grader.grading.grade import Grading
from grader.grading.sessions import open_session
from grader.grading.submission import CourseFiles, Request
from grader.machine.lease import Leases
from grader.model.observation import Outcome
from grader.plugins import Plugins

pytestmark = pytest.mark.gpu

ROOT = Path(__file__).resolve().parents[2]
ITEMS = "build", "array_set", "relu", "softmax", "matrix_elementwise_add", "matrix_multiply"


def test_both_see_what_one_would(tmp_path, monkeypatch):
    started, start = [], local._Session._start

    def start_noted(session, order, cores, uuid="", lease=()):
        started.append(([task.item for task in order.job.tasks], uuid, tuple(Leases().active())))
        start(session, order, cores, uuid, lease)

    monkeypatch.setattr(local._Session, "_start", start_noted)
    archive = tmp_path / "reference"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "assignments/dlsys_a2/reference", archive, ignore=ignored)
    plugins = Plugins(ROOT)
    request = Request(
        archive=archive, out=tmp_path, assignment="dlsys_a2", rubric="dlsys_a2_strict", items=ITEMS
    )
    with open_session(plugins, gpus=1) as session:
        ((_, result),) = Grading(CourseFiles(load_course(ROOT), plugins), session, alone=True).grade(
            [request]
        )
    assert not isinstance(result, Exception), result
    observations = result.evidence.observations
    assert observations.keys() >= set(ITEMS)
    assert {observations[name].outcome for name in ITEMS} == {Outcome.OBSERVED}
    assert not any(observations[name].simulated for name in ITEMS)
    assert all(line.fraction == 1 for line in result.scorecard.lines if line.item in ITEMS)
    (shared, uuid, active) = next(entry for entry in started if entry[1])
    assert set(shared) < set(ITEMS)
    assert f"gpu-{uuid}" in active
