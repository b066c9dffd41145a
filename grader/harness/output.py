"""Printed text of a program: read while it runs, stored as head and tail."""

from __future__ import annotations

import os


class Output:
    """The reading end of a pipe that keeps the first and the last bytes that came through it."""

    def __init__(self, keep_bytes: int) -> None:
        self.read_end, self.write_end = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self.read_end, False)
        self._half = max(1, keep_bytes // 2)
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def drain(self) -> None:
        """Take what is there now, up to a pipeful: a program that prints for ever must not hold us here."""
        for _ in range(16):
            try:
                data = os.read(self.read_end, 65536)
            except BlockingIOError:
                return
            if not data:
                return
            room = self._half - len(self._head)
            self._head += data[:room]
            self._tail += data[room:]
            if len(self._tail) > self._half:
                self._dropped += len(self._tail) - self._half
                del self._tail[: -self._half]

    def text(self) -> str:
        """Return head and tail, with the number of bytes that are missing between them."""
        gap = f"\n… {self._dropped} bytes left out …\n".encode() if self._dropped else b""
        return (bytes(self._head) + gap + bytes(self._tail)).decode(errors="replace")

    def close(self) -> None:
        """Close both ends."""
        for end in (self.read_end, self.write_end):
            os.close(end)
