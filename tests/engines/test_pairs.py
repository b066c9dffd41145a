"""Which orders share a GPU, and which go on by themselves; with workers that only log as the test says."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from grader.contracts.engine import Ended, EngineSettings, Order, Waits
from grader.engines import local
from grader.machine.cores import Cores
from grader.model.job import DONE, GRANTS, WAITS, Job
from grader.model.submission import Submission


class Worker:
    """A process as the engine sees it: a log, and a lease to be received once it was granted."""

    def __init__(self):
        self.jobs = []
        self.leases = []
        self.shares = []
        self._log, self._write = os.pipe()

    def fileno(self):
        return self._log

    def give(self, job, outbox, lease=()):
        self.jobs.append(json.loads(Path(job).read_text()))
        self.leases.append(list(lease))

    def log(self, *lines):
        os.write(self._write, "".join(f"{line}\n" for line in lines).encode())

    def grant(self, uuid):
        self.shares = os.pipe()
        self.log(f"{GRANTS}{uuid}")

    def receive_lease(self):
        return [*self.shares]

    def read(self):
        return os.read(self._log, 65536).decode().splitlines() or None

    def complaints(self):
        return ""

    def move(self, cores):
        self.moved = set(cores)

    def end(self):
        """Nothing runs."""

    def stop(self):
        return 0


@pytest.fixture
def workers(monkeypatch):
    started = []

    def start():
        started.append(Worker())
        return started[-1]

    monkeypatch.setattr(local, "WorkerProcess", start)
    return started


@pytest.fixture
def order(tmp_path):
    def make(key, **more):
        outbox = tmp_path / key
        if more.pop("writable", True):
            outbox.mkdir()
        job = Job(
            id=key,
            submission=Submission(student=key, assignment="a", archive="", digest="d", files=()),
            course="",
            assignment_folder="",
            workspace="",
            tasks=(),
        )
        return Order(key=key, job=job, outbox=outbox, **{"exclusive": True} | more)

    return make


@pytest.fixture
def session(workers):
    with local.LocalEngine().open(EngineSettings(at_once=1, gpus=1)) as session:
        yield session


def given(workers):
    """The keys of the orders that each worker was given."""
    return [[job["id"] for job in worker.jobs] for worker in workers]


def test_two_orders_that_may_share_a_gpu_do_so_on_the_lease_of_the_first(session, workers, order):
    for key in ("one", "two"):
        session.submit(order(key, shares_gpu=True))
    session._start_orders()
    (first,) = workers
    assert given(workers) == [["one"]], "the second has no GPU yet"
    assert (first.jobs[0]["shares_gpu"], first.jobs[0]["granted"]) == (True, [])
    first.grant("GPU-7")
    first.log(f"{WAITS}nothing")
    assert isinstance(session.event(), Waits)
    second = workers[1]
    assert (second.jobs[0]["shares_gpu"], second.jobs[0]["granted"]) == (True, ["GPU-7"])
    assert second.leases == [list(first.shares)]
    for descriptor in first.shares:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)  # the lease would outlive the workers


def test_a_third_one_is_a_pair_with_the_next_and_does_not_join_a_pair_that_runs(session, workers, order):
    for key in ("one", "two", "three", "four"):
        session.submit(order(key, shares_gpu=True))
    session._start_orders()
    workers[0].grant("GPU-7")
    workers[0].log(f"{WAITS}nothing")
    session.event()
    session._start_orders()
    assert sorted(given(workers)) == [["one"], ["three"], ["two"]], "three imports, and waits for the lease"
    by_key = {worker.jobs[0]["id"]: worker for worker in workers}
    assert by_key["three"].jobs[0]["granted"] == []
    by_key["two"].log(f"{DONE}0")
    assert session.event().order.key == "two"
    by_key["one"].log(f"{DONE}0")
    assert session.event().order.key == "one"
    by_key["three"].grant("GPU-7")
    by_key["three"].log(f"{DONE}0")
    assert session.event().order.key == "three"
    (four,) = (worker.jobs[-1] for worker in workers if worker.jobs[-1]["id"] == "four")
    assert four["granted"] == ["GPU-7"]


def test_a_partner_takes_the_place_of_no_other_order(session, workers, order):
    for key in ("one", "two"):
        session.submit(order(key, shares_gpu=True))
    session._start_orders()
    workers[0].grant("GPU-7")
    workers[0].log(f"{WAITS}nothing")
    session.event()
    session.submit(order("alone"))
    session._start_orders()
    assert sorted(given(workers)) == [["alone"], ["one"], ["two"]], "it imports, and waits for the lease"


def test_an_order_without_a_partner_has_its_gpu_for_itself(session, workers, order):
    session.submit(order("one", shares_gpu=True))
    session.submit(order("alone"))
    session._start_orders()
    assert workers[0].jobs[0]["shares_gpu"] is False


def test_who_has_leased_nothing_leaves_its_partner_to_itself(session, workers, order):
    for key in ("one", "two"):
        session.submit(order(key, shares_gpu=True))
    session._start_orders()
    workers[0].log(f"{DONE}0")
    assert isinstance(session.event(), Ended)
    session._start_orders()
    assert given(workers) == [["one", "two"]]
    assert workers[0].jobs[1]["shares_gpu"] is False


def test_an_order_whose_job_cannot_be_written_ends_and_leaves_its_partner_to_itself(session, workers, order):
    session.submit(order("one", shares_gpu=True, writable=False))
    session.submit(order("two", shares_gpu=True))
    event = session.event()
    assert (event.order.key, bool(event.problem)) == ("one", True)
    session._start_orders()
    assert [job["shares_gpu"] for worker in workers for job in worker.jobs] == [False]


@pytest.fixture
def cores(monkeypatch, tmp_path):
    """Lets a session have so many cores, of one thread each."""
    monkeypatch.setattr(local.os, "sched_setaffinity", lambda pid, cores: None)

    def have(session, count):
        session._cores = Cores(range(count), tmp_path)
        session.__post_init__()
        for worker in session._workers:
            worker.cores = frozenset(range(count))

    return have


def test_beside_what_is_timed_others_keep_off_its_cores(session, workers, order, cores):
    cores(session, 4)
    session.submit(order("timed", cores=1))
    session.submit(order("trains", exclusive=False))
    session._start_orders()
    where = {worker.order.key: sorted(worker.cores) for worker in session._workers}
    assert where == {"trains": [0, 3], "timed": [0, 3]}, "it moves to its own cores when it has their lease"
    jobs = {job["id"]: job["cores"] for worker in workers for job in worker.jobs}
    assert jobs == {"timed": [1, 2], "trains": []}


def test_what_is_timed_later_does_not_wait_for_what_was_ordered_before_it(session, workers, order, cores):
    """Training and reports of one submission took 11 s, and its timed items began only then."""
    cores(session, 8)
    session.submit(order("trains", exclusive=False, cores=1, timed_parts=2))
    session._start_orders()
    for key in ("timed", "timed on a GPU"):
        session.submit(order(key, cores=1, timed_parts=2))
    session._start_orders()
    assert sorted(key for keys in given(workers) for key in keys) == ["timed", "timed on a GPU", "trains"]
    jobs = {job["id"]: job["cores"] for worker in workers for job in worker.jobs}
    assert jobs["trains"] == []
    assert jobs["timed"] == jobs["timed on a GPU"]
    assert len(jobs["timed"]) == 4
    assert workers[0].moved == {0, 5, 6, 7}, "the worker that stood by is used, and none starts in its place"


def test_where_what_is_timed_needs_all_cores_it_waits_until_nothing_else_runs(session, workers, order, cores):
    cores(session, 2)
    session.submit(order("timed", cores=1))
    session.submit(order("trains", exclusive=False))
    session._start_orders()
    assert given(workers) == [["trains"]]
    workers[0].log(f"{DONE}0")
    session.event()
    session._start_orders()
    assert given(workers) == [["trains", "timed"]]


def test_what_a_course_prints_is_no_message_of_a_worker(session, workers, order):
    session.submit(order("one"))
    session._start_orders()
    workers[0].log("done: observed", "waiting: observed", "@done", f"{DONE}0")
    event = session.event()
    assert (type(event), event.problem) == (Ended, "")
