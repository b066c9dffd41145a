"""Two workers on one GPU, from end to end: functions of NumPy, and a card that is only said to be there."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from grader.config.codec import dumps
from grader.config.evidence_file import EVIDENCE, read_evidence
from grader.machine.lease import Leases
from grader.model.observation import Outcome
from grader.plugins import Plugins
from grader.scoring.score import passed
from grader.worker import devices, exam
from grader.worker.beside import Beside
from grader.worker.server_cache import ServerCache

ROOT = Path(__file__).resolve().parents[2]
ITEMS = (
    "utils.sigmoid",
    "utils.sigmoid_prime",
    "utils.zeros_weights",
    "utils.zeros_biases",
    "utils.add_elementwise",
)
SAID_TO_BE_THERE = """
from grader.cuda.gpus import Gpu
from grader.worker import devices
devices.gpus = lambda: ({card!r},)
devices.probe = lambda gpu: ""
"""


@pytest.fixture
def examined(reference_job, tmp_path, monkeypatch, gpu):
    """What two workers see of some items that say that they need a GPU, and what the second was given."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs a core for each of the two")
    monkeypatch.setenv("GRADER_LEASES", str(tmp_path / "leases"))
    card = gpu(0)
    monkeypatch.setattr(devices, "gpus", lambda: (card,))
    monkeypatch.setattr(devices, "probe", lambda gpu: "")
    (tmp_path / "sitecustomize.py").write_text(SAID_TO_BE_THERE.format(card=card))  # for the second one
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    given, give, came_back, seen_there = [], Beside.give, [], Beside.seen

    def told(beside, tasks, standing, lent=()):
        given.append(([task.item for task in tasks], lent, [*Leases().active()]))
        give(beside, tasks, standing, lent)

    def heard(beside):
        new = seen_there(beside)
        came_back.extend(task.item for task, _ in new)
        return new

    monkeypatch.setattr(Beside, "give", told)
    monkeypatch.setattr(Beside, "seen", heard)

    def run(*, wrong=""):
        rubric, job = reference_job("cdp_hw1", "cdp_hw1_utils", ITEMS)
        utils = Path(job.workspace) / "utils.py"
        if wrong:
            utils.write_text(f"{utils.read_text()}\n{wrong}\n")
        job = replace(job, tasks=tuple(replace(task, devices={"gpu": 1}) for task in job.tasks))
        file = tmp_path / "job.json"
        file.write_text(dumps(job))
        exam.run(file, tmp_path, ServerCache())
        assert not Leases().active()
        assert came_back == given[0][0], "the second one did what it was given"
        evidence = read_evidence(tmp_path / EVIDENCE)
        assert len((tmp_path / EVIDENCE).read_text().splitlines()) == len(ITEMS) + 2, "one record for each"
        kinds, items = Plugins(ROOT).checks, {item.id: item for item in rubric.items}
        seen = evidence.observations
        assert {one.outcome for one in seen.values()} == {Outcome.OBSERVED}
        return {name: passed(items[name], one, kinds, seen) for name, one in seen.items()}, given

    return run


@pytest.mark.slow
def test_half_is_seen_by_the_second_one_on_our_lease(examined):
    passes, given = examined()
    assert passes == dict.fromkeys(ITEMS, True)
    assert given == [([*ITEMS[1::2]], ("GPU-0",), ["gpu-GPU-0"])]


def test_what_is_wrong_in_company_is_wrong_alone(examined):
    passes, given = examined(wrong="def zeros_biases(sizes):\n    return []")
    assert passes == {**dict.fromkeys(ITEMS, True), "utils.zeros_biases": False}
    assert given[0][0] == [*ITEMS[1::2]]
