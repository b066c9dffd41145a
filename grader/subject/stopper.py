"""Stops every process of a check, and knows since when all are stopped.

Two ways. The freezer of a cgroup v2, where we may make one: one write, and only a thaw, or SIGKILL, wakes
what is frozen. Otherwise SIGSTOP, and two equal readings of all CPU clocks:

A thread that was sent SIGSTOP still runs until it is next back in the kernel, and may wake another one until
then. So we read state and CPU clock of every process, twice: if all are stopped both times and no clock
moved in between, none ran between the readings, and none is left that could wake another. The system calls by
which the kernel itself would send SIGCONT later (timers, queues, sockets) are refused by the filter.

A chain of processes, each of which forks the next and ends, is hardly ever caught running. But each that
ended is left to pid 1, defunct, and reaped only after the stop: then the second reading has a process more.

A thread inside vfork is in state D and does not stop. It counts as stopped: its stop is due before it comes
back to user mode, and its child, which shares its memory, is read like every process.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from typing import NamedTuple

from .check_processes import CheckProcesses, cpu_clocks, inside_clone, thread_folders, thread_state

_STOPPED_STATES = "TtZX"
_YIELD_S = 0.0002
"""A thread must get a core in order to stop: spinning here, or sched_yield, would keep it waiting."""
_READS_AT_ONCE = 3
"""How often the freezer is read without sleeping: it is done within the time of a few reads."""
_UNSURE_NS = 20_000_000
"""Where the kernel hides in which call a thread sleeps: for how long no clock may have moved."""


class StopTimes(NamedTuple):
    """Moments between which everything was stopped."""

    stopped_ns: int
    """By CLOCK_MONOTONIC: from then on nothing of the program ran."""
    charged_ns: int
    """Until when time is counted: until we began to stop it, and what it computed from then on.

    The rest until `stopped_ns` is our own waiting, in which no process of the program had a core.
    """
    members: set[int]
    """The processes that are stopped."""


class Stopped(NamedTuple):
    """Processes that are all stopped since `stamp_ns`, with their CPU clocks where the kernel shows them."""

    members: set[int]
    clocks: dict[int, int]
    stamp_ns: int
    certain: bool = True
    """Whether that is sure by one reading: otherwise, if the next one has the same clocks."""


class CgroupStopper:
    """The freezer of a cgroup v2 of the program's own."""

    def __init__(self, processes: CheckProcesses, freeze: int, events: int, kill: int = -1) -> None:
        """`freeze`, `events` and `kill` are the open files `cgroup.freeze`, `cgroup.events`, `cgroup.kill`.

        Without `kill`, which came with Linux 5.14, everything is frozen before each is killed.
        """
        self._processes = processes
        self._freeze = freeze
        self._events = events
        self._kill = kill

    def stop(self, deadline_ns: int) -> Stopped | None:
        """Write once; then read, for the kernel notifies pollers of a change at most every 10 ms."""
        os.pwrite(self._freeze, b"1", 0)
        reads = 0
        while b"frozen 1" not in os.pread(self._events, 256, 0):
            reads += 1
            if time.perf_counter_ns() > deadline_ns:
                return None
            if reads > _READS_AT_ONCE:
                time.sleep(_YIELD_S / 4)
        stamp_ns = time.perf_counter_ns()
        members = self._processes.members()
        return Stopped(members, cpu_clocks(members), stamp_ns)

    def go(self) -> None:
        """Thaw."""
        os.pwrite(self._freeze, b"0", 0)

    def kill(self) -> None:
        """Write once, so that no fork can slip through; what is frozen dies as well."""
        with suppress(OSError):
            os.pwrite(self._freeze if self._kill < 0 else self._kill, b"1", 0)
        self._processes.signal(signal.SIGKILL)


class SignalStopper:
    """SIGSTOP, and two readings of all clocks between which no process ran.

    SIGCHLD must be blocked: it ends the waiting as soon as a process of ours has stopped.
    """

    def __init__(self, processes: CheckProcesses) -> None:
        self._processes = processes

    def go(self) -> None:
        """Continue everything."""
        self._processes.signal(signal.SIGCONT)

    def kill(self) -> None:
        """Send SIGKILL to each of them, or to all at once in a pid namespace."""
        self._processes.signal(signal.SIGKILL)

    def stop(self, deadline_ns: int) -> Stopped | None:
        """Send SIGSTOP and return the first of two equal readings."""
        earlier: Stopped | None = None
        self._processes.signal(signal.SIGSTOP)
        _yield_core()
        while True:
            look = _read_clocks(self._processes)
            if look and earlier and look.clocks == earlier.clocks:
                if look.certain or look.stamp_ns - earlier.stamp_ns >= _UNSURE_NS:
                    return look._replace(stamp_ns=earlier.stamp_ns)
            else:
                earlier = look
            if time.perf_counter_ns() > deadline_ns:
                return None
            if look is None:  # a process was woken, by another that had not stopped yet
                _yield_core()
                self._processes.signal(signal.SIGSTOP)
            elif not look.certain:
                _yield_core()


Stopper = CgroupStopper | SignalStopper
"""Stops, continues and kills all processes of a check."""


def stop_all(stopper: Stopper, processes: CheckProcesses, deadline_ns: int) -> StopTimes | None:
    """Stop everything; None if something still moves at the deadline (CLOCK_MONOTONIC)."""
    before = cpu_clocks(processes.members())
    begun_ns = time.perf_counter_ns()
    stopped = stopper.stop(deadline_ns)
    if stopped is None:
        return None
    wall_ns = max(0, stopped.stamp_ns - begun_ns)
    same = before.keys() == stopped.clocks.keys()  # a process that came or went has no comparable clock
    ran_ns = sum(stopped.clocks.values()) - sum(before.values()) if same else wall_ns
    return StopTimes(stopped.stamp_ns, begun_ns + min(wall_ns, ran_ns), stopped.members)


def _read_clocks(processes: CheckProcesses) -> Stopped | None:
    """Read the CPU clocks, then the states; None if not every thread is stopped."""
    members = processes.members()
    clocks = cpu_clocks(members)
    stamp_ns = time.perf_counter_ns()
    certain = True
    for folder in thread_folders(members):
        state = thread_state(folder)
        if state in _STOPPED_STATES:
            continue
        cloning = inside_clone(folder) if state == "D" else False
        if cloning is False:
            return None
        certain = certain and cloning is not None
    return Stopped(members, clocks, stamp_ns, certain)


def _yield_core() -> None:
    signal.sigtimedwait({signal.SIGCHLD}, _YIELD_S)
