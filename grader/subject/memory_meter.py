"""How much memory all processes of a check use together, read from outside of them by pid 1."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress

from .kernel_memory import GONE, KernelMemory

_BLOCK = 512
_KIB = 1024
THREAD_BYTES = 32768
"""The kernel stack of a thread (16 KiB) and its `task_struct`."""
DESCRIPTOR_BYTES = 2048
"""An open file with its inode; a socket is the largest."""
KERNEL_EVERY_S = 0.1
"""How often `KernelMemory` looks at most: that takes longer than the rest."""
GROWTH = 16
"""It looks at once where the most that the kernel may hold has grown by this part of the limit."""
_RESIDENT = (b"VmRSS", b"VmSwap", b"HugetlbPages")
_NAMES = (*_RESIDENT, b"RssAnon", b"RssShmem", b"VmPTE", b"Threads")


class MemoryMeter:
    """Private and shared memory, the check's `/tmp` and `/dev/shm`, and what the kernel holds for it.

    Files of the system that processes map do not count: the kernel can drop them at any time.
    """

    def __init__(self, shared_buffer: int, folders: Iterable[str]) -> None:
        """Meter a check whose `folders` lie in memory; `shared_buffer` is the memory file of the wire.

        A check with such folders has a network namespace as well.
        """
        self._shared_buffer = shared_buffer
        self._folders = tuple(folders)
        self._kernel = KernelMemory(os.fstat(shared_buffer).st_ino, own_network=bool(self._folders))
        self._kernel_due = 0.0
        self._most_at_look = 0

    def used_above(self, limit: int, members: Iterable[int]) -> int:
        """Return the bytes in use if they are more than `limit`, otherwise 0.

        Three sums, each smaller and slower than the one before: with the most that the kernel may hold, with
        what it does hold, and with pages that processes share counted once.
        """
        living = dict(map(_living, members))
        members, statuses = tuple(living), list(living.values())
        shared_buffer = os.fstat(self._shared_buffer).st_blocks * _BLOCK
        resident = _sum(statuses, *_RESIDENT) - min(shared_buffer, _sum(statuses, b"RssShmem"))
        descriptors = sum(map(_descriptors, members))
        objects = _sum(statuses, b"VmPTE") + descriptors * DESCRIPTOR_BYTES
        objects += sum(status.get(b"Threads", 0) for status in statuses) * THREAD_BYTES
        folders = sum(map(_used, self._folders))
        most = self._kernel.most(len(members), descriptors) - shared_buffer
        if resident + objects + folders + most <= limit:
            return 0
        # several short calls may end before a look is due
        fresh = time.monotonic() >= self._kernel_due or most > self._most_at_look + limit // GROWTH
        if fresh:
            self._look_at_kernel(members)
            self._most_at_look = most
        if resident + objects + folders + self._kernel.shared + self._kernel.used <= limit:
            return 0
        if not fresh:  # what a program has given back since then is no excess
            self._look_at_kernel(members)
        least = max((_sum([status], b"RssAnon") for status in statuses), default=0)
        least += objects + self._kernel.used
        if least > limit and objects > limit // 4:  # the walk of so many page tables would take seconds
            return least
        tables = [_rollup(pid) for pid in members]
        private = sum(t.get("Pss_Anon", t.get("Pss", 0)) + t.get("SwapPss", 0) for t in tables)
        private += sum(t.get("Private_Hugetlb", 0) + t.get("Shared_Hugetlb", 0) for t in tables)
        shared = sum(t.get("Pss_Shmem", 0) for t in tables) - shared_buffer
        # what lies in a file may be mapped as well: the larger of the two counts it once
        used = private + max(shared, folders + self._kernel.shared) + objects + self._kernel.used
        return used if used > limit else 0

    def _look_at_kernel(self, members: Iterable[int]) -> None:
        self._kernel.look(members)
        self._kernel_due = time.monotonic() + KERNEL_EVERY_S


def _used(folder: str) -> int:
    """Return the bytes taken in a file system."""
    status = os.statvfs(folder)
    return (status.f_blocks - status.f_bfree) * status.f_frsize


def _status(pid: int) -> Mapping[bytes, int]:
    """Read sizes of a process in KiB and its number of threads, by their names in /proc/PID/status."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            text = file.read()
    except GONE:
        return {}
    values = {}
    for name in _NAMES:
        at = text.find(b"\n" + name + b":\t")
        if at >= 0:
            values[name] = int(text[at + len(name) + 3 :].split(None, 1)[0])
    return values


def _living(pid: int) -> tuple[int, Mapping[bytes, int]]:
    """Return a process, or a thread of it where the first has ended: that one has no memory and no files."""
    status = _status(pid)
    if status.get(b"Threads", 0) > 1 and b"VmRSS" not in status:
        with suppress(*GONE):
            for thread in map(int, os.listdir(f"/proc/{pid}/task")):
                if b"VmRSS" in (other := _status(thread)):
                    return thread, other
    return pid, status


def _sum(statuses: Iterable[Mapping[bytes, int]], *names: bytes) -> int:
    """Add up the bytes of these sizes in all processes."""
    return _KIB * sum(status.get(name, 0) for status in statuses for name in names)


def _descriptors(pid: int) -> int:
    """Return how many files a process has open."""
    folder = f"/proc/{pid}/fd"
    try:
        # its size is their number from Linux 6.2 on
        return os.stat(folder).st_size or len(os.listdir(folder))
    except GONE:
        return 0


def _rollup(pid: int) -> Mapping[str, int]:
    """Return a process's share of what it maps, in bytes, by kind."""
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            lines = [line.split() for line in file.read().splitlines()[1:]]
    except PermissionError:
        return {"Pss": _sum([_status(pid)], *_RESIDENT)}
    except GONE:
        return {}
    return {line[0].rstrip(":"): int(line[1]) * _KIB for line in lines}
