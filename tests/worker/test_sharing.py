"""Two workers on one GPU, from end to end: functions of NumPy, and a card that is only said to be there."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from grader.config.codec import dumps
from grader.config.course import load_course
from grader.config.evidence_file import EVIDENCE, EvidenceReader, ItemObserved, RunStarted, read_evidence
from grader.engines import local
from grader.errors import NotObservedError
from grader.grading.grade import Grading
from grader.grading.sessions import open_session
from grader.grading.submission import CourseFiles, Request
from grader.machine.lease import Leases
from grader.plugins import Plugins
from grader.worker.quiet import OwnCores
from grader.worker.run import run
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
import sys
if "grader.worker" in sys.orig_argv:
    from grader.cuda.gpus import Gpu
    from grader.worker import devices
    devices.gpus = lambda: ({card!r},)
    devices.probe = lambda gpu: ""
"""


@pytest.fixture
def graded(tmp_path, monkeypatch, gpu):
    """Grades alice with a rubric whose items need a GPU; gives the result, and how each order was started."""
    monkeypatch.setenv("GRADER_LEASES", str(tmp_path / "leases"))
    (tmp_path / "sitecustomize.py").write_text(SAID_TO_BE_THERE.format(card=gpu(0)))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    rubric = (ROOT / "rubrics/cdp_hw1_utils.yaml").read_text()
    rubric = rubric.replace("    check: ", "    devices: {gpu: 1}\n    check: ")
    (tmp_path / "rubric.yaml").write_text(rubric)
    started, start = [], local._Session._start

    def start_noted(session, order, cores, uuid="", lease=()):
        started.append((order, uuid, [*Leases().active()]))
        start(session, order, cores, uuid, lease)

    monkeypatch.setattr(local._Session, "_start", start_noted)

    def grade(*, wrong=""):
        archive = tmp_path / "alice"
        archive.mkdir()
        utils = (ROOT / "assignments/cdp_hw1/reference/utils.py").read_text()
        (archive / "utils.py").write_text(f"{utils}\n{wrong}\n")
        plugins = Plugins(ROOT)
        with open_session(plugins, gpus=1) as session:
            grading = Grading(CourseFiles(load_course(ROOT), plugins), session, alone=True)
            grading._gpus = 1
            request = Request(
                archive=archive, out=tmp_path / "out", rubric=str(tmp_path / "rubric.yaml"), items=ITEMS
            )
            ((_, result),) = grading.grade([request])
        assert not isinstance(result, Exception), result
        assert not Leases().active()
        return result, started

    return grade


def records(result):
    read = EvidenceReader(result.results.evidence).read()
    observed = [one.observation for one in read if isinstance(one, ItemObserved)]
    return observed, sum(isinstance(one, RunStarted) for one in read)


@pytest.mark.slow
def test_half_is_observed_by_a_second_worker_on_the_lease_of_the_first(graded):
    result, started = graded()
    assert {
        line.item: line.fraction for line in result.scorecard.lines if line.item in ITEMS
    } == dict.fromkeys(ITEMS, 1.0)
    (first, none, before), (second, uuid, meanwhile) = started
    assert (none, before) == ("", [])
    assert (uuid, meanwhile) == ("GPU-0", ["gpu-GPU-0"])
    assert [len(order.job.tasks) for order in (first, second)] == [3, 2]
    observed, runs = records(result)
    assert (sorted(one.item for one in observed), runs) == (sorted(ITEMS), 2)


def test_what_does_not_pass_beside_another_is_observed_again_alone_and_only_that_is_recorded(graded):
    result, started = graded(wrong="def zeros_biases(sizes):\n    return []")
    earned = {line.item: line.fraction for line in result.scorecard.lines if line.item in ITEMS}
    assert earned == {**dict.fromkeys(ITEMS, 1.0), "utils.zeros_biases": 0.0}
    assert [uuid for _, uuid, _ in started] == ["", "GPU-0", ""]
    alone = started[-1][0]
    assert [task.item for task in alone.job.tasks] == ["utils.zeros_biases"]
    assert not alone.shares_gpu
    observed, runs = records(result)
    assert (Counter(one.item for one in observed), runs) == (Counter(ITEMS), 3)
    assert result.trouble == ""


@pytest.fixture
def servers():
    """The servers of one worker."""
    with closing(ServerCache()) as cache:
        yield cache


@pytest.mark.parametrize("shares", [True, False])
def test_a_run_that_shares_leaves_what_did_not_pass_without_a_record(
    reference_job, tmp_path, servers, shares
):
    names = ITEMS[0], *ITEMS[2:4]
    _, job = reference_job("cdp_hw1", "cdp_hw1_utils", names)
    utils = Path(job.workspace) / "utils.py"
    utils.write_text(f"{utils.read_text()}\ndef sigmoid(x):\n    return 2\n")
    file = tmp_path / "job.json"
    file.write_text(dumps(replace(job, shares_gpu=shares)))
    run(file, tmp_path, servers)
    observed = read_evidence(tmp_path / EVIDENCE).observations.keys()
    assert observed == {*names[shares:]}


def test_what_a_task_uses_of_an_earlier_run_is_judged_with_it(reference_job, tmp_path, servers):
    """Otherwise an item that needs this one would wait for ever."""
    _, job = reference_job("cdp_hw1", "cdp_hw1_utils", ITEMS[:3])
    file, earlier = tmp_path / "job.json", tmp_path / "earlier"
    earlier.mkdir()
    first, second, third = job.tasks
    file.write_text(dumps(replace(job, tasks=(first,))))
    run(file, earlier, servers)
    seen = read_evidence(earlier / EVIDENCE).observations
    tasks = replace(second, uses=(first.item,)), replace(third, needs=(second.item,))
    file.write_text(dumps(replace(job, tasks=tasks, passed={first.item: True}, earlier=seen)))
    run(file, tmp_path, servers)
    outcomes = {
        item: one.outcome.value for item, one in read_evidence(tmp_path / EVIDENCE).observations.items()
    }
    assert outcomes == {second.item: "observed", third.item: "observed"}


def test_a_run_gives_up_when_its_wait_for_cores_is_over(tmp_path, monkeypatch):
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        pytest.skip("with one core nothing is leased")
    monkeypatch.setenv("GRADER_LEASES", str(tmp_path / "leases"))
    names = [f"core-{core}" for core in cores]
    with (
        Leases().take(names, len(names), 0, "the notes of bob"),
        pytest.raises(NotObservedError, match=r"waited 0\.05 s"),
    ):
        OwnCores(1, "hw of alice", print, wait_s=0.05)


def test_a_run_that_waits_for_cores_says_who_holds_them(tmp_path, monkeypatch):
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        pytest.skip("with one core nothing is leased")
    monkeypatch.setenv("GRADER_LEASES", str(tmp_path / "leases"))
    names, asked = [f"core-{core}" for core in cores], []

    def log_wait(cause):
        asked.append(cause)
        lease.close()

    lease = Leases().take(names, len(names), 0, "the notes of bob")
    OwnCores(1, "hw of alice", log_wait).close()
    os.sched_setaffinity(0, cores)
    (cause,) = asked
    assert cause.startswith("core-")
    assert "for the notes of bob" in cause
