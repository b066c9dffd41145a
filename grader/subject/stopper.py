"""Brings every process of a check to a stand, and knows since when it stands.

Two ways. The freezer of a cgroup v2, where we may make one: one write, and only a thaw, or SIGKILL, wakes
what is frozen. Otherwise SIGSTOP, and two equal looks that prove it:

A thread that was sent SIGSTOP still runs until it is next back in the kernel, and may wake another one until
then. So we look at the state and at the CPU clock of everybody, twice: if all stand both times and no clock
moved in between, nobody ran between the looks, and nobody is left who could wake anybody. The system calls by
which the kernel itself would send SIGCONT later (timers, queues, sockets) are refused by the filter.

A chain of processes, each of which forks the next and ends, is hardly ever seen running. But whoever ended is
left to pid 1, defunct, and is reaped only after the stand: then the second look finds a process more.

A thread inside vfork is in state D and does not stop. It counts as standing: its stop is due before it comes
back to user mode, and its child, which shares its memory, is looked at like everybody.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from typing import NamedTuple, Protocol

from .check_processes import Population, cpu_clocks, inside_clone, thread_folders, thread_state

_STANDING = "TtZX"
_GIVE_WAY_S = 0.0002
"""A thread must get a core in order to stop: whoever spins, or yields in a loop, keeps it from its core."""
_READS_AT_ONCE = 3
"""How often the freezer is asked without giving way: it is done within the time of a few reads."""
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


class Stopper(Protocol):
    """Stops and continues all processes of a check."""

    def stop(self, deadline_ns: int) -> Stopped | None:
        """Stop everything; None if something still moves at the deadline (CLOCK_MONOTONIC)."""
        ...

    def go(self) -> None:
        """Continue everything."""
        ...

    def kill(self) -> None:
        """Send SIGKILL to everything."""
        ...


class Stopped(NamedTuple):
    """All threads stand since `stamp_ns`."""

    clocks: dict[int, int]
    stamp_ns: int


def bring_to_stand(stopper: Stopper, population: Population, deadline_ns: int) -> Stand | None:
    """Stop everything; None if something still moves at the deadline (CLOCK_MONOTONIC)."""
    before = cpu_clocks(population.members())
    begun_ns = time.perf_counter_ns()
    stopped = stopper.stop(deadline_ns)
    if stopped is None:
        return None
    wall_ns = max(0, stopped.stamp_ns - begun_ns)
    same = before.keys() == stopped.clocks.keys()  # the clock of a process that came or went tells nothing
    ran_ns = sum(stopped.clocks.values()) - sum(before.values()) if same else wall_ns
    return Stand(stopped.stamp_ns, begun_ns + min(wall_ns, ran_ns))


class CgroupStopper:
    """The freezer of a cgroup v2 of the program's own."""

    def __init__(self, population: Population, freeze: int, events: int, kill: int = -1) -> None:
        """`freeze`, `events` and `kill` are the open files `cgroup.freeze`, `cgroup.events`, `cgroup.kill`.

        Without `kill`, which came with Linux 5.14, everything is frozen before each is killed.
        """
        self._population = population
        self._freeze = freeze
        self._events = events
        self._kill = kill

    def stop(self, deadline_ns: int) -> Stopped | None:
        """Write once; then read, for the kernel tells of a change at most every 10 ms to those who poll."""
        os.pwrite(self._freeze, b"1", 0)
        reads = 0
        while b"frozen 1" not in os.pread(self._events, 256, 0):
            reads += 1
            if time.perf_counter_ns() > deadline_ns:
                return None
            if reads > _READS_AT_ONCE:
                time.sleep(_GIVE_WAY_S / 4)
        stamp_ns = time.perf_counter_ns()
        return Stopped(cpu_clocks(self._population.members()), stamp_ns)

    def go(self) -> None:
        """Thaw."""
        os.pwrite(self._freeze, b"0", 0)

    def kill(self) -> None:
        """One write that no fork can slip through; what is frozen dies as well."""
        with suppress(OSError):
            os.pwrite(self._freeze if self._kill < 0 else self._kill, b"1", 0)
        self._population.signal(signal.SIGKILL)


class SignalStopper:
    """SIGSTOP, and two looks between which nobody ran.

    SIGCHLD must be blocked: it ends the waiting as soon as a process of ours has stopped.
    """

    def __init__(self, population: Population) -> None:
        self._population = population

    def go(self) -> None:
        """Continue everything."""
        self._population.signal(signal.SIGCONT)

    def kill(self) -> None:
        """Each of them, or all at once in a pid namespace."""
        self._population.signal(signal.SIGKILL)

    def stop(self, deadline_ns: int) -> Stopped | None:
        """The first of two equal looks."""
        earlier: _Look | None = None
        self._population.signal(signal.SIGSTOP)
        _give_way()
        while True:
            look = _look(self._population)
            if look and earlier and look.clocks == earlier.clocks:
                if look.sure or look.stamp_ns - earlier.stamp_ns >= _UNSURE_NS:
                    return Stopped(earlier.clocks, earlier.stamp_ns)
            else:
                earlier = look
            if time.perf_counter_ns() > deadline_ns:
                return None
            if look is None:  # somebody was woken, by one of theirs that was on its way into the stop
                _give_way()
                self._population.signal(signal.SIGSTOP)
            elif not look.sure:
                _give_way()


class _Look(NamedTuple):
    """All threads stand; since `stamp_ns` nobody ran if the next look finds the same clocks."""

    clocks: dict[int, int]
    stamp_ns: int
    sure: bool


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
