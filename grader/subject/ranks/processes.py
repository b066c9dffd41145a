"""CPU time and waiting of the processes of a program, by /proc/PID/stat and syscall."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from math import inf

from ..check_processes import SYSTEM_TICKS, USER_TICKS, stat_fields

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
TICK_S = 2 / TICKS_PER_S
"""Error of the CPU time between two readings: the kernel counts in ticks."""
IDLE = 0.03
"""Share of a core that libraries use while they wait."""

_GONE = (FileNotFoundError, ProcessLookupError, PermissionError)
_NANOSLEEPS = {"x86_64": {"35", "230"}, "aarch64": {"101", "115"}}
"""nanosleep and clock_nanosleep: a process inside goes on by itself."""


def others(leaving_out: Iterable[int]) -> dict[int, float]:
    """Return the CPU seconds of every visible process, without these and pid 1."""
    excluded = {1, os.getpid(), *leaving_out}
    used_s = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in excluded:
            fields = stat_fields(f"/proc/{name}")
            if fields is not None and fields[0] not in "ZX":
                used_s[int(name)] = (int(fields[USER_TICKS]) + int(fields[SYSTEM_TICKS])) / TICKS_PER_S
    return used_s


def lives(pid: int) -> bool:
    """Tell whether a process has not ended yet."""
    fields = stat_fields(f"/proc/{pid}")
    return fields is not None and fields[0] not in "ZX"


def waits(pid: int) -> bool:
    """Tell whether all threads of a process wait, the first one for another process and not for the clock."""
    with suppress(*_GONE):
        folder = f"/proc/{pid}/task"
        states = [stat_fields(f"{folder}/{task}") for task in os.listdir(folder)]
        if any(state is not None and state[0] != "S" for state in states):
            return False
        with open(f"/proc/{pid}/syscall") as file:
            called = file.read().split()[0]
        return called not in _NANOSLEEPS.get(os.uname().machine, set())
    return False


class Standstill:
    """Since when each process of a program has not computed."""

    def __init__(self, window_s: float) -> None:
        """`window_s` is how long no process may have computed for the program to count as blocked."""
        self._window_s = window_s
        self._marks: dict[int, tuple[float, float]] = {}
        """When each computed for the last time, and what it had used by then."""
        self._now = self._changed = -inf
        """When a process last began or ended: that may have woken others, so the window starts again."""

    def look(self, now: float, used_s: Mapping[int, float]) -> None:
        """Note the CPU seconds of each process at a moment."""
        if used_s.keys() != self._marks.keys():
            self._changed = now
        self._now = now
        marks = {}
        for pid, used in used_s.items():
            since, before = self._marks.get(pid, (-inf, 0.0))
            idle = pid in self._marks and used - before <= IDLE * (now - since) + TICK_S
            marks[pid] = (since, before) if idle else (now, used)
        self._marks = marks

    def blocked(self) -> bool:
        """Tell whether no process computed within the window, and none sleeps for a time."""
        since = max(self._changed, *(since for since, _ in self._marks.values()), -inf)
        return bool(self._marks) and self._now - since >= self._window_s and all(map(waits, self._marks))

    def still_s(self, pid: int) -> float:
        """Return for how many seconds a process has not computed."""
        return self._now - self._marks[pid][0] if pid in self._marks else 0.0
