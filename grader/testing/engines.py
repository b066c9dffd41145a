"""Conformance tests of engines that run workers on this machine (`grader.api.engine.Engine`).

An author derives a class in a file of tests, and names the engine:

    class TestOneByOne(EngineConformance):
        engine = OneByOne
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from pathlib import Path
from textwrap import dedent
from typing import ClassVar

import pytest

from grader.config.evidence_file import EVIDENCE
from grader.contracts.engine import Ended, Engine, EngineSettings, Event, Order, Records, Session
from grader.model.job import Job, Task
from grader.model.submission import Submission
from grader.testing.pipes import read_within

__all__ = ["EngineConformance"]

LINES = 4
"""Records of an order: a beginning, two observations and an end."""

ASSIGNMENT = '''
    """An assignment whose check does what its option says to the worker itself."""

    import os
    import signal
    from dataclasses import dataclass

    from grader.api import Assignment, hookimpl
    from grader.api.check import Award, CheckKind, Observation, Outcome, option


    class Acts(CheckKind):
        name = "acts"

        @dataclass(frozen=True, slots=True, kw_only=True)
        class Options:
            fifo: str = option("A FIFO that is held open until the worker is gone.", default="")
            dies: bool = option("Whether the worker is killed.", default=False)

        def observe(self, options, context):
            if options.dies:
                os.kill(os.getpid(), signal.SIGKILL)
            if options.fifo:
                os.write(os.open(options.fifo, os.O_WRONLY), b"here")
                while True:
                    signal.pause()
            return Observation(item=context.item, outcome=Outcome.OBSERVED, seed=context.seed)

        def award(self, options, observation, related):
            return Award(fraction=1.0, reason="it was observed")


    @hookimpl
    def grader_assignments():
        return [Assignment(name="kit", title="An assignment of a kit")]


    @hookimpl
    def grader_checks():
        return [Acts]
'''


class EngineConformance:
    """One test for each promise of an engine."""

    engine: ClassVar[type[Engine]]

    @pytest.fixture
    def orders(self, tmp_path: Path) -> Orders:
        """Return a course for which orders are made."""
        return Orders(tmp_path)

    def settings(self, at_once: int = 1) -> EngineSettings:
        """Return the settings of a command without a `course.yaml`."""
        return EngineSettings(at_once=at_once, options=self.engine.Options())

    def run(self, *orders: Order, at_once: int = 1) -> dict[str, list[Event]]:
        """Return the events of each order, in a session that gets all of them at its beginning."""
        with self.engine().open(self.settings(at_once=at_once)) as session:
            for order in orders:
                session.submit(order)
            events = _events_by_order(session)
            assert session.event() is None, "no order is open"
        assert set(events) <= {order.key for order in orders}
        return events

    def test_it_has_a_name_for_an_option(self) -> None:
        assert re.fullmatch("[a-z][a-z0-9_-]*", self.engine.name)

    def test_without_an_order_there_is_no_event(self) -> None:
        with self.engine().open(self.settings()) as session:
            assert session.wants()
            assert session.event() is None

    @pytest.mark.parametrize("at_once", [1, 2])
    def test_each_order_ends_once_behind_its_records(self, orders: Orders, at_once: int) -> None:
        every = [orders.make(str(number)) for number in range(3)]
        events = self.run(*every, at_once=at_once)
        for order in every:
            assert _problem(events[order.key]) == ""
            assert _lines(events[order.key]) == (order.outbox / EVIDENCE).read_bytes().splitlines()
            assert len(_lines(events[order.key])) == LINES

    def test_an_order_may_come_while_another_one_is_open(self, orders: Orders) -> None:
        first, second = orders.make("first"), orders.make("second")
        with self.engine().open(self.settings()) as session:
            session.submit(first)
            event = session.event()
            session.submit(second)
            events = _events_by_order(session)
        assert event is not None
        assert event.order == first
        assert [_problem(events[order.key]) for order in (first, second)] == ["", ""]

    def test_an_order_that_follows_an_end_hides_no_other(self, orders: Orders) -> None:
        first, second, following = (orders.make(name) for name in ("first", "second", "following"))
        ended = []
        with self.engine().open(self.settings(at_once=2)) as session:
            session.submit(first)
            session.submit(second)
            while event := session.event():
                if isinstance(event, Ended):
                    ended.append(event.order.key)
                    if len(ended) == 1:
                        session.submit(following)
        assert sorted(ended) == ["first", "following", "second"]

    def test_an_exclusive_order_is_observed(self, orders: Orders) -> None:
        order = orders.make("timed", exclusive=True, cores=1)
        assert _problem(self.run(order)[order.key]) == ""

    def test_lines_that_were_there_before_are_no_records_of_an_order(self, orders: Orders) -> None:
        order = orders.make("again")
        (order.outbox / EVIDENCE).write_bytes(b'{"record": "of an earlier run"}\n')
        assert len(_lines(self.run(order)[order.key])) == LINES

    def test_a_worker_that_is_killed_ends_its_order_and_no_other(self, orders: Orders) -> None:
        dying, well = orders.make("dying", dies=True), orders.make("well")
        events = self.run(dying, well)
        problem = _problem(events[dying.key])
        assert problem
        assert "\n" not in problem
        assert len(_lines(events[dying.key])) == 2, "the records before it was killed"
        assert _problem(events[well.key]) == ""

    def test_an_outbox_that_cannot_be_written_is_the_problem_of_its_order(self, orders: Orders) -> None:
        lost, well = orders.make("lost"), orders.make("well")
        lost.outbox.rmdir()
        events = self.run(lost, well)
        assert _problem(events[lost.key])
        assert _problem(events[well.key]) == ""

    def test_no_file_with_a_seed_is_left(self, orders: Orders) -> None:
        every = [orders.make("dying", dies=True), orders.make("well")]
        self.run(*every)
        assert [order.key for order in every if order.job_file.exists()] == []

    def test_a_session_that_is_left_ends_its_workers(self, orders: Orders, tmp_path: Path) -> None:
        fifo = tmp_path / "fifo"
        os.mkfifo(fifo)
        order = orders.make("waits", fifo=str(fifo))
        alive = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        with self.engine().open(self.settings()) as session:
            session.submit(order)
            assert isinstance(session.event(), Records), "of the first item"
            assert read_within(alive) == b"here"
        assert read_within(alive) == b"", "the worker still runs"
        os.close(alive)
        assert not order.job_file.exists()


class Orders:
    """A course on disk, and orders for items of its assignment."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._assignment = folder / "course" / "assignments" / "kit"
        self._assignment.mkdir(parents=True)
        (self._assignment / "assignment.py").write_text(dedent(ASSIGNMENT))

    def make(self, key: str, *, exclusive: bool = False, cores: int = 0, **options: object) -> Order:
        """Return an order of two items with an outbox of its own; the second one has the options."""
        tasks: dict[str, dict[str, object]] = {"first": {}, "second": options}
        outbox, workspace = (self._folder / name / key for name in ("outboxes", "workspaces"))
        outbox.mkdir(parents=True)
        workspace.mkdir(parents=True)
        job = Job(
            id=key,
            submission=Submission(student=key, assignment="kit", archive="", digest="sha256:0", files=()),
            course=str(self._folder / "course"),
            assignment_folder=str(self._assignment),
            workspace=str(workspace),
            tasks=tuple(Task(item=name, check="acts", options=keys) for name, keys in tasks.items()),
            seed="5eed",
        )
        return Order(key=key, job=job, outbox=outbox, exclusive=exclusive, cores=cores)


def _events_by_order(session: Session) -> dict[str, list[Event]]:
    events: dict[str, list[Event]] = defaultdict(list)
    while event := session.event():
        past = events[event.order.key]
        assert not any(isinstance(before, Ended) for before in past), "an order that has ended is told of"
        past.append(event)
    return events


def _problem(events: list[Event]) -> str:
    """Return the problem of an order that has ended."""
    assert events, "an order without an end"
    last = events[-1]
    assert isinstance(last, Ended)
    return last.problem


def _lines(events: list[Event]) -> list[bytes]:
    return [line for event in events if isinstance(event, Records) for line in event.lines]
