"""Tells a busy machine from a program that makes it busy: the reference in the same place is the control."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from grader.bench.bench import OTHERS_RAN
from grader.checks.rounds import LOOP_WAITED, Schedule, timed_rounds
from grader.model.observation import Observation, Outcome

if TYPE_CHECKING:
    from grader.bench.bench import Bench
    from grader.checks.rounds import Rounds, Runner

TURNS = 3
"""How often at most the reference is timed alone, and then beside the program again."""
CONTROL = Schedule(least=4, budget_s=2.0, decided=lambda rounds: True)
"""For the rounds of the reference alone."""
SHARE = 4
"""Part of its time that the measurement has in a turn: rounds that are all disturbed are so in a part."""

NOTE = (
    f"cannot be timed: {TURNS} times of {TURNS} the cores were busy with other work while this program ran, "
    "and never while the reference ran in its place; leave out of timed calls what the system works for by "
    "itself, such as sockets that are passed on and thrown away"
)


class Start(Protocol):
    """Starts the children of a measurement."""

    def __call__(self, children: ExitStack, *, beside: bool) -> Mapping[str, Runner]:
        """Those of the reference and, where it is `beside` it, of the hand-in."""
        ...


def measured_again(
    rounds: Rounds,
    bench: Bench,
    start: Start,
    family: str,
    oracle: Callable[..., Any],
    *,
    loop: str,
    schedule: Schedule,
) -> tuple[Rounds, bool]:
    """Measure again where too few rounds were quiet; the last rounds, and whether the program disturbs them.

    CPU time that the kernel spends for a program, as on collecting sockets that it throws away, is counted
    as nobody's. So whose it is shows in when it stops. While all rounds of the reference alone are quiet, the
    program has another turn in fresh processes; if it never has as many quiet ones as the schedule asks for,
    they are its doing. A machine that others use would have to become quiet and busy again in the same
    moments, `TURNS` times. The other arguments are those of `timed_rounds`.
    """

    def timed(schedule: Schedule, *, beside: bool) -> Rounds:
        with ExitStack() as children:
            runners = start(children, beside=beside)
            return timed_rounds(bench, runners, family, oracle, loop=loop, schedule=schedule)

    turn = replace(schedule, budget_s=schedule.budget_s / SHARE)
    for _ in range(TURNS):
        if _enough(rounds, schedule.least) or not rounds.disturbances <= {OTHERS_RAN, LOOP_WAITED}:
            return rounds, False
        alone = timed(CONTROL, beside=False)
        if alone.disturbed or not alone.quiet:
            return rounds, False
        rounds = timed(turn, beside=True)
    return rounds, not _enough(rounds, schedule.least)


def _enough(rounds: Rounds, least: int) -> bool:
    """Whether these rounds say something of the program."""
    return bool(rounds.quiet >= least or rounds.failed or rounds.wrong)


def busy_by_itself(bench: Bench, output: str) -> Observation:
    """The observation of such a program: its own doing, and final."""
    return Observation(item=bench.item, outcome=Outcome.REFUSED, note=NOTE, output=output, seed=bench.seed)
