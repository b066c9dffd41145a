"""Half of what bears company on a GPU is looked at by a second worker, which is lent ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.config.codec import dumps
from grader.config.evidence_file import EVIDENCE, read_evidence
from grader.machine.lease import Leases
from grader.model.observation import Outcome
from grader.plugins import Plugins
from grader.scoring.score import passed
from grader.worker import exam
from grader.worker.beside import Beside
from grader.worker.server_cache import ServerCache

pytestmark = pytest.mark.gpu

ROOT = Path(__file__).resolve().parents[2]
ITEMS = "build", "array_set", "relu", "softmax", "matrix_elementwise_add", "matrix_multiply"


def test_both_see_what_one_would(reference_job, tmp_path, monkeypatch):
    rubric, job = reference_job("dlsys_a2", "dlsys_a2_strict", ITEMS)
    kinds = Plugins(ROOT).checks
    given, give = [], Beside.give

    def told(beside, tasks, standing, lent=()):
        given.append(([task.item for task in tasks], lent, tuple(Leases().active())))
        give(beside, tasks, standing, lent)

    monkeypatch.setattr(Beside, "give", told)
    file = tmp_path / "job.json"
    file.write_text(dumps(job))
    exam.run(file, tmp_path, ServerCache())
    observations = read_evidence(tmp_path / EVIDENCE).observations
    assert observations.keys() == set(ITEMS)
    assert {one.outcome for one in observations.values()} == {Outcome.OBSERVED}
    assert not any(one.simulated for one in observations.values())
    items = {item.id: item for item in rubric.items}
    assert all(passed(items[name], one, kinds, observations) for name, one in observations.items())
    (apart, none, _), (company, lent, held) = given
    assert (apart, none) == (["build"], ())
    assert company == ["matrix_elementwise_add", "relu"]
    assert f"gpu-{lent[0]}" in held
