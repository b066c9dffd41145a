"""Tells a busy machine from a program that makes it busy: the reference in the same place is the control."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from grader.bench.bench import OTHERS_RAN
from grader.checks.rounds import LOOP_WAITED, Schedule
from grader.model.observation import Observation, Outcome

if TYPE_CHECKING:
    from grader.bench.bench import Bench
    from grader.checks.rounds import Rounds

TURNS = 4
"""How often the reference is looked at alone, and then beside the program again."""
CONTROL = Schedule(least=4, budget_s=2.0, decided=lambda rounds: True)
"""The rounds of a turn."""

NOTE = (
    f"cannot be timed: {TURNS} times of {TURNS} the cores were busy with other work while this program ran, "
    "and never while the reference ran in its place; leave out of timed calls what the system works for by "
    "itself, such as sockets that are passed on and thrown away"
)


def makes_itself_busy(rounds: Rounds, timed: Callable[[bool], Rounds]) -> bool:
    """Whether it is the program that disturbs the rounds: then they are its doing, and not the machine's.

    What the kernel computes for a program, such as collecting the sockets that it throws away, is counted
    as nobody's CPU time. So whose it is shows in when it stops: `timed` runs some rounds in fresh processes,
    of the reference alone (False) or with the program's (True). All rounds alone must be quiet and some of
    those beside it not, in every turn; a machine that others use would have to become quiet and busy again
    as often, each time in the same moments.
    """
    if not rounds.disturbances <= {OTHERS_RAN, LOOP_WAITED}:
        return False
    for _ in range(TURNS):
        alone = timed(False)
        if alone.disturbed or not alone.quiet:
            return False
        beside = timed(True)
        if not (beside.disturbed or beside.failed or beside.wrong):
            return False
    return True


def busy_by_itself(bench: Bench, output: str) -> Observation:
    """What is observed of such a program: its own doing, and final."""
    return Observation(item=bench.item, outcome=Outcome.REFUSED, note=NOTE, output=output, seed=bench.seed)
