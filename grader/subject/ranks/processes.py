"""What the kernel tells of the processes of a check: how much they compute, and whether they wait."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from math import inf

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
TICK_S = 2 / TICKS_PER_S
"""What one look may see more than was used since the one before: the kernel counts in ticks."""
IDLE = 0.03
"""Of one core: what libraries use up while they wait."""

_GONE = (FileNotFoundError, ProcessLookupError, PermissionError)
_NANOSLEEPS = {"x86_64": {"35", "230"}, "aarch64": {"101", "115"}}
"""nanosleep and clock_nanosleep: who is in there goes on by itself."""


def others(leaving_out: Iterable[int]) -> dict[int, float]:
    """CPU seconds of every process that can be seen, but for these and pid 1."""
    kept = {1, os.getpid(), *leaving_out}
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in kept:
            fields = _stat(f"/proc/{name}")
            if fields is not None and fields[0] not in "ZX":
                found[int(name)] = (int(fields[11]) + int(fields[12])) / TICKS_PER_S
    return found


def lives(pid: int) -> bool:
    """Whether a process has not ended yet."""
    fields = _stat(f"/proc/{pid}")
    return fields is not None and fields[0] not in "ZX"


def waits(pid: int) -> bool:
    """Whether every thread of a process waits, and its first one for somebody else and not for the clock."""
    with suppress(*_GONE):
        folder = f"/proc/{pid}/task"
        states = [_stat(f"{folder}/{task}") for task in os.listdir(folder)]
        if any(state is not None and state[0] != "S" for state in states):
            return False
        with open(f"/proc/{pid}/syscall") as file:
            called = file.read().split()[0]
        return called not in _NANOSLEEPS.get(os.uname().machine, set())
    return False


class Standstill:
    """Since when each process of a program has not computed."""

    def __init__(self, window_s: float) -> None:
        """`window_s` is how long nobody must have computed for the program to be blocked."""
        self._window_s = window_s
        self._marks: dict[int, tuple[float, float]] = {}
        """When each computed for the last time, and what it had used by then."""
        self._now = self._changed = -inf
        """When somebody came or went: whoever waited for that goes on now."""

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
        """Whether nobody has computed within the window, and nobody will go on by itself."""
        since = max(self._changed, *(since for since, _ in self._marks.values()), -inf)
        return bool(self._marks) and self._now - since >= self._window_s and all(map(waits, self._marks))

    def still_s(self, pid: int) -> float:
        """For how many seconds a process has not computed."""
        return self._now - self._marks[pid][0] if pid in self._marks else 0.0


def _stat(folder: str) -> list[str] | None:
    """The fields of a `stat` file from the state on; None if it is gone."""
    with suppress(*_GONE), open(f"{folder}/stat", errors="replace") as file:
        return file.read().rpartition(")")[2].split()
    return None
