"""An engine that raises, or gives nonsense, costs nobody anything: its orders were not observed."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace

import pytest

from grader.config.course import load_course
from grader.contracts.engine import Ended, Engine, Records, Waits
from grader.errors import ExitCode, UsageError
from grader.grading.grade import Grading
from grader.grading.sessions import open_session
from grader.grading.submission import CourseFiles, Request
from grader.plugins import Plugins
from tests.grading.test_marks_and_files import course

__all__ = ["course"]


class Well(Engine):
    """An engine that ends every order at once."""

    name = "mine"

    def __init__(self):
        self.orders = []
        self.closed = False

    @contextmanager
    def open(self, settings):
        try:
            yield self
        finally:
            self.closed = True

    def wants(self):
        return True

    def submit(self, order):
        self.orders.append(order)

    def event(self):
        return Ended(order=self.orders.pop()) if self.orders else None


class NeverWants(Well):
    def wants(self):
        return False


class Exits(Well):
    def submit(self, order):
        raise SystemExit(0)


class CannotOpen(Well):
    def open(self, settings):
        raise RuntimeError("no such queue\nforged line")


class NeedsAFile(Well):
    def open(self, settings):
        raise UsageError("mine.yaml: is not there; write it")


class CannotEnter(Well):
    @contextmanager
    def open(self, settings):
        raise OSError(5, "the wire is cut")
        yield


class CannotWant(Well):
    def wants(self):
        raise KeyError("queue")


class CannotSubmit(Well):
    def submit(self, order):
        raise ValueError("too large")


class CannotSay(Well):
    def event(self):
        raise ConnectionResetError(104, "reset by peer")


class Nonsense(Well):
    def event(self):
        return "done"


class AnotherOrder(Well):
    def event(self):
        return Ended(order=replace(self.orders[0], key="nobody's"))


class EndsTwice(Well):
    def event(self):
        return Ended(order=self.orders[0])


class Garbage(Well):
    def event(self):
        return Records(order=self.orders[0], lines=("not bytes",))


class CannotEnd(Well):
    @contextmanager
    def open(self, settings):
        yield self
        raise RuntimeError("the queue is gone")


class WaitsForNothing(Well):
    def event(self):
        return Waits(order=self.orders[0], message=None)


class Forges(Well):
    def event(self):
        ended = super().event()
        return ended and replace(ended, problem="broken\ntotal 10 / 10")


@pytest.fixture
def graded(course):
    """Grades a class of three with an engine; gives the results and what was told of waiting."""

    def run(engine):
        plugins = Plugins(course)
        plugins.engines["mine"] = engine
        files = CourseFiles(load_course(course), plugins)
        requests = [
            Request(archive=course / "ann", out=course / "results", student=name) for name in ("a", "b", "c")
        ]
        with open_session(plugins, "mine", out=course / "results") as session:
            return dict(Grading(files, session, alone=False).grade(requests))

    return run


@pytest.mark.parametrize(
    ("engine", "why"),
    [
        (CannotOpen, "RuntimeError: no such queue\\nforged line"),
        (NeedsAFile, "mine.yaml: is not there; write it"),
        (CannotEnter, "the wire is cut"),
        (CannotWant, "KeyError: 'queue'"),
        (CannotSubmit, "ValueError: too large"),
        (Exits, "SystemExit: 0"),
        (CannotSay, "reset by peer"),
        (Nonsense, "'str' object has no attribute 'order'"),
        (AnotherOrder, "nobody's"),
        (EndsTwice, "which is no open order"),
        (Garbage, "not bytes"),
        (WaitsForNothing, "TypeError"),
        (Forges, "broken\\ntotal 10 / 10"),
    ],
)
def test_nobody_is_graded_by_it_and_everybody_is_told_why_in_one_line(graded, engine, why):
    broken = engine()
    results = graded(broken)
    assert sorted(results) == [0, 1, 2]
    for number, result in results.items():
        assert not isinstance(result, Exception), (number, result)
        assert result.exit_code is ExitCode.NOT_OBSERVED
        assert "\n" not in result.trouble
        assert not result.evidence.observations
        assert not result.final
    assert any(why in result.trouble for result in results.values())


def test_an_engine_that_never_wants_an_order_gets_one_after_the_other(graded):
    assert sorted(graded(NeverWants())) == [0, 1, 2]


@pytest.mark.parametrize("engine", [CannotSubmit, CannotSay, Nonsense])
def test_what_it_holds_is_given_back(graded, engine):
    broken = engine()
    graded(broken)
    assert broken.closed


def test_an_engine_that_cannot_end_breaks_nothing_that_is_done(graded):
    results = graded(CannotEnd())
    assert sorted(results) == [0, 1, 2]


def test_a_broken_engine_is_given_one_submission_after_the_other(graded, monkeypatch):
    """Three thousand open ones would be three thousand open files."""
    from grader.grading import grade

    most = [0]
    begin = grade.Grading._begin

    def counted(self, number, request):
        begin(self, number, request)
        most[0] = max(most[0], len(self._open))

    monkeypatch.setattr(grade.Grading, "_begin", counted)
    assert len(graded(CannotOpen())) == 3
    assert most == [1]


def test_however_many_an_engine_wants_so_many_are_open_at_most(graded, monkeypatch):
    from grader.grading import grade

    monkeypatch.setattr(grade, "OPEN_AT_MOST", 2)
    most = []

    class Counts(Well):
        def event(self):
            most.append(len(self.orders))
            return super().event()

    assert len(graded(Counts())) == 3
    assert max(most) == 2


class HasOneGpu(Well):
    """It observes nothing, on one GPU, and keeps every order."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def gpus(self):
        return 1

    def submit(self, order):
        super().submit(order)
        self.seen.append(order)


def test_what_was_left_over_on_a_shared_gpu_is_observed_on_one_of_its_own_before_what_needs_it(course):
    doubles = "check: matches_reference, of: work.double, inputs: numbers"
    items = [f"{{id: g{number}, title: t, points: 1, devices: {{gpu: 1}}, {doubles}}}" for number in range(4)]
    items.append(f"{{id: after, title: t, points: 6, needs: [g0], {doubles}}}")
    rubric = course / "rubrics" / "tiny.yaml"
    head = rubric.read_text().partition("items:")[0]
    rubric.write_text(head + "items:\n" + "".join(f"  - {item}\n" for item in items))
    plugins, engine = Plugins(course), HasOneGpu()
    plugins.engines["mine"] = engine
    files = CourseFiles(load_course(course), plugins)
    with open_session(plugins, "mine", out=course / "results") as session:
        grading = Grading(files, session, alone=True)
        dict(grading.grade([Request(archive=course / "ann", out=course / "results")]))
    orders = [([task.item for task in order.job.tasks], order.exclusive) for order in engine.seen]
    assert orders[:2] == [(["g1", "g3"], True), (["g0", "g2"], True)] or orders[:2] == [
        (["g0", "g2"], True),
        (["g1", "g3"], True),
    ]
    assert sorted(orders[2][0][:4]) == ["g0", "g1", "g2", "g3"]
    assert orders[2][0][4:] == ["after"]
    assert orders[2][1], "what leases a GPU never runs beside what is timed"
