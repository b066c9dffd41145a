"""Kernel memory of a check beside resident pages: sockets, pipes, mappings, files of /proc, memfd files."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable
from contextlib import suppress

from . import sockets
from .check_processes import PPID, stat_fields

GONE = (FileNotFoundError, ProcessLookupError, PermissionError)

MAPPING_BYTES = 512
"""A line of /proc/PID/maps: `vm_area_struct`, `anon_vma` and their place in the tree."""
CHAIN_BYTES = 64
"""An `anon_vma_chain`: a mapping that came by fork has one for each living ancestor, and one of its own."""
KERNEL_FILE_BYTES = 65536
"""What an open file of /proc or /sys may hold for its reader (`seq_file`): a line, or all of its content.

Seen: 32 KiB where a path of 4096 line breaks is mapped; /proc/stat grows with cores and interrupts.
"""
PIPE_BYTES, SMALL_PIPE_BYTES = 65536, 8192
FULL_PIPES = 1024
"""A user's pipes beyond these get two pages each (fs.pipe-user-pages-soft)."""
LOOK_S = 0.01
"""Time of one look; the processes that it did not reach are first in the next one."""

_SHARED = (b"/dev/zero (deleted)", b"/memfd:")
"""Shared anonymous memory and memory files; what lies in the check's own folders is counted there."""
_KERNEL_FILES = ("/proc/", "/sys/")
_BLOCK = 512
_UNKNOWN_KIB = 2**40
"""Where the machine hides it: above every limit, so that the processes are measured."""


class _Objects:
    """Kernel objects of one process: numbers of inodes, and bytes by the inode."""

    __slots__ = ("kernel_files", "mappings", "pipes", "shared", "sockets")

    def __init__(self) -> None:
        self.kernel_files = 0
        self.pipes: set[int] = set()
        self.sockets: set[int] = set()
        self.shared: dict[int, int] = {}
        self.mappings = 0


class KernelMemory:
    """Measures the processes in turn, for a bounded time; the others count with their last values."""

    def __init__(self, shared_buffer_inode: int, *, own_network: bool) -> None:
        """Count for one check; with `own_network` every socket of the network namespace belongs to it."""
        self._shared_buffer_inode = shared_buffer_inode
        self._own_network = own_network
        self._most_of_a_socket = sockets.most_of_one() if own_network else sockets.most_of_a_sender()
        self._most_mappings = sockets.setting("vm/max_map_count", 65530)
        self._processes: dict[int, _Objects] = {}
        """By pid, in the order in which they were last measured."""
        self._depths: dict[int, int] = {}
        """How many forks made each process, by its pid; 0 is the first one."""
        self.used = 0
        """Bytes of sockets, pipes, mappings and files of /proc at the last look."""
        self.shared = 0
        """Bytes of memory files and shared anonymous memory at the last look, resident or not."""

    def most(self, processes: int, descriptors: int) -> int:
        """Bound `used` and `shared` together, shared buffer included, by totals quick to read."""
        number = sockets.number() if self._own_network else descriptors
        return (
            _shared_on_this_machine()
            + processes * self._most_mappings * _mapping_bytes(processes)
            + descriptors * max(PIPE_BYTES, KERNEL_FILE_BYTES)
            + number * self._most_of_a_socket
        )

    def look(self, members: Iterable[int]) -> None:
        """Count again."""
        members = frozenset(members)
        order = [*(members - self._processes.keys()), *(pid for pid in self._processes if pid in members)]
        self._processes = {pid: self._processes[pid] for pid in order if pid in self._processes}
        end = time.monotonic() + LOOK_S
        for pid in order:
            self._processes.pop(pid, None)
            self._processes[pid] = _objects_of(pid)
            if time.monotonic() > end:
                break
        self._note_depths(members)
        self._add_up()

    def _note_depths(self, members: frozenset[int]) -> None:
        """Note how many forks made each process, at the first look at which it is there.

        Later its ancestors may be gone, and what came from them is there nevertheless. Where they are gone
        already it counts as deep as any.
        """
        self._depths = {pid: depth for pid, depth in self._depths.items() if pid in members}
        parents = {}
        for pid in members - self._depths.keys():
            if fields := stat_fields(f"/proc/{pid}"):
                parents[pid] = int(fields[PPID])
        deepest = max(self._depths.values(), default=0)
        for process in parents:
            pid, unknown = process, []
            while pid in parents and pid not in self._depths and pid not in unknown:
                unknown.append(pid)
                pid = parents[pid]
            depth = self._depths[pid] + 1 if pid in self._depths else deepest
            for pid in reversed(unknown):
                self._depths[pid] = depth
                depth += 1

    def _add_up(self) -> None:
        processes = self._processes.values()
        # a process that no look has reached yet is a copy of another one, most often
        usual = sum(p.mappings for p in processes) // max(1, len(processes))
        numbers = {pid: process.mappings for pid, process in self._processes.items()}
        mappings = sum(numbers.get(pid, usual) * _mapping_bytes(depth) for pid, depth in self._depths.items())
        pipes = len(set[int]().union(*(p.pipes for p in processes)))
        full = min(pipes, FULL_PIPES)
        inodes = None if self._own_network else set[int]().union(*(p.sockets for p in processes))
        self.used = (
            mappings
            + sum(p.kernel_files for p in processes) * KERNEL_FILE_BYTES
            + full * PIPE_BYTES
            + (pipes - full) * SMALL_PIPE_BYTES
            + sockets.buffered(inodes)
        )
        shared: dict[int, int] = {}
        for process in processes:
            for inode, size in process.shared.items():
                shared[inode] = max(size, shared.get(inode, 0))
        shared.pop(self._shared_buffer_inode, None)
        self.shared = sum(shared.values())


def _mapping_bytes(depth: int) -> int:
    """Return what a mapping takes in a process that so many forks made."""
    return MAPPING_BYTES + depth * CHAIN_BYTES


def _objects_of(pid: int) -> _Objects:
    objects = _Objects()
    folder = f"/proc/{pid}/fd"
    with suppress(*GONE):
        for name in os.listdir(folder):
            with suppress(*GONE):
                _add_descriptor(f"{folder}/{name}", objects)
    with suppress(*GONE):  # a program may have unmapped the file that it came from
        _add_descriptor(f"/proc/{pid}/exe", objects)
    open_files = frozenset(objects.shared)
    with suppress(*GONE), open(f"/proc/{pid}/maps", "rb") as file:
        lines = file.read().splitlines()
        objects.mappings = len(lines)
        for line in lines:
            if line.endswith(b" (deleted)"):
                _add_mapping(pid, line, objects, open_files)
    return objects


def _add_descriptor(path: str, objects: _Objects) -> None:
    kind, _, inode = os.readlink(path).partition(":[")
    if kind == "pipe":
        objects.pipes.add(int(inode[:-1]))
    elif kind == "socket":
        objects.sockets.add(int(inode[:-1]))
    elif kind.startswith(_KERNEL_FILES):
        objects.kernel_files += 1
    elif kind.startswith("/memfd:"):
        status = os.stat(path)
        objects.shared[status.st_ino] = status.st_blocks * _BLOCK


def _add_mapping(pid: int, line: bytes, objects: _Objects, open_files: Collection[int]) -> None:
    where, _, offset, _, inode, path = line.split(None, 5)
    if int(inode) in open_files or not path.startswith(_SHARED):
        return
    begin, end = (int(number, 16) for number in where.split(b"-"))
    try:  # blocks that exist, of any writer
        size = os.stat(f"/proc/{pid}/map_files/{begin:x}-{end:x}").st_blocks * _BLOCK
    except OSError:  # only root may ask
        size = int(offset, 16) + end - begin
    objects.shared[int(inode)] = max(size, objects.shared.get(int(inode), 0))


def _shared_on_this_machine() -> int:
    """Return the bytes of all shared memory and of all that is swapped out, of any process."""
    with open("/proc/meminfo", "rb") as file:
        text = file.read()
    swapped = _size(text, b"SwapTotal", 0) - _size(text, b"SwapFree", 0)
    return (_size(text, b"Shmem", _UNKNOWN_KIB) + swapped) * 1024


def _size(text: bytes, name: bytes, default: int) -> int:
    _, named, rest = text.partition(b"\n" + name + b":")
    return int(rest.split(None, 1)[0]) if named else default
