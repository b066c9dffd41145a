"""The words that examiner, server, pid 1 and child say to each other over their sockets.

All sockets are SOCK_SEQPACKET: a message arrives whole or not at all. Values never travel here; they lie in
the arena, shared memory whose size is sealed: first `arguments_bytes` that only the examiner writes while
everything stands still, then the room for one result.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

MESSAGE_BYTES = 65536
NAMESPACED = "namespaced"
"""A server is told so at its start if every check gets namespaces of its own."""

# examiner -> pid 1
FREEZE = b"freeze"
THAW = b"thaw"

# pid 1 -> examiner
HELLO = b"hello"
"""The first word, also of the child: the kernel adds who says it."""
FROZEN = b"frozen"
RESTLESS = b"restless"
"""Something could not be brought to a stand."""
ENDED = b"ended "
"""Followed by the wait status of the student's process, in decimal."""
EXCEEDED = b"exceeded "
"""Followed by the limit that all processes together were over, and by how much there was: it ended them."""
FAILED = b"failed "
"""Followed by the step of the set-up that failed."""

NONCE_BYTES = 8


class Request(NamedTuple):
    """Examiner -> child: the document of one call lies at `start` of the arena."""

    nonce: bytes
    start: int
    length: int

    def pack(self) -> bytes:
        """The message."""
        return self.nonce + struct.pack("<QQ", self.start, self.length)

    @classmethod
    def read(cls, message: bytes) -> Request | None:
        """The request in a message; None for anything else."""
        try:
            return cls(message[:NONCE_BYTES], *struct.unpack("<QQ", message[NONCE_BYTES:]))
        except struct.error:
            return None


Reply = Request
"""Child -> examiner: done; the document of the result lies at `start` of the room for results."""
