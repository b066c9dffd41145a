"""Checks memory and processes of a running call against limits, and counts how long it waited for cores."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from resource import RUSAGE_CHILDREN, getrusage

from .check_processes import (
    CHILDREN_SYSTEM_TICKS,
    CHILDREN_USER_TICKS,
    CheckProcesses,
    DescendantProcesses,
    cpu_clocks,
    run_delay_ns,
    session_nice,
    stat_fields,
    thread_folders,
)
from .memory_meter import MemoryMeter

FIRST_LOOK_S = 0.05
LOOK_EVERY_S = 0.02
"""A shorter call is not measured: that takes a little of the time that is being measured."""
LOOKING_SHARE = 0.1
"""Of one core, at most, however many processes there are."""
LOOK_AT_TOOLS_EVERY_S = 0.09
"""How often a tool looks at what it has started."""
_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
_IDLE, _IOWAIT = 3, 4
"""Indices into the counts of a line of /proc/stat."""


CpuUsage = Callable[[Iterable[int]], int]
"""CPU time of a program so far, given its processes, in nanoseconds; negative if the kernel hides it."""


class UsageWatch:
    """Checks all processes of a check together every 20 ms."""

    def __init__(
        self,
        meter: MemoryMeter,
        processes: CheckProcesses,
        limits: dict[str, int],
        cores: Iterable[int],
        used_ns: CpuUsage,
    ) -> None:
        """`cores` are those on which the program may run."""
        self._meter = meter
        self._processes = processes
        self._memory = limits["memory_mb"] * 2**20
        self._most_processes = limits["processes"]
        self._used_ns = used_ns
        self._delay = _Delay(cores, used_ns)
        self.begun_ns = 0
        """When the last call began, or went on, by CLOCK_MONOTONIC."""
        self._next: float | None = None

    def delay_ns(self, members: set[int]) -> int:
        """Return how long other processes kept the program from running since `begin`; 0 for a short call."""
        if self._next is not None and time.monotonic() > self.begun_ns / 1e9 + FIRST_LOOK_S:
            self._delay.look(members)
        return self._delay.by_others_ns

    def cpu_ns(self, members: set[int]) -> int:
        """Return the CPU time of all of the program's processes so far; negative if the kernel hides it."""
        return self._used_ns(members)

    def begin(self) -> None:
        """Note that a call begins, or goes on."""
        self.begun_ns = time.monotonic_ns()
        self._delay.begin(self.begun_ns)
        self._next = self.begun_ns / 1e9 + FIRST_LOOK_S

    def rest(self, members: set[int]) -> str:
        """Do as `look` does, while everything is stopped: that costs no time of the program's."""
        self._next = None
        self._delay.rest(members)
        return self._excess(members) if self.begun_ns else ""  # nothing of the program has run before `begin`

    def due_ms(self) -> float | None:
        """Return the milliseconds until the next look; None for no look."""
        return None if self._next is None else max(0.0, self._next - time.monotonic()) * 1000

    def look(self) -> str:
        """Return which limit is exceeded and by how much, in words of the protocol; empty for none."""
        begun = time.monotonic()
        members = self._processes.members()
        excess = self._excess(members)
        self._delay.look(members)
        now = time.monotonic()
        self._next = now + max(LOOK_EVERY_S, (now - begun) / LOOKING_SHARE)
        return excess

    def _excess(self, members: set[int]) -> str:
        if len(members) > self._most_processes:  # the kernel counts them too, but never those of root
            return f"processes {len(members)}"
        used = self._meter.used_above(self._memory, members)
        return f"memory {used}" if used else ""


class _Delay:
    """Time that a program waited for cores that other programs used.

    Two counts of the kernel's bound it. Threads that were ready to run and waited (`schedstat`): that is
    nothing where a program sleeps, and much where its own threads wait for each other. And core time that
    others used on the same cores (/proc/stat, less the program's own): that is nothing where only its own
    threads compete. The smaller of the two is what others are to blame for. It errs upwards: a limit of time
    that is stretched by it takes no points from anybody.

    A program that lowers its own session's priority waits by its own doing. It can where it may write to
    /proc, as beside CUDA; other ways are refused by the filter of system calls.
    """

    def __init__(self, cores: Iterable[int], used_ns: CpuUsage) -> None:
        self._cores = frozenset(cores)
        self._used_ns = used_ns
        self._waits: dict[str, int] = {}
        self._begun_ns = self._used_from_ns = 0
        self._before_ns = 0
        """Time waited until the first look: for short calls /proc/stat is too coarse."""
        self._waited_ns = 0
        self._others_from_ns: int | None = None
        self._others_ns = 0
        self._nice = session_nice("self")
        self._lets_others_go_first = False

    def rest(self, members: Iterable[int]) -> None:
        """Begin to wait anew: everything is stopped."""
        self._waits = {}
        self._waiting(members)
        self._used_from_ns = self._used_ns(members)

    def begin(self, begun_ns: int) -> None:
        """Begin to count: everything goes on."""
        self._begun_ns = begun_ns
        self._before_ns = self._waited_ns = 0
        self._others_from_ns = None

    def look(self, members: Iterable[int]) -> None:
        """Count what threads waited, and what others used, since the last look."""
        waited_ns, used_ns = self._waiting(members), self._used_ns(members)
        self._others_ns = _busy_ns(self._cores) - max(0, used_ns) - time.process_time_ns()
        self._lets_others_go_first |= any(session_nice(pid) > self._nice for pid in members)
        if self._others_from_ns is None:
            # Others can keep us from looking, and so can a crowd of its own: but that uses its cores itself.
            left_ns = len(self._cores) * (time.monotonic_ns() - self._begun_ns)
            left_ns -= used_ns - self._used_from_ns if used_ns >= 0 else left_ns
            self._before_ns = min(waited_ns, max(left_ns, int(FIRST_LOOK_S * 1e9)))
            self._others_from_ns = self._others_ns
        else:
            self._waited_ns += waited_ns

    @property
    def by_others_ns(self) -> int:
        """Time waited because of others; 0 before the first look."""
        if self._others_from_ns is None or self._lets_others_go_first:
            return 0
        return self._before_ns + max(0, min(self._waited_ns, self._others_ns - self._others_from_ns))

    def _waiting(self, members: Iterable[int]) -> int:
        """Return how long threads have waited since the last call, together."""
        waits = {folder: run_delay_ns(folder) for folder in thread_folders(members)}
        waited_ns = sum(ns - self._waits.get(folder, 0) for folder, ns in waits.items())
        self._waits |= waits
        return waited_ns


class ToolLimit:
    """A limit of time for what a tool starts; what others keep that waiting for a core does not count.

    Pid 1 limits the tool itself, by counts that what it starts cannot move.
    """

    def __init__(
        self,
        within_s: float,
        *,
        used_ns: CpuUsage | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin to count: everything that descends from this process belongs to it."""
        self._within_s = within_s
        self._clock = clock
        self._processes = DescendantProcesses()
        self._delay = _Delay(os.sched_getaffinity(0), used_ns or ProcessesUsage())
        self._begun = self._looked = clock()
        self._delay.rest(self._processes.members())
        self._delay.begin(time.monotonic_ns())

    def is_over(self) -> bool:
        """Tell whether its time is over; to be asked often, for it looks at processes meanwhile."""
        now = self._clock()
        if now - self._looked > LOOK_AT_TOOLS_EVERY_S:
            self._looked = now
            self._delay.look(self._processes.members())
        return now - self._begun > self._within_s + self._delay.by_others_ns / 1e9


def _busy_ns(cores: frozenset[int]) -> int:
    """Return the CPU time that was spent on some cores since the machine started, by whomever."""
    ticks = 0
    with open("/proc/stat") as file:
        for line in file:
            name, *counts = line.split()
            if not name.startswith("cpu"):
                break
            if name[3:].isdigit() and int(name[3:]) in cores:
                ticks += sum(int(n) for place, n in enumerate(counts[:8]) if place not in (_IDLE, _IOWAIT))
    return ticks * _TICK_NS


def cgroup_usage(cpu_stat: int) -> CpuUsage:
    """Read `cpu.stat`, open, of a cgroup (v2) of its own: the CPU time of all that ever were in it."""
    return lambda members: int(os.pread(cpu_stat, 64, 0).split()[1]) * 1000


class ProcessesUsage:
    """The same without a cgroup: a sum over CPU clocks in which nothing that was counted is lost again.

    A process that ended counts in its parent's `cutime` once the parent has waited for it, and in that of
    pid 1 if it was left to us. Where no parent waits (SIGCHLD ignored) the kernel drops its time: then only
    what an earlier look at it saw is counted. Numbers of the kernel that tell of children are in ticks.
    """

    def __init__(self) -> None:
        self._clocks: dict[int, int] = {}
        self._children: dict[int, int] = {}
        """What the ended children of each process took, by its pid; 0 is ourselves."""
        self._total_ns = 0

    def __call__(self, members: Iterable[int]) -> int:
        """Return the sum so far; negative if the kernel does not show the clocks of others."""
        members = set(members)
        clocks = cpu_clocks(members)
        if members and not clocks:
            return -1
        usage = getrusage(RUSAGE_CHILDREN)
        children = {0: int((usage.ru_utime + usage.ru_stime) * 1e9)}
        for pid in clocks:
            if fields := stat_fields(f"/proc/{pid}"):
                places = (CHILDREN_USER_TICKS, CHILDREN_SYSTEM_TICKS)
                children[pid] = sum(int(fields[place]) for place in places) * _TICK_NS
        # what was counted while they lived comes once more in the time of the parent that waited for them
        counted_ns = sum(
            earlier[pid]
            for earlier in (self._clocks, self._children)
            for pid in earlier.keys() - {0}
            if pid not in clocks
        )
        self._total_ns += _growth(self._clocks, clocks)
        self._total_ns += max(0, _growth(self._children, children) - counted_ns)
        self._clocks, self._children = clocks, children
        return self._total_ns


def _growth(before: Mapping[int, int], now: Mapping[int, int]) -> int:
    """Add up by how much these counts grew; a process that is new began with nothing."""
    return sum(max(0, ns - before.get(pid, 0)) for pid, ns in now.items())
