"""Where an item has a device its quick calls are made in a row; the first ones do not count."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from grader.checks import rounds as module
from grader.checks.calls import Oracle
from grader.checks.rounds import LEAD, LEAD_SPREAD, REPEATS, Runner, Schedule, timed_rounds
from grader.contracts.call import Burst, Call, InputCase
from grader.errors import CourseError
from grader.harness.item_context import Unwatched
from grader.model.observation import Outcome

LOOP_S, CALL_S, HANDING_OVER_S, COLD_S = 0.5, 0.005, 0.001, 0.012


def answer(value, wall_s):
    return Call(outcome=Outcome.OBSERVED, value=value, wall_s=wall_s, cpu_s=wall_s)


@dataclass
class PlayedSubject:
    """Doubles; the first calls of each burst take ten times as long."""

    wrong_at: int = -1
    """Which call of all is wrong."""
    alone_s: float = LOOP_S
    """What a call takes that stands for itself."""
    bursts: list[int] = field(default_factory=list)
    seen: list[float] = field(default_factory=list)
    last: object = None

    def give(self, case, wall_s):
        (x,) = case.args
        self.seen.append(float(x[0]))
        self.last = 2 * x if len(self.seen) - 1 != self.wrong_at else x
        return answer(self.last, wall_s)

    def call(self, function, case):
        return self.give(case, self.alone_s)

    def again(self, case):
        return answer(self.last, HANDING_OVER_S)

    def burst(self, function, cases, *, again=0):
        self.bursts.append(len(cases))
        calls = [self.give(case, COLD_S if n < LEAD else CALL_S) for n, case in enumerate(cases)]
        return Burst(calls=tuple(calls), again=tuple(self.again(cases[-1]) for _ in range(again)))


@dataclass
class PlayedContext:
    devices: int = 1
    size: int = 4
    quiet: Unwatched = field(default_factory=Unwatched)
    numbers: list[int] = field(default_factory=list)

    def draw(self, family, number):
        self.numbers.append(number)
        return (InputCase(name="x", args=(np.full(self.size, float(number + 1)),)),)


def runners(**subjects):
    return {
        name: Runner(
            subject=subjects.get(name) or PlayedSubject(alone_s=COLD_S if name.endswith("of") else LOOP_S),
            function="f",
            ours=name.startswith("reference"),
            quick=name.endswith("of"),
        )
        for name in ("of", "reference_of", "over", "reference_over")
    }


MANY = 120
"""Rounds in which each of a few lengths that are drawn surely comes; of 20 one is missing once in 1,000."""


def timed(context, runners, least=20):
    schedule = Schedule(least=least, budget_s=1e9, decided=lambda rounds: True)
    return timed_rounds(
        context, runners, "numbers", Oracle(lambda x: 2 * x), loop="reference_over", schedule=schedule
    )


def test_the_first_calls_of_a_burst_do_not_count():
    four = runners()
    rounds = timed(PlayedContext(), four, least=MANY)
    assert rounds.undisturbed == MANY
    for side in ("of", "reference_of"):
        assert rounds.samples[side] == [pytest.approx(CALL_S - HANDING_OVER_S)] * MANY
        lengths = set(four[side].subject.bursts)
        assert lengths == {LEAD + n + REPEATS for n in range(LEAD_SPREAD)}, "a program could count its calls"
        assert rounds.first_call_s[side] == COLD_S


def test_no_two_calls_get_the_same_inputs():
    context = PlayedContext()
    four = runners()
    timed(context, four)
    assert len(set(context.numbers)) == len(context.numbers)
    for side in ("of", "reference_of"):
        seen = four[side].subject.seen
        assert len(set(seen)) == len(seen)


@pytest.mark.parametrize("at", [0, 2, 2 + LEAD, 2 + 2 * LEAD + REPEATS])
def test_a_call_that_is_not_counted_is_judged_as_well(at):
    rounds = timed(PlayedContext(), runners(of=PlayedSubject(wrong_at=at, alone_s=COLD_S)))
    assert rounds.wrong
    assert rounds.spoiled_by == "of"


def test_a_wrong_reference_is_the_courses():
    with pytest.raises(CourseError, match="a timed call is wrong"):
        timed(PlayedContext(), runners(reference_of=PlayedSubject(wrong_at=0, alone_s=COLD_S)))


def test_large_inputs_leave_fewer_calls_that_count(monkeypatch):
    monkeypatch.setattr(module, "BURST_BYTES", 1)
    four = runners()
    rounds = timed(PlayedContext(), four, least=MANY)
    assert set(four["of"].subject.bursts) == {LEAD + n + 1 for n in range(LEAD_SPREAD)}
    assert rounds.samples["of"] == [pytest.approx(CALL_S - HANDING_OVER_S)] * MANY


def test_what_takes_long_is_not_called_in_a_row():
    """An epoch of training: a rest is nothing to it, and calls that do not count take seconds."""
    four = runners(reference_of=PlayedSubject(alone_s=0.2), of=PlayedSubject(alone_s=0.01))
    rounds = timed(PlayedContext(), four)
    assert four["of"].subject.bursts == four["reference_of"].subject.bursts == []
    assert rounds.samples["of"] == [pytest.approx(0.01 - HANDING_OVER_S)] * 20


def test_without_a_device_each_call_stands_for_itself():
    class Alone(PlayedSubject):
        def call(self, function, case):
            return self.give(case, CALL_S)

        def burst(self, function, cases, *, again=0):
            raise AssertionError("not here")

    four = runners(of=Alone(), reference_of=Alone())
    rounds = timed(PlayedContext(devices=0), four)
    assert len(four["over"].subject.seen) == 21
    assert len(four["of"].subject.seen) == 2 + 20 * REPEATS
    assert rounds.samples["of"] == [pytest.approx(CALL_S - HANDING_OVER_S)] * 20
