"""The processes of one check as pid 1 sees them in /proc: their pids, states and CPU clocks."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable
from contextlib import suppress

_CLONE_CALLS = {"x86_64": (b"56 ", b"57 ", b"58 ", b"435 "), "aarch64": (b"220 ", b"435 ")}
"""clone, fork, vfork and clone3 as `/proc/PID/task/TID/syscall` begins."""
_GONE = (FileNotFoundError, ProcessLookupError)

PPID, FLAGS, PROCESSOR = 1, 6, 36
USER_TICKS, SYSTEM_TICKS, CHILDREN_USER_TICKS, CHILDREN_SYSTEM_TICKS = 11, 12, 13, 14
"""Indices into `stat_fields`; see proc_pid_stat(5), whose third field is our first."""


class NamespaceProcesses:
    """Everybody in a pid namespace but pid 1: `kill(-1)` is one system call that no fork can slip through."""

    def members(self) -> set[int]:
        """Return their pids."""
        return {int(name) for name in os.listdir("/proc") if name.isdigit()} - {1}

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to all of them."""
        with suppress(ProcessLookupError):
            os.kill(-1, number)


class DescendantProcesses:
    """Without a namespace: whatever descends from this process, a sub-reaper to which orphans come back."""

    def members(self) -> set[int]:
        """Return their pids."""
        parents = {}
        for name in os.listdir("/proc"):
            if name.isdigit() and (fields := stat_fields(f"/proc/{name}")):
                parents[int(name)] = int(fields[PPID])
        descendants: set[int] = set()
        while (
            more := {p for p, parent in parents.items() if parent in {os.getpid(), *descendants}}
            - descendants
        ):
            descendants |= more
        return descendants

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to all of them, one after the other."""
        for pid in self.members():
            with suppress(ProcessLookupError):
                os.kill(pid, number)


CheckProcesses = NamespaceProcesses | DescendantProcesses
"""The processes of one check, pid 1 not among them."""


def thread_folders(members: Iterable[int]) -> list[str]:
    """Return the folder in /proc of each thread."""
    folders = []
    for pid in members:
        with suppress(*_GONE):
            folders += [f"/proc/{pid}/task/{task}" for task in os.listdir(f"/proc/{pid}/task")]
    return folders


def stat_fields(folder: str) -> list[str] | None:
    """Return the fields of a `stat` file from the state on; None if the process or thread is gone."""
    stat = _read(f"{folder}/stat")
    return stat.rpartition(b")")[2].decode().split() if stat else None


def thread_state(folder: str) -> str:
    """Return the letter of a thread's state; X if it is gone."""
    fields = stat_fields(folder)
    return fields[0] if fields else "X"


def inside_clone(folder: str) -> bool | None:
    """Tell whether a sleeping thread is inside vfork or clone; None if the kernel does not show it."""
    call = _read(f"{folder}/syscall")
    return call.startswith(_CLONE_CALLS.get(os.uname().machine, ())) if call else None


def run_delay_ns(folder: str) -> int:
    """Return how long a thread was runnable and waited for a core; 0 where the kernel does not count it."""
    counts = _read(f"{folder}/schedstat").split()
    return int(counts[1]) if len(counts) > 1 else 0


def session_nice(pid: int | str) -> int:
    """Return how far the session of a process lets others go first (its autogroup, sched(7)); 0 without."""
    fields = _read(f"/proc/{pid}/autogroup").split()
    return int(fields[-1]) if fields else 0


def cpu_clocks(members: Iterable[int]) -> dict[int, int]:
    """Return the CPU time of each process in nanoseconds: a system call each, which needs no rights."""
    clocks = {}
    for pid in members:
        with suppress(OSError):  # it is gone
            clocks[pid] = time.clock_gettime_ns(~pid << 3 | 2)
    return clocks


def _read(path: str) -> bytes:
    """Read the first 4 KiB of a file in /proc; empty if its process is gone or the kernel refuses."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(file, 4096)
    except OSError:  # it ended while we looked
        return b""
    finally:
        os.close(file)
