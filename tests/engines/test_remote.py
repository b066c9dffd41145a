"""Orders on other machines, by a scheduler that starts every task on this one, when a test lets it."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import deque
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

import grader
from grader.config.evidence_file import EVIDENCE
from grader.contracts.engine import Ended, Engine, EngineSettings, QueueStatus, Records
from grader.engines.remote import journal as journal_module
from grader.engines.remote import planner as planner_module
from grader.engines.remote import session as session_module
from grader.engines.remote import task_ends as task_ends_module
from grader.engines.remote.batch import Batch, folder_of, journals_of, write_batch
from grader.engines.remote.collect import append_records
from grader.engines.remote.earlier import orders_folder
from grader.engines.remote.journal import JournalEntry, JournalWriter, TaskJournals, ended_orders
from grader.engines.remote.ledger import OpenTask
from grader.engines.remote.node import _Pack, objection, observe_pack, script
from grader.engines.remote.options import RemoteOptions
from grader.engines.remote.packs import pack_sizes
from grader.engines.remote.scheduler import (
    REST,
    Pace,
    SchedulerAwayError,
    SchedulerFullError,
    SchedulerRefusedError,
    TaskPhase,
    TaskState,
)
from grader.engines.remote.session import COLLECTED_LATER, RemoteSession
from grader.engines.remote.status import Repeated, queue_status
from grader.engines.remote.stored import BatchPlace, OrderStore, Wants, demanded_isolation
from grader.errors import NotObservedError, UsageError
from grader.testing.engines import EngineConformance, Orders
from grader.testing.pipes import read_within

ROOT = Path(grader.__file__).parent.parent


class HereScheduler:
    """A scheduler whose tasks run on this machine, side by side."""

    most_tasks = 100
    carrier = "folder"
    pace = Pace(read_every_s=(0.05, 0.05), ask_every_s=(0.05, 0.05), first_ask_s=0.0, grace_s=0.5)

    def __init__(self):
        self.running = {}
        self.over = {}
        self.away = ""
        self.submits = True
        self.submitted = []
        self.cancelled = []
        self.time_s = 600.0
        self.setup = f"export PYTHONPATH={ROOT}"

    def gpus(self):
        return 0

    def slots(self, wants):
        return 2

    def cores(self, wants):
        return 2

    def limit_s(self, wants):
        return self.time_s

    def submit(self, batch, root, folder):
        if self.away:
            raise SchedulerAwayError(self.away)
        self.submitted.append(batch)
        if self.submits:
            for task in range(len(batch.packs)):
                self.begin(batch, root, task)

    def begin(self, batch, root, task, restart=0):
        arguments = [str(root), batch.name, str(task), "7", str(restart)]
        file = (
            folder_of(root, batch.name) / f"script-{task}.{restart}"
        )  # each its own: shells read while they run
        file.write_text(script(self.setup, "", arguments))
        with (folder_of(root, batch.name) / f"log-{task}").open("ab") as log:
            process = subprocess.Popen(
                ["/bin/sh", str(file)], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        self.running[batch.name, task] = process
        return process

    def states(self):
        if self.away:
            raise SchedulerAwayError(self.away)
        states = {}
        for place, process in self.running.items():
            over = process.poll() is not None
            phase = TaskPhase.FINISHED if over else TaskPhase.RUNNING
            states[place] = TaskState(phase=phase, words=phase.value, node="here")
        return states | self.over

    def cancel(self, batch):
        self.cancelled.append(batch)
        self.end(batch)

    def end(self, batch=None):
        for (name, _), process in self.running.items():
            if batch in {None, name}:
                process.terminate()
                process.wait()


class HereEngine(Engine):
    """An engine of other machines which are this one."""

    name = "here"
    is_remote = True
    detaches = True

    @contextmanager
    def open(self, settings):
        scheduler = HereScheduler()
        session = RemoteSession(scheduler, RemoteOptions(), settings, "The scheduler")
        try:
            yield session
        finally:
            session.close(cancel=True)
            scheduler.end()


class TestRemoteSession(EngineConformance):
    engine = HereEngine

    def test_a_session_that_is_left_ends_its_workers(self):
        """It leaves them, and its records come with the end of an order: see below."""


@pytest.fixture
def orders(tmp_path):
    return Orders(tmp_path)


@pytest.fixture
def scheduler():
    made = HereScheduler()
    yield made
    made.end()


def session_of(scheduler, tmp_path, folder="", **settings):
    settings = EngineSettings(results=tmp_path / "results", **settings)
    return RemoteSession(scheduler, RemoteOptions(), settings, "The scheduler", folder)


def ends(session):
    """Return what was reported of each order: its problem and its lines."""
    problems, lines = {}, {}
    while event := session.event():
        if isinstance(event, Records):
            lines.setdefault(event.order.key, []).extend(event.lines)
        elif isinstance(event, Ended):
            problems[event.order.key] = event.problem
    return problems, lines


def again(order):
    """Return the order of a later command for the same."""
    return replace(order, key=f"{order.key}-again", job=replace(order.job, id=f"{order.key}-again"))


def runs(order):
    lines = (order.outbox / EVIDENCE).read_text().splitlines()
    return [json.loads(line)["run"]["id"] for line in lines if json.loads(line)["record"] == "run"]


def test_nothing_secret_and_nothing_of_the_host_lies_in_the_folder_which_nobody_else_may_enter(
    orders, scheduler, tmp_path
):
    scheduler.submits = False
    session = session_of(scheduler, tmp_path, detach=True)
    session.submit(orders.make("ann"))
    ends(session)
    root = tmp_path / "results" / ".cluster"
    assert root.stat().st_mode & 0o777 == 0o700
    texts = [file.read_text() for file in root.rglob("*.json")]
    assert len(texts) == 3, "the order, its place, the batch"
    assert not any("5eed" in text for text in texts)
    job = json.loads((root / "orders" / "ann" / "order.json").read_text())["job"]
    assert (job["seed"], job["cores"], job["stage"], job["workspace"]) == ("", [], "", "")


@pytest.mark.parametrize("mode", [0o755, 0o710])
def test_a_folder_that_others_may_enter_is_refused(tmp_path, mode):
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(mode)
    with pytest.raises(UsageError, match="chmod 700"):
        OrderStore.at(folder)


def test_a_command_that_ends_takes_nothing_from_another_that_begins(orders, tmp_path):
    root = tmp_path / "shared"
    first, second = OrderStore.at(root), OrderStore.at(root)
    order = orders.make("ann")
    course = second.course(order.job)
    first.close()
    assert second.course_folder(course).is_dir()
    second.folder("bob").mkdir(parents=True)  # as if it had copied the submission so far
    third = OrderStore.at(root)
    assert second.folder("bob").is_dir()
    third.close()
    second.close()
    assert second.folder("bob").is_dir()
    OrderStore.at(root).close()
    assert not root.exists()


def test_a_command_that_ends_finds_what_it_sent_and_nothing_is_sent_twice(orders, scheduler, tmp_path):
    made = [orders.make(name) for name in ("ann", "bob")]
    first = session_of(scheduler, tmp_path, detach=True)
    for order in made:
        first.submit(order)
    problems, lines = ends(first)
    assert set(problems.values()) == {session_module.COLLECTED_LATER}
    assert not lines
    first.close(cancel=False)
    second = session_of(scheduler, tmp_path)
    for order in made:
        second.submit(again(order))
    problems, lines = ends(second)
    assert set(problems.values()) == {""}
    assert [len(of_order) for of_order in lines.values()] == [4, 4]
    assert len(scheduler.submitted) == 1
    second.close(cancel=False)
    assert [path.name for path in (tmp_path / "results" / ".cluster").iterdir()] == ["durations.json"]


def test_an_order_that_follows_the_first_of_several_ends_hides_no_other(orders, scheduler, tmp_path):
    scheduler.submits = False
    session = session_of(scheduler, tmp_path)
    for name in ("ann", "bob", "cy"):
        session.submit(orders.make(name))
    ledger = session._ledger
    session._send(ledger)
    scheduler.submits = True
    (batch,) = scheduler.submitted
    for task in range(len(batch.packs)):  # all have ended before the first end is read
        scheduler.begin(batch, ledger.store.root, task).wait()
    while not isinstance(event := session.event(), Ended):
        pass
    session.submit(orders.make("next"))
    problems, _ = ends(session)
    assert {event.order.key} | set(problems) == {"ann", "bob", "cy", "next"}
    assert set(problems.values()) == {""}


def test_what_ends_looks_at_no_other_order_of_its_batch(orders, scheduler, tmp_path, monkeypatch):
    looks = []
    place_of = OrderStore.place_of
    monkeypatch.setattr(OrderStore, "place_of", lambda *asked: looks.append(asked) or place_of(*asked))
    scheduler.pace = replace(scheduler.pace, grace_s=60.0)  # on a busy machine none goes out again
    session = session_of(scheduler, tmp_path)
    names = [f"s{number}" for number in range(8)]
    for name in names:
        session.submit(orders.make(name))
    problems, _ = ends(session)
    assert set(problems.values()) == {""}
    assert len(scheduler.submitted) == 1
    assert len(looks) <= 2 * len(names), "once when it is taken back, once when its batch is removed"
    session.close(cancel=False)
    assert not (tmp_path / "results" / ".cluster" / "batches").exists()


def test_lines_that_a_killed_command_has_copied_are_not_copied_again(orders, scheduler, tmp_path):
    order = orders.make("ann")
    session = session_of(scheduler, tmp_path)
    session.submit(order)
    ends(session)
    lines = (order.outbox / EVIDENCE).read_bytes().splitlines()
    (order.outbox / EVIDENCE).write_bytes(b"\n".join([*lines[:2], b'{"record": "torn']))
    assert append_records(lines, order.outbox, 0.0) == tuple(lines[2:])
    assert (order.outbox / EVIDENCE).read_bytes().splitlines() == lines
    for line in (b"torn", b"[]", b"{}", b'{"record": "praise"}', b'{"record": "run", "run": 1}'):
        with pytest.raises(NotObservedError, match="is not a record of a run"):
            append_records([line], order.outbox, 0.0)
    assert (order.outbox / EVIDENCE).read_bytes().splitlines() == lines


@pytest.mark.parametrize("ahead_s", [3600.0, -3600.0])
def test_a_record_by_a_wrong_clock_gets_the_time_of_the_host(orders, scheduler, tmp_path, ahead_s):
    order = orders.make("ann")
    session = session_of(scheduler, tmp_path)
    session.submit(order)
    ends(session)
    lines = (order.outbox / EVIDENCE).read_bytes().splitlines()
    outbox = tmp_path / "other"
    outbox.mkdir()
    before, after = (
        json.loads(each[0])["run"]["started_at"] for each in (lines, append_records(lines, outbox, ahead_s))
    )
    moments = [time.mktime(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S")) for text in (before, after)]
    assert moments[0] - moments[1] == ahead_s


def test_an_order_for_less_of_the_same_is_found_and_one_for_another_submission_replaces_it(
    orders, scheduler, tmp_path
):
    scheduler.submits = False
    order = orders.make("ann")
    first = session_of(scheduler, tmp_path, detach=True)
    first.submit(order)
    ends(first)
    (batch,) = scheduler.submitted
    scheduler.over[batch.name, 0] = TaskState(phase=TaskPhase.WAITING, words="Priority")
    less = again(replace(order, job=replace(order.job, tasks=order.job.tasks[1:])))
    second = session_of(scheduler, tmp_path, detach=True)
    second.submit(less)
    ends(second)
    assert scheduler.submitted == [batch]
    newer = replace(order.job, submission=replace(order.job.submission, digest="sha256:1"))
    third = session_of(scheduler, tmp_path, detach=True)
    third.submit(again(replace(order, job=newer)))
    ends(third)
    assert len(scheduler.submitted) == 2
    assert scheduler.cancelled == [batch.name]


def test_an_edit_of_the_course_replaces_what_waits_and_reaches_nothing_that_runs(orders, scheduler, tmp_path):
    scheduler.submits = False
    order = orders.make("ann")
    first = session_of(scheduler, tmp_path, detach=True)
    first.submit(order)
    ends(first)
    with (Path(order.job.assignment_folder) / "assignment.py").open("a") as file:
        file.write("\n# edited\n")
    root = tmp_path / "results" / ".cluster"
    assert not any(
        "# edited" in copy.read_text() for copy in root.glob("courses/*/assignments/kit/assignment.py")
    )
    second = session_of(scheduler, tmp_path, detach=True)
    second.submit(again(order))
    ends(second)
    assert scheduler.cancelled == [scheduler.submitted[0].name]
    assert len(scheduler.submitted) == 2


def test_a_batch_of_which_the_scheduler_never_heard_is_sent_again_under_its_name(orders, scheduler, tmp_path):
    scheduler.away = "it sleeps"
    first = session_of(scheduler, tmp_path, detach=True)
    first.submit(orders.make("ann"))
    first.event()
    first.close(cancel=False)
    assert scheduler.submitted == []
    scheduler.away = ""
    second = session_of(scheduler, tmp_path)
    second.submit(again(orders_of(tmp_path, "ann")))
    problems, _ = ends(second)
    assert set(problems.values()) == {""}
    assert len(scheduler.submitted) == 1


def orders_of(tmp_path, key):
    """Return an order that was made before."""
    stored = OrderStore(tmp_path / "results" / ".cluster").read(key)
    assert stored is not None
    from grader.contracts.engine import Order

    job = replace(
        stored.job,
        course=str(tmp_path / "course"),
        workspace=str(tmp_path / "workspaces" / key),
        seed="5eed",
    )
    return Order(key=key, job=job, outbox=Path(stored.outbox))


def test_a_task_that_never_begins_is_sent_twice_and_its_last_line_is_told(orders, scheduler, tmp_path):
    scheduler.pace = replace(scheduler.pace, grace_s=0.0)
    scheduler.setup = "echo no such module >&2; exit 1"
    session = session_of(scheduler, tmp_path)
    session.submit(orders.make("ann"))
    problems, _ = ends(session)
    assert problems["ann"] == (
        "its task ended 2 times before grader began there (finished on here; no such module); "
        "see `setup` and `command`, and grader doctor --engine the scheduler"
    )
    assert len(scheduler.submitted) == 2


def test_what_somebody_cancelled_after_the_command_that_sent_it_is_sent_anew(orders, scheduler, tmp_path):
    scheduler.submits = False
    made = [orders.make(name) for name in ("ann", "bob", "cy")]
    first = session_of(scheduler, tmp_path, detach=True)
    for order in made:
        first.submit(order)
    ends(first)
    first.close(cancel=False)
    (batch,) = scheduler.submitted
    scheduler.over[batch.name, REST] = TaskState(phase=TaskPhase.CANCELLED, words="CANCELLED")
    scheduler.submits = True
    second = session_of(scheduler, tmp_path)
    for order in made:
        second.submit(again(order))
    messages, problems = [], {}
    while event := second.event():
        if isinstance(event, QueueStatus):
            messages.append(event.message)
        elif isinstance(event, Ended):
            problems[event.order.key] = event.problem
    assert set(problems.values()) == {""}
    assert sum("cancelled since an earlier command (CANCELLED); sending" in text for text in messages) == 1
    assert len(scheduler.submitted) == 2
    assert [len(runs(order)) for order in made] == [1] * 3
    second.close(cancel=False)


def test_what_is_cancelled_again_and_again_is_sent_as_often_as_anything_else(orders, scheduler, tmp_path):
    scheduler.submits = False
    scheduler.pace = replace(scheduler.pace, grace_s=0.0)
    order, problems = orders.make("ann"), []
    while problems in ([], [COLLECTED_LATER] * len(problems)):
        session = session_of(scheduler, tmp_path, detach=True)
        session.submit(again(order))
        problems += ends(session)[0].values()
        session.close(cancel=False)
        cancelled = TaskState(phase=TaskPhase.CANCELLED, words="CANCELLED")
        scheduler.over[scheduler.submitted[-1].name, 0] = cancelled
        assert len(problems) < 9
    assert problems[-1] == "its task ended 4 times without it (CANCELLED); run again"
    assert len(scheduler.submitted) == task_ends_module.SENDS


@pytest.mark.parametrize("folders", [("", "new"), ("old", ""), ("old", "new")])
def test_orders_of_another_folder_are_collected_there_and_later_ones_go_where_settings_say(
    orders, scheduler, tmp_path, folders
):
    scheduler.submits = False
    before, after = (str(tmp_path / folder) if folder else "" for folder in folders)
    made = [orders.make(name) for name in ("ann", "bob")]
    first = session_of(scheduler, tmp_path, before, detach=True)
    first.submit(made[0])
    ends(first)
    root = first._ledger.store.root
    first.close(cancel=False)
    scheduler.submits = True
    scheduler.begin(scheduler.submitted[0], root, 0)
    second = session_of(scheduler, tmp_path, after)
    second.submit(again(made[0]))
    problems, lines = ends(second)
    assert problems == {"ann-again": ""}
    assert len(lines["ann-again"]) == 4
    assert len(scheduler.submitted) == 1
    second.close(cancel=False)
    third = session_of(scheduler, tmp_path, after)
    third.submit(made[1])
    assert third._ledger.store.root == orders_folder(tmp_path / "results", after)
    assert third._ledger.store.root != root
    third.close(cancel=True)
    assert not [*(tmp_path / "results").glob(".cluster_*")]
    shared = {entry.name for folder in (before, after) if folder for entry in Path(folder).iterdir()}
    assert shared <= {"durations.json"}, "nothing of a results folder stays there"


@pytest.mark.parametrize(
    ("phase", "begun", "problem"),
    [
        (TaskPhase.CANCELLED, False, "somebody cancelled its task (CANCELLED)"),
        (TaskPhase.OUT_OF_TIME, True, "at its time limit"),
        (TaskPhase.OUT_OF_MEMORY, True, "more memory than it was given"),
    ],
)
def test_each_end_of_a_task_has_its_words(orders, scheduler, tmp_path, phase, begun, problem):
    scheduler.submits = False
    session = session_of(scheduler, tmp_path)
    session.submit(orders.make("ann"))
    session._send(session._ledger)
    (batch,) = scheduler.submitted
    root = tmp_path / "results" / ".cluster"
    if begun:
        writer = JournalWriter(journals_of(folder_of(root, batch.name), 0) / "1.jsonl", 0.0)
        writer.write(JournalEntry.BEGUN, order="ann", node="n1")
        writer.close()
    scheduler.over[batch.name, 0] = TaskState(phase=phase, words=phase.name)
    problems, _ = ends(session)
    assert problem in problems["ann"]


def test_a_lost_task_is_sent_again_and_graded_once(orders, scheduler, tmp_path):
    scheduler.submits = False
    order = orders.make("ann")
    session = session_of(scheduler, tmp_path)
    session.submit(order)
    session._send(session._ledger)
    (batch,) = scheduler.submitted
    scheduler.submits = True
    scheduler.over[batch.name, 0] = TaskState(phase=TaskPhase.LOST, words="NODE_FAIL")
    problems, lines = ends(session)
    assert problems == {"ann": ""}
    assert len(lines["ann"]) == 4
    assert scheduler.cancelled == [batch.name, scheduler.submitted[1].name]


def test_a_refusal_of_the_scheduler_is_the_problem_of_every_order(orders, scheduler, tmp_path):
    def refuse(*_):
        raise SchedulerRefusedError("Invalid account")

    scheduler.submit = refuse
    session = session_of(scheduler, tmp_path)
    session.submit(orders.make("ann"))
    session.submit(orders.make("bob"))
    problems, _ = ends(session)
    assert set(problems.values()) == {"The scheduler refused it: Invalid account"}


class FullScheduler(HereScheduler):
    """A scheduler with a limit for tasks that wait or run."""

    room = 2

    def submit(self, batch, root, folder):
        open_tasks = sum(process.poll() is None for process in self.running.values())
        if open_tasks + len(batch.packs) > self.room:
            raise SchedulerFullError("QOSMaxSubmitJobPerUserLimit")
        super().submit(batch, root, folder)


@pytest.mark.parametrize("detach", [False, True])
def test_where_a_scheduler_takes_few_tasks_a_class_goes_out_in_small_batches(
    orders, tmp_path, monkeypatch, detach
):
    monkeypatch.setattr(planner_module, "pack_sizes", lambda count, *_, **__: (1,) * count)
    scheduler = FullScheduler()
    made = [orders.make(f"s{number}") for number in range(9)]
    session = session_of(scheduler, tmp_path, detach=detach)
    for order in made:
        session.submit(order)
    problems, _ = ends(session)
    if detach:
        session = session_of(scheduler, tmp_path)
        for order in made:
            if problems[order.key] == COLLECTED_LATER:
                session.submit(again(order))
        assert session._ledger.tasks
        assert not session._ledger.waiting, "all were sent before it ended"
        later, _ = ends(session)
        problems = {key: problem for key, problem in problems.items() if not problem} | later
    assert len(problems) == 9
    session.close(cancel=True)
    scheduler.end()
    assert set(problems.values()) == {""}
    assert [len(runs(order)) for order in made] == [1] * 9
    assert max(len(batch.packs) for batch in scheduler.submitted) == 2


def test_a_scheduler_that_is_full_of_others_tasks_is_waited_for_with_words(orders, tmp_path):
    scheduler = FullScheduler()
    scheduler.room = 0
    session = session_of(scheduler, tmp_path)
    order = orders.make("ann")
    session.submit(order)
    messages = [session.event().message]
    scheduler.room = 1
    while not isinstance(event := session.event(), Ended):
        messages += [event.message] if isinstance(event, QueueStatus) else []
    session.close(cancel=True)
    scheduler.end()
    words = "The scheduler takes no more tasks at the moment (QOSMaxSubmitJobPerUserLimit); waiting"
    assert messages[0] == words
    assert messages.count(words) == 1
    assert event.problem == ""


def test_what_does_not_end_before_the_deadline_of_its_task_stays_open_with_what_was_observed(
    orders, scheduler, tmp_path
):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    session = session_of(scheduler, tmp_path)
    session.submit(orders.make("stays", fifo=str(fifo)))
    session._send(session._ledger)
    assert read_within(reader) == b"here"
    ((name, number), task), *_ = scheduler.running.items()
    journals = TaskJournals(journals_of(folder_of(session._ledger.store.root, name), number))
    while not ("stays" in journals.orders and len(journals.orders["stays"].lines) == 2):
        assert task.poll() is None
        journals.read()
    task.send_signal(signal.SIGALRM)  # as the timer does at the deadline
    problems, lines = ends(session)
    os.close(reader)
    assert problems["stays"] == "it did not end within the time of its task (10 minutes); raise `time`"
    assert len(lines["stays"]) == 2, "what was observed until then counts"


def test_a_task_begins_nothing_that_would_not_end_before_its_deadline(orders, tmp_path):
    store = OrderStore.at(tmp_path / "orders_folder")
    stored = store.store(orders.make("ann"), Wants())
    batch = Batch(name="grader-1", packs=((stored.key,),), wants=Wants(), cores=1, time_s=600.0)
    store.place(stored.key, BatchPlace(batch=batch.name, task=0))
    deadline = time.monotonic() + 3600
    journal = JournalWriter(tmp_path / "journal", deadline)
    pack = _Pack(store, batch, journal, deadline, deque([stored.key]))
    pack._longest_s = 3600.0
    assert pack._next(tmp_path) is None
    pack._longest_s = 2000.0
    assert pack._next(tmp_path).key == "ann"
    journal.close()


def test_an_order_that_ran_out_of_a_short_time_gets_all_that_there_may_be(
    orders, scheduler, tmp_path, monkeypatch
):
    monkeypatch.setattr(planner_module, "SHORTEST_S", 0.2)
    monkeypatch.setattr(task_ends_module, "SENDS", 100)  # on a busy machine its time is over before it begins
    scheduler.time_s = 600.0
    order = orders.make("ann")
    session = session_of(scheduler, tmp_path)
    monkeypatch.setattr(session_module.Durations, "expected", lambda *_: 0.01)
    session.submit(order)
    problems, _ = ends(session)
    assert problems == {"ann": ""}
    *short, full = [batch.time_s for batch in scheduler.submitted]
    assert short
    assert all(time_s == pytest.approx(0.21) for time_s in short)
    assert full == 600.0
    assert len(runs(order)) == 1


def test_ctrl_c_cancels_what_is_open(orders, scheduler, tmp_path):
    scheduler.submits = False
    session = session_of(scheduler, tmp_path)
    session.submit(orders.make("ann"))
    session._send(session._ledger)
    session.close(cancel=True)
    assert scheduler.cancelled
    assert not (tmp_path / "results" / ".cluster").exists()


def test_a_message_is_told_again_ever_more_seldom_and_at_once_when_it_changes(monkeypatch):
    clock = iter(range(1000, 2001))
    monkeypatch.setattr("grader.engines.remote.status.time.monotonic", lambda: next(clock))
    repeated = Repeated()
    told = [at for at in range(1000, 2000) if repeated.is_due("waiting")]
    assert told == [1000, 1060, 1180, 1420, 1900]
    assert repeated.is_due("running")


def test_progress_says_where_orders_run_and_what_the_others_wait_for():
    def task(phase, count, **values):
        journals = TaskJournals(Path("nowhere"))
        state = TaskState(phase=phase, **values)
        return OpenTask(journals=journals, orders=dict.fromkeys(map(str, range(count)))), state

    of = {
        ("b", 0): task(TaskPhase.RUNNING, 2, words="RUNNING", node="n2"),
        ("b", 1): task(TaskPhase.RUNNING, 3, words="RUNNING", node="n1"),
        ("b", 2): task(TaskPhase.WAITING, 4, words="Priority", begins="14:20"),
        ("b", 3): task(TaskPhase.WAITING, 1, words="Resources", begins="15:00"),
    }
    tasks = {place: task for place, (task, _) in of.items()}
    states = {place: state for place, (_, state) in of.items()}
    assert queue_status(tasks, states, 6) == (
        "5 on n1, n2 · 5 waiting (Priority, Resources, first about 14:20) · 6 to be sent"
    )
    assert queue_status({}, {}, 0) == ""


# -- journals ------------------------------------------------------------------------------------------------


def write(folder, attempt, *entries):
    file = folder / f"{attempt}.jsonl"
    with file.open("a") as journal:
        for entry, key, *values in entries:
            line = {
                "entry": entry,
                "order": key,
                "node": "n",
                "problem": "",
                "seconds": 1.0,
                "out_of_time": False,
            }
            journal.write(json.dumps(line | ({"line": values[0]} if values else {})) + "\n")


def test_what_an_old_attempt_writes_after_a_newer_one_began_an_order_counts_for_nothing(tmp_path):
    old, new = "000000000007.0000", "000000000007.0001"
    journals = TaskJournals(tmp_path)
    write(
        tmp_path, old, ("begun", "ann"), ("record", "ann", "old 1"), ("begun", "bob"), ("record", "bob", "b")
    )
    journals.read()
    write(tmp_path, new, ("begun", "ann"), ("record", "ann", "new 1"))
    journals.read()
    write(tmp_path, old, ("record", "ann", "old 2"), ("ended", "ann"), ("ended", "bob"))
    journals.read()
    assert journals.orders["ann"].lines == [b"new 1"]
    assert not journals.orders["ann"].ended
    assert journals.orders["bob"].ended, "which the newer attempt has not begun"
    write(tmp_path, old, ("begun", "ann"), ("record", "ann", "old 3"), ("ended", "ann"))
    write(tmp_path, new, ("ended", "ann"))
    journals.read()
    assert journals.orders["ann"].lines == [b"new 1"]
    assert journals.orders["ann"].ended


def test_a_newer_attempt_leaves_out_what_an_older_one_has_ended(tmp_path):
    write(tmp_path, "1.0000", ("begun", "ann"), ("ended", "ann"), ("begun", "bob"))
    write(tmp_path, "1.0002", ("begun", "bob"), ("ended", "bob"))
    assert ended_orders(tmp_path, "1.0001.jsonl") == {"ann"}


def test_a_torn_line_waits_for_its_end(tmp_path):
    journals = TaskJournals(tmp_path)
    whole = json.dumps({"entry": "begun", "order": "ann", "node": "n"}) + "\n"
    (tmp_path / "1.jsonl").write_text(whole[:10])
    assert not journals.read()
    (tmp_path / "1.jsonl").write_text(whole)
    assert journals.read()
    assert "ann" in journals.orders


def test_where_there_is_no_room_a_journal_waits_and_loses_nothing(tmp_path, monkeypatch):
    place = tmp_path / "small"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", place], check=False).returncode:
        pytest.skip("nothing may be mounted here")
    try:
        writer = JournalWriter(place / "1.jsonl", time.monotonic() + 3600)
        filler = place / "filler"
        with filler.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(4096))
        monkeypatch.setattr(journal_module.time, "sleep", lambda _: filler.unlink())
        writer.write(JournalEntry.RECORD, order="ann", line="x" * 9000)
        writer.write(JournalEntry.ENDED, order="ann")
        assert not filler.exists(), "it had to wait"
        lines = [json.loads(line) for line in (place / "1.jsonl").read_text().splitlines()]
        assert [line["entry"] for line in lines] == ["record", "ended"]
        writer.close()
    finally:
        subprocess.run(["umount", place], check=True)


def test_a_journal_gives_up_at_its_deadline(tmp_path, monkeypatch):
    writer = JournalWriter(tmp_path / "1.jsonl", 0.0)

    def full(*_):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(journal_module.os, "pwrite", full)
    with pytest.raises(OSError, match="full"):
        writer.write(JournalEntry.ENDED)


# -- packs ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("each_s", [None, 0.25, 30.0, 900.0])
@pytest.mark.parametrize("count", [0, 1, 7, 300, 10_000])
@pytest.mark.parametrize("tasks", [1, 5, 1000])
def test_packs_hold_every_order_once_and_are_no_more_than_an_array_may_have(count, each_s, tasks):
    sizes = pack_sizes(count, 12, 2, each_s=each_s, first=8, tasks=tasks)
    assert sum(sizes) == count
    assert len(sizes) <= tasks
    assert all(size > 0 for size in sizes)


def test_while_nothing_is_known_slow_orders_are_spread_and_quick_ones_share_a_start():
    assert pack_sizes(12, 12, 1, each_s=None, first=8, tasks=1000) == (1,) * 12
    assert len(pack_sizes(120, 6, 2, each_s=None, first=8, tasks=1000)) <= 15


def test_packs_last_minutes_and_the_last_ones_are_small():
    sizes = pack_sizes(3000, 12, 1, each_s=30.0, first=8, tasks=1000)
    assert max(sizes) * 30.0 <= 450.0
    assert sizes[-2] == 2, "a minute: less is not worth the start of a worker"
    assert list(sizes) == sorted(sizes, reverse=True)


def test_no_place_stays_empty_for_the_sake_of_a_start():
    assert pack_sizes(12, 12, 1, each_s=30.0, first=8, tasks=1000) == (1,) * 12
    assert pack_sizes(24, 12, 1, each_s=30.0, first=8, tasks=1000) == (2,) * 12
    assert pack_sizes(30, 12, 1, each_s=10.0, first=8, tasks=1000) == (2,) * 15


def test_what_is_over_in_a_moment_is_not_divided_into_moments():
    assert len(pack_sizes(24, 100, 2, each_s=0.25, first=8, tasks=1000)) == 1
    assert pack_sizes(300, 1, 2, each_s=0.25, first=8, tasks=1000)[0] >= 150


# -- machines ------------------------------------------------------------------------------------------------


def test_a_machine_refuses_another_grader_another_python_and_other_gpus(tmp_path):
    batch = Batch(name="grader-1", packs=(), wants=Wants(), cores=1, time_s=60.0)
    assert objection(batch) == ""
    assert "runs grader" in objection(replace(batch, grader="0.0.1"))
    assert "runs Python" in objection(replace(batch, python="3.2.1"))
    assert "2 GPUs were granted and 0 can be used" in objection(replace(batch, wants=Wants(gpus=2)))


def test_a_refusal_of_a_machine_ends_its_orders_and_nothing_is_sent_again(
    orders, scheduler, tmp_path, monkeypatch
):
    monkeypatch.setattr(planner_module, "Batch", lambda **values: Batch(**values, grader="0.0.1"))
    session = session_of(scheduler, tmp_path)
    session.submit(orders.make("ann"))
    problems, _ = ends(session)
    assert "runs grader" in problems["ann"]
    assert len(scheduler.submitted) == 1


def test_a_machine_without_the_shared_folder_says_so(tmp_path, capsys):
    assert observe_pack(tmp_path / "orders", "grader-1", 0, "1") == 1
    told = capsys.readouterr().err
    assert told.startswith(f"{tmp_path}/orders: is not there on ")
    assert "share the folder of orders with it" in told


def test_a_task_whose_orders_were_taken_back_does_nothing(orders, tmp_path):
    store = OrderStore.at(tmp_path / "orders_folder")
    stored = store.store(orders.make("ann"), Wants())
    batch = Batch(name="grader-1", packs=((stored.key,),), wants=Wants(), cores=1, time_s=60.0)
    folder = write_batch(store.root, batch)
    store.place(stored.key, BatchPlace(batch="grader-2", task=0))
    command = [
        sys.executable,
        "-P",
        "-m",
        "grader.engines.remote",
        str(store.root),
        batch.name,
        "0",
        "1",
        "0",
    ]
    subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": str(ROOT)}, timeout=600)
    entries = [
        json.loads(line)["entry"] for line in next(journals_of(folder, 0).iterdir()).read_text().splitlines()
    ]
    assert entries == ["opened", "closed"]


@pytest.mark.parametrize(("granted", "wait_s"), [(10_000, 60), (0, 1800)])
def test_a_task_waits_a_minute_for_leases_where_it_is_confined_to_its_cores(
    orders, tmp_path, granted, wait_s
):
    store = OrderStore.at(tmp_path / "orders_folder")
    stored = store.store(orders.make("ann"), Wants())
    batch = Batch(name="grader-1", packs=((stored.key,),), wants=Wants(), cores=granted, time_s=600.0)
    store.place(stored.key, BatchPlace(batch=batch.name, task=0))
    journal = JournalWriter(tmp_path / "journal", time.monotonic() + 60)
    pack = _Pack(store, batch, journal, time.monotonic() + 600, deque([stored.key]))
    order = pack._next(tmp_path)
    journal.close()
    assert order.job.lease_wait_s == wait_s


def test_a_signal_ends_the_workers_of_a_task(orders, scheduler, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    session = session_of(scheduler, tmp_path)
    session.submit(orders.make("stays", fifo=str(fifo)))
    session._send(session._ledger)
    assert read_within(reader) == b"here"
    ((_, process),) = scheduler.running.items()
    process.send_signal(signal.SIGTERM)
    process.wait()
    assert read_within(reader) == b"", "the worker still runs"
    os.close(reader)


def test_a_results_folder_without_room_for_the_place_of_orders_is_the_problem_of_the_order(
    orders, scheduler, tmp_path, monkeypatch
):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("grader.engines.remote.earlier.write_whole", full)
    session = session_of(scheduler, tmp_path, str(tmp_path / "shared"))
    session.submit(orders.make("ann"))
    problems, _ = ends(session)
    assert "No space left" in problems["ann"]


def test_a_store_that_cannot_be_written_is_the_problem_of_the_order(orders, scheduler, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("grader.engines.remote.stored.write_whole", full)
    session = session_of(scheduler, tmp_path)
    session.submit(orders.make("ann"))
    problems, _ = ends(session)
    assert "No space left" in problems["ann"]
    with pytest.raises(NotObservedError):
        OrderStore(tmp_path / "x").store(orders.make("bob"), Wants())


def test_a_course_that_finds_no_room_is_told_in_one_line(orders, scheduler, tmp_path, monkeypatch):
    def full(*_, **__):
        raise shutil.Error(
            [("a.py", "b.py", f"[Errno 28] No space left on device: 'a.py' -> '{tmp_path}/b'")] * 3
        )

    monkeypatch.setattr("grader.engines.remote.stored.shutil.copytree", full)
    session = session_of(scheduler, tmp_path)
    session.submit(orders.make("ann"))
    problems, _ = ends(session)
    assert "cannot be written (No space left on device); make room there" in problems["ann"]
    assert "Errno" not in problems["ann"]


def test_a_script_that_finds_no_room_is_no_scheduler_that_is_away(orders, scheduler, tmp_path):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    scheduler.submit = full
    session = session_of(scheduler, tmp_path)
    session.submit(orders.make("ann"))
    problems, _ = ends(session)
    assert "cannot be written (No space left on device)" in problems["ann"]


@pytest.mark.parametrize(
    ("least", "demanded"),
    [
        ("", "namespaces"),
        ("process", "namespaces"),
        ("landlock", "namespaces"),
        ("namespaces", "namespaces"),
        ("bubblewrap", "bubblewrap"),
        ("a guest's", "a guest's"),
    ],
)
def test_behind_a_weak_wall_nothing_runs_whatever_the_course_allows(least, demanded):
    assert demanded_isolation(least) == demanded


def test_a_batch_that_is_replaced_while_its_worker_goes_on_leaves_no_record(orders, scheduler, tmp_path):
    """The scheduler forgets a task whose worker runs: the order goes out again, and the first one is late."""
    scheduler.submits = False
    order = orders.make("ann")
    session = session_of(scheduler, tmp_path)
    session.submit(order)
    session._send(session._ledger)
    (first,) = scheduler.submitted
    root = tmp_path / "results" / ".cluster"
    writer = JournalWriter(journals_of(folder_of(root, first.name), 0) / "000000000009.0000.jsonl", 0.0)
    writer.write(JournalEntry.OPENED, node="n1", clock_ahead_s=0.0)
    writer.write(JournalEntry.BEGUN, order="ann", node="n1")
    session._collect(session._ledger)
    scheduler.submits = True
    scheduler.over[first.name, 0] = TaskState(phase=TaskPhase.LOST, words="NODE_FAIL")
    late = b'{"record":"end","run":"late"}'
    collect = session._collect

    def collect_after_a_late_record(ledger):
        if len(scheduler.submitted) == 2:
            writer.write(JournalEntry.RECORD, order="ann", line=late.decode())
            writer.write(JournalEntry.ENDED, order="ann", problem="", seconds=1.0, out_of_time=False)
        collect(ledger)

    session._collect = collect_after_a_late_record
    problems, lines = ends(session)
    writer.close()
    assert problems == {"ann": ""}
    assert late not in lines["ann"]
    assert len(runs(order)) == 1
    assert len(scheduler.submitted) == 2
