"""Tells a busy machine from a program that makes it busy: the reference in the same place is the control."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Protocol, TypeVar

from grader.checks.rounds import LOOP_WAITED, Schedule, timed_rounds
from grader.contracts.context import KERNEL_RAN
from grader.errors import CourseError, ReferenceFailedError
from grader.model.observation import Observation, Outcome

if TYPE_CHECKING:
    from grader.checks.calls import Oracle
    from grader.checks.rounds import Rounds, Runner
    from grader.contracts.context import CheckContext

Measured = TypeVar("Measured")

TURNS = 3
"""How often at most the reference is timed alone, and then beside the program again."""
CONTROL = Schedule(least=4, budget_s=2.0, decided=lambda rounds: True)
"""For the rounds of the reference alone."""
LEFTOVERS_S = 60.0
"""How long at most the kernel's own work is waited for before the reference is timed alone.

What a program left to it goes on when no process is there any more: sockets that were passed on and thrown
away, of which there are at most 4096 at a time, took 2.6 s for 1000 with an `epoll` of 3000 entries each.
"""
SHARE = 4
"""Part of its time that the measurement has in a turn: rounds that are all disturbed are so in a part."""

NOTE = (
    f"cannot be timed: {TURNS} times of {TURNS} the cores were busy with other work while this program ran, "
    "and never while the reference ran in its place; leave out of timed calls what the system works for by "
    "itself, such as sockets that are passed on and thrown away"
)

REFERENCE_NOTE = (
    f"cannot be measured: {TURNS} times of {TURNS} the course's own solution failed while this program was "
    "there ({why}), and never without it"
)


class Start(Protocol):
    """Starts the children of a measurement."""

    def __call__(self, children: ExitStack, *, beside: bool) -> Mapping[str, Runner]:
        """Start the reference's children and, if `beside`, those of the submission."""
        ...


def until_quiet(
    measured: Measured,
    *,
    enough: Callable[[Measured], bool],
    alone: Callable[[], str],
    again: Callable[[], Measured],
) -> tuple[Measured, bool]:
    """Measure again while too few rounds are undisturbed; tell whether the program itself disturbs them.

    CPU time that the kernel spends for a program, as on collecting sockets that it throws away, is counted
    as nobody's. So whose it is shows in when it stops. While the reference `alone` is quiet all the time (it
    gives what disturbs it), the program has another turn; if that is never quiet `enough`, the disturbance is
    its doing. A machine that others use would have to become quiet and busy again in the same moments,
    `TURNS` times.
    """
    for _ in range(TURNS):
        if enough(measured) or not _gets_quiet(alone):
            return measured, False
        measured = again()
    return measured, not enough(measured)


def _gets_quiet(alone: Callable[[], str]) -> bool:
    """Tell whether the reference alone is undisturbed, at the latest after the kernel's own work."""
    deadline = time.monotonic() + LEFTOVERS_S
    while disturbance := alone():
        if disturbance != KERNEL_RAN or time.monotonic() > deadline:
            return False
    return True


def quiet_alone(context: CheckContext, run: Callable[[], object]) -> str:
    """Watch the cores while `run`, which does what is timed of ours, runs alone.

    It runs for some rounds, and on until it can be told.

    Returns:
        The words of what disturbs it; empty if nothing does.
    """
    for number in count(1):
        context.quiet.begin(anew=number == 1)
        run()
        disturbance = context.quiet.end()
        if disturbance:
            return disturbance
        if disturbance is not None and number >= CONTROL.least:
            return ""
    raise AssertionError("counting does not end")


def measured_again(
    rounds: Rounds,
    context: CheckContext,
    start: Start,
    family: str,
    oracle: Oracle,
    *,
    loop: str,
    schedule: Schedule,
) -> tuple[Rounds, bool]:
    """`until_quiet` for `timed_rounds`, whose arguments these are, in fresh processes at each turn."""

    def timed(schedule: Schedule, *, beside: bool) -> Rounds:
        with ExitStack() as children:
            runners = start(children, beside=beside)
            return timed_rounds(context, runners, family, oracle, loop=loop, schedule=schedule)

    def alone() -> str:
        rounds = timed(CONTROL, beside=False)
        if rounds.undisturbed and not rounds.disturbed:
            return ""
        by_kernel = KERNEL_RAN in rounds.disturbances <= {KERNEL_RAN, LOOP_WAITED}
        return KERNEL_RAN if by_kernel else rounds.noise

    turn = replace(schedule, budget_s=schedule.budget_s / SHARE)
    return until_quiet(
        rounds,
        enough=lambda rounds: rounds.enough(schedule.least),
        alone=alone,
        again=lambda: timed(turn, beside=True),
    )


def busy_by_itself(context: CheckContext, output: str) -> Observation:
    """The observation of such a program: its own doing, and final."""
    return Observation(
        item=context.item, outcome=Outcome.REFUSED, note=NOTE, output=output, seed=context.seed
    )


def beside_the_reference(
    observe: Callable[[], Observation],
    context: CheckContext,
    start: Start,
    family: str,
    oracle: Oracle,
    *,
    loop: str,
) -> Observation:
    """Observe; where the reference fails beside the program, and works without it, observe again.

    They share a network and what the kernel counts there. Where the reference fails `TURNS` times beside the
    program, and never alone right after, that is the program's doing, and final. Alone it has another
    network: sockets that were passed on and thrown away last in the old one for seconds after the program.

    Raises:
        ReferenceFailedError: it fails alone as well.
    """
    for _ in range(TURNS):
        try:
            return observe()
        except ReferenceFailedError as error:
            context.let_go()
            if not _works_alone(context, start, family, oracle, loop=loop):
                raise
            why = "; ".join(error.problems)
    note = REFERENCE_NOTE.format(why=why.removeprefix("reference: "))
    return Observation(item=context.item, outcome=Outcome.REFUSED, note=note, seed=context.seed)


def _works_alone(context: CheckContext, start: Start, family: str, oracle: Oracle, *, loop: str) -> bool:
    """Whether the reference imports, and returns what is right, without the program."""
    with ExitStack() as children:
        runners = start(children, beside=False)
        if any(runner.subject.imported.outcome is not Outcome.OBSERVED for runner in runners.values()):
            return False
        try:
            timed_rounds(context, runners, family, oracle, loop=loop, schedule=CONTROL)
        except CourseError:
            return False
    return True
