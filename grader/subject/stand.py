"""Brings every thread of a check to a stand with SIGSTOP, and proves by two equal looks that it stands.

A thread that was sent SIGSTOP still runs until it is next back in the kernel, and may wake another one until
then. So we look at the state and at the CPU clock of everybody, twice: if all stand both times and no clock
moved in between, nobody ran between the looks, and nobody is left who could wake anybody. The system calls by
which the kernel itself would send SIGCONT later (timers, queues, sockets) are refused by the filter.

A thread inside vfork is in state D and does not stop. It counts as standing: its stop is due before it comes
back to user mode, and its child, which shares its memory, is looked at like everybody.
"""

from __future__ import annotations

import signal
import time
from typing import NamedTuple

from .population import Population, cpu_clocks, inside_clone, thread_folders, thread_state

_STANDING = "TtZX"
_GIVE_WAY_S = 0.0002
"""A thread must get a core in order to stop: whoever spins, or yields in a loop, keeps it from its core."""
_UNSURE_NS = 20_000_000
"""Where the kernel hides in which call a thread sleeps: for how long no clock may have moved."""


class Stand(NamedTuple):
    """When everything stood still."""

    stood_ns: int
    """By CLOCK_MONOTONIC: from then on nothing of the program ran."""
    charged_ns: int
    """Until when time is counted: until we began to stop it, and what it computed from then on.

    The rest until `stood_ns` is our own waiting, in which no process of the program had a core.
    """


class _Look(NamedTuple):
    """All threads stand; since `stamp_ns` nobody ran if the next look finds the same clocks."""

    clocks: dict[int, int]
    stamp_ns: int
    sure: bool


def bring_to_stand(population: Population, deadline_ns: int) -> Stand | None:
    """Stop everything; None if something still moves at the deadline (CLOCK_MONOTONIC).

    SIGCHLD must be blocked: it ends the waiting as soon as a process of ours has stopped.
    """
    before = cpu_clocks(population.members())
    begun_ns = time.perf_counter_ns()
    stood = _stop(population, deadline_ns)
    if stood is None:
        return None
    wall_ns = max(0, stood.stamp_ns - begun_ns)
    same = before.keys() == stood.clocks.keys()  # the clock of a process that came or went tells nothing
    ran_ns = sum(stood.clocks.values()) - sum(before.values()) if same else wall_ns
    return Stand(stood.stamp_ns, begun_ns + min(wall_ns, ran_ns))


def _stop(population: Population, deadline_ns: int) -> _Look | None:
    """The first of two equal looks."""
    earlier: _Look | None = None
    population.signal(signal.SIGSTOP)
    _give_way()
    while True:
        look = _look(population)
        if look and earlier and look.clocks == earlier.clocks:
            if look.sure or look.stamp_ns - earlier.stamp_ns >= _UNSURE_NS:
                return earlier
        else:
            earlier = look
        if time.perf_counter_ns() > deadline_ns:
            return None
        if look is None:  # somebody was woken, by one of theirs that was on its way into the stop
            _give_way()
            population.signal(signal.SIGSTOP)
        elif not look.sure:
            _give_way()


def _look(population: Population) -> _Look | None:
    """The clocks, read before the states; None if not every thread stands."""
    members = population.members()
    clocks = cpu_clocks(members)
    stamp_ns = time.perf_counter_ns()
    sure = True
    for folder in thread_folders(members):
        state = thread_state(folder)
        if state in _STANDING:
            continue
        cloning = inside_clone(folder) if state == "D" else False
        if cloning is False:
            return None
        sure = sure and cloning is not None
    return _Look(clocks, stamp_ns, sure)


def _give_way() -> None:
    signal.sigtimedwait({signal.SIGCHLD}, _GIVE_WAY_S)
