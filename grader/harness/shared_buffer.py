"""Shared memory between worker and one child; its size is sealed, so that nobody can pull it away."""

from __future__ import annotations

import fcntl
import mmap
import os
from contextlib import suppress

from numpy import frombuffer, uint8

_SEALS = 0x0001 | 0x0002 | 0x0004
"""F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW: a mapping of ours must not turn into SIGBUS."""
_F_ADD_SEALS = 1033
_SPOILED = 0xFF


class SharedBuffer:
    """First the room for arguments, which only we fill, then the room for one result.

    Memory is taken only where something was written.
    """

    def __init__(self, *, arguments_bytes: int, result_bytes: int) -> None:
        self.arguments_bytes = arguments_bytes
        self.size = arguments_bytes + result_bytes
        self.fd = os.memfd_create("shared buffer", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.fd, self.size)
        fcntl.fcntl(self.fd, _F_ADD_SEALS, _SEALS)
        self._map = mmap.mmap(self.fd, self.size)
        whole = memoryview(self._map)
        self.arguments = whole[:arguments_bytes]
        self.result = whole[arguments_bytes:]

    @property
    def used_bytes(self) -> int:
        """How much of it lies in memory."""
        return os.fstat(self.fd).st_blocks * 512

    def spoil_result(self, length: int) -> None:
        """Fill the first `length` bytes of the room for results with what no result begins with."""
        frombuffer(self.result, uint8, length)[:] = _SPOILED

    def close(self) -> None:
        """Let go of the memory; arrays that were not copied out of it become invalid."""
        os.close(self.fd)
        self.arguments.release()
        self.result.release()
        with suppress(BufferError):  # whoever still has a view of it keeps it
            self._map.close()
