"""How much memory all processes of a check use together, read from outside of them by pid 1."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress

_PAGE = os.sysconf("SC_PAGE_SIZE")
_BLOCK = 512
_GONE = (FileNotFoundError, ProcessLookupError, PermissionError)


class Meter:
    """Private memory, shared memory, memory files and the check's own `/tmp` and `/dev/shm`.

    Files of the system that processes map do not count: the kernel can drop them at any time. Not seen is a
    memory file that no process holds open and none has touched through a mapping.
    """

    def __init__(self, arena: int, folders: Iterable[str]) -> None:
        """`arena` is the shared memory for arguments and results, which is ours; `folders` lie in memory."""
        self._arena = arena
        self._arena_inode = os.fstat(arena).st_ino
        self._folders = tuple(folders)

    def used_above(self, limit: int, members: Iterable[int]) -> int:
        """The bytes in use if they are more than `limit`, otherwise 0.

        Looks at totals that cost nothing first, and walks page tables only where these are above.
        """
        members = tuple(members)
        arena = os.fstat(self._arena).st_blocks * _BLOCK
        files = sum(map(_used, self._folders)) + self._memory_files(members)
        if files + sum(map(_resident, members)) - arena <= limit:
            return 0
        tables = [_rollup(pid) for pid in members]
        private = sum(t.get("Pss_Anon", t.get("Pss", 0)) + t.get("SwapPss", 0) for t in tables)
        shared = sum(t.get("Pss_Shmem", 0) for t in tables) - arena
        # what lies in a file may be mapped as well: the larger of the two counts it once
        used = private + max(shared, files)
        return used if used > limit else 0

    def _memory_files(self, members: Iterable[int]) -> int:
        """Bytes in memory files that are open somewhere, each once."""
        found: dict[int, int] = {}
        for pid in members:
            folder = f"/proc/{pid}/fd"
            with suppress(*_GONE):
                for name in os.listdir(folder):
                    with suppress(*_GONE):
                        if os.readlink(f"{folder}/{name}").startswith("/memfd:"):
                            status = os.stat(f"{folder}/{name}")
                            found[status.st_ino] = status.st_blocks * _BLOCK
        found.pop(self._arena_inode, None)
        return sum(found.values())


def _used(folder: str) -> int:
    """Bytes taken in a file system."""
    status = os.statvfs(folder)
    return (status.f_blocks - status.f_bfree) * status.f_frsize


def _resident(pid: int) -> int:
    """Bytes of a process that are in memory, whosoever else has them too."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE
    except _GONE:
        return 0


def _rollup(pid: int) -> Mapping[str, int]:
    """A process's share of what it maps, in bytes, by kind."""
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            lines = [line.split() for line in file.read().splitlines()[1:]]
    except PermissionError:
        return {"Pss": _resident(pid)}
    except _GONE:
        return {}
    return {line[0].rstrip(":"): int(line[1]) * 1024 for line in lines}
