"""The bytes of results: as they lie in shared memory, or a copy, where a device may write there later."""

from __future__ import annotations

import mmap

from numpy.random import default_rng

from grader.harness.shared_buffer import SharedBuffer
from grader.subject.protocol import Reply

CHUNK_BYTES = 64 * 1024
PAGE_BYTES = mmap.PAGESIZE
NONE = memoryview(b"")


class ResultCopies:
    """The room for results of one shared buffer."""

    def __init__(self, shared_buffer: SharedBuffer, *, copied: bool) -> None:
        """With `copied` they are read from copies alone: a device does not stop with its program."""
        self._shared_buffer = shared_buffer
        self._copied = copied
        self._copies: list[Copy] = []
        self._used = 0

    def spoil(self) -> None:
        """Overwrite what an earlier call left: it must not pass for the answer to the next one."""
        self._shared_buffer.spoil_result(self._used)

    def prepare(self, copies: int) -> None:
        """Have memory for so many copies of a result as large as the last one."""
        while len(self._copies) < copies:
            self._copies.append(Copy(len(self._shared_buffer.result)))
        for copy in self._copies:
            copy.touch(self._used)

    def read(self, reply: Reply, keep: int | None = None) -> memoryview:
        """The bytes behind a reply; with a number to `keep`, a copy until the next one of the same number."""
        self._used = min(reply.start + reply.length, len(self._shared_buffer.result))
        if keep is None and not self._copied:
            return self._shared_buffer.result
        number = keep or 0
        if number >= len(self._copies):
            self.prepare(number + 1)
        return self._copies[number].take(self._shared_buffer.result[: self._used])


class Copy:
    """Memory of the worker's own for one result.

    The chunks are copied in an order that nobody can foresee. A device that writes a result while it is being
    copied would have to be ahead of the copy everywhere at once, so it gains nothing by writing in the order
    of addresses.

    Memory is taken only where something was copied, or will be, and is used again for the next result: pages
    that are touched for the first time make a copy slower.
    """

    def __init__(self, size: int) -> None:
        self._content = memoryview(mmap.mmap(-1, size))
        self._rng = default_rng()
        self._touched = 0

    def touch(self, length: int) -> None:
        """Have the first `length` bytes in memory."""
        pages = range(self._touched, length, PAGE_BYTES)
        self._content[self._touched : length : PAGE_BYTES] = bytes(len(pages))
        self._touched = max(self._touched, length)

    def take(self, source: memoryview) -> memoryview:
        """Copy all of `source`; the copy."""
        chunks = -(-len(source) // CHUNK_BYTES)
        for chunk in self._rng.permutation(chunks).tolist():
            span = slice(chunk * CHUNK_BYTES, min(len(source), (chunk + 1) * CHUNK_BYTES))
            self._content[span] = source[span]
        self._touched = max(self._touched, len(source))
        return self._content[: len(source)]
