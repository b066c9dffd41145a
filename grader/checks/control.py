"""Tells a busy machine from a program that makes it busy: the reference in the same place is the control."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from grader.bench.bench import OTHERS_RAN
from grader.checks.rounds import LOOP_WAITED, Schedule
from grader.model.observation import Observation, Outcome

if TYPE_CHECKING:
    from grader.bench.bench import Bench
    from grader.checks.rounds import Rounds

TURNS = 3
"""How often at most the reference is timed alone, and then beside the program again."""
CONTROL = Schedule(least=4, budget_s=2.0, decided=lambda rounds: True)
"""For the rounds of the reference alone."""
SHARE = 4
"""What part of its time the measurement has in a turn: what is disturbed in all of it is so in a part."""

NOTE = (
    f"cannot be timed: {TURNS} times of {TURNS} the cores were busy with other work while this program ran, "
    "and never while the reference ran in its place; leave out of timed calls what the system works for by "
    "itself, such as sockets that are passed on and thrown away"
)


def measured_again(rounds: Rounds, least: int, timed: Callable[[bool], Rounds]) -> tuple[Rounds, bool]:
    """Measure again where too few rounds were quiet; the last rounds, and whether the program disturbs them.

    What the kernel computes for a program, such as collecting the sockets that it throws away, is counted
    as nobody's CPU time. So whose it is shows in when it stops. `timed` runs rounds in fresh processes: a few
    of the reference alone (False), or once more those beside the program (True). While all rounds alone are
    quiet the program has another turn; if it never has `least` quiet ones they are its doing. A machine that
    others use would have to become quiet and busy again in the same moments, `TURNS` times.
    """
    for _ in range(TURNS):
        if _enough(rounds, least) or not rounds.disturbances <= {OTHERS_RAN, LOOP_WAITED}:
            return rounds, False
        alone = timed(False)
        if alone.disturbed or not alone.quiet:
            return rounds, False
        rounds = timed(True)
    return rounds, not _enough(rounds, least)


def _enough(rounds: Rounds, least: int) -> bool:
    """Whether these rounds say something of the program."""
    return bool(rounds.quiet >= least or rounds.failed or rounds.wrong)


def schedule_of(turn: Schedule, *, beside: bool) -> Schedule:
    """When a turn is over: of the reference alone, or beside the program."""
    return replace(turn, budget_s=turn.budget_s / SHARE) if beside else CONTROL


def busy_by_itself(bench: Bench, output: str) -> Observation:
    """What is observed of such a program: its own doing, and final."""
    return Observation(item=bench.item, outcome=Outcome.REFUSED, note=NOTE, output=output, seed=bench.seed)
