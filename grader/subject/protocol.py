"""Messages between worker, server, pid 1 and child over sockets and pipes.

All sockets are SOCK_SEQPACKET and all pipes O_DIRECT: a message arrives whole or not at all. The student's
process has pipes alone: with a message in a socket comes any file that its sender adds (SCM_RIGHTS), and the
receiver closes that file, which takes as long as the sender likes (SO_LINGER). Values never travel here; they
lie in the shared buffer, whose size is sealed: first `arguments_bytes` that only the worker writes while
everything is stopped, then the space for one result.
"""

from __future__ import annotations

import os
import struct
from typing import NamedTuple

MESSAGE_BYTES = 65536
NAMESPACED = "namespaced"
"""The argument of a server whose checks get namespaces of their own."""

# worker -> pid 1
THAW = b"thaw"

# pid 1 -> worker
AWAKE = b"awake"
"""The core computes (see `core_warmup`) until the next message, for at most 50 ms."""
HELLO = b"hello"
"""The first message, also of the child: the kernel adds the sender's pid and uid (SCM_CREDENTIALS)."""
NOT_STOPPED = b"not stopped"
"""A process could not be stopped in time: pid 1 killed everything."""
EXCEEDED = b"exceeded "
"""Followed by the limit that all processes together exceeded and their usage: pid 1 killed them."""
FAILED = b"failed "
"""Followed by the step of the set-up that failed."""


class Freeze(NamedTuple):
    """Worker -> pid 1: stop everything, by this moment of CLOCK_MONOTONIC."""

    deadline_ns: int

    def pack(self) -> bytes:
        """Return the message."""
        return _FREEZE + _pack(self)

    @classmethod
    def read(cls, message: bytes) -> Freeze | None:
        """Return the order in a message; None for anything else."""
        return cls(*_unpack(message, _FREEZE, 1)) if message.startswith(_FREEZE) else None


class Wake(NamedTuple):
    """Worker -> pid 1: while everything is stopped, warm the program's core for the next call."""

    arguments_bytes: int
    """How much of the arguments is to be read there."""

    def pack(self) -> bytes:
        """Return the message."""
        return _WAKE + _pack(self)

    @classmethod
    def read(cls, message: bytes) -> Wake | None:
        """Return the order in a message; None for anything else."""
        return cls(*_unpack(message, _WAKE, 1)) if message.startswith(_WAKE) else None


class Frozen(NamedTuple):
    """Pid 1 -> worker: everything is stopped."""

    begun_ns: int
    """Since when it went on, by CLOCK_MONOTONIC; 0 if it never did."""
    stopped_ns: int
    """Since when it stands."""
    charged_ns: int
    """Until when the call's time is counted; see `grader.subject.stopper.StopTimes`."""
    delay_ns: int
    """Time since it was continued in which it waited for cores that other programs used."""
    cpu_ns: int
    """CPU time of all of the program's processes so far, ended ones included; negative if the kernel
    hides it."""
    init_cpu_ns: int
    """CPU time of pid 1 itself, which measures and stops them."""

    def pack(self) -> bytes:
        """Return the message."""
        return _FROZEN + _pack(self)

    @classmethod
    def read(cls, message: bytes) -> Frozen | None:
        """Return the news in a message; None for anything else."""
        return cls(*_unpack(message, _FROZEN, 6)) if message.startswith(_FROZEN) else None


class EndMessage(NamedTuple):
    """Pid 1 -> worker: the student's process ended by itself."""

    status: int
    """Its wait status."""
    peak_bytes: int
    """The most memory that it, or a child that it waited for, ever had at once, by the kernel's count."""

    def pack(self) -> bytes:
        """Return the message."""
        return _ENDED + _pack(self)

    @classmethod
    def read(cls, message: bytes) -> EndMessage | None:
        """Return the news in a message; None for anything else."""
        return cls(*_unpack(message, _ENDED, 2)) if message.startswith(_ENDED) else None


_FREEZE, _WAKE, _FROZEN, _ENDED = b"freeze ", b"wake ", b"frozen ", b"ended "


def _pack(numbers: tuple[int, ...]) -> bytes:
    return struct.pack(f"<{len(numbers)}q", *numbers)


def _unpack(message: bytes, word: bytes, count: int) -> tuple[int, ...]:
    return struct.unpack(f"<{count}q", message.removeprefix(word))


NONCE_BYTES = 8


class CallRequest(NamedTuple):
    """Worker -> child: the document of one call lies at `start` of the shared buffer."""

    nonce: bytes
    start: int
    length: int

    def pack(self) -> bytes:
        """Return the message."""
        return self.nonce + struct.pack("<QQ", self.start, self.length)

    @classmethod
    def read(cls, message: bytes) -> CallRequest | None:
        """Return the request in a message; None for anything else."""
        try:
            return cls(message[:NONCE_BYTES], *struct.unpack("<QQ", message[NONCE_BYTES:]))
        except struct.error:
            return None


PIPE_BUF = 4096
"""What is written at once arrives at once."""


class Question(NamedTuple):
    """Child -> worker, during a call: what a function that stayed outside gives; and back, what it gave."""

    nonce: bytes
    """That of the request."""
    text: bytes
    """JSON: the function's number among the arguments, and its own arguments; back, its value or an error."""

    def pack(self) -> bytes:
        """Return the message.

        Raises:
            ValueError: it is longer than a pipe takes at once.
        """
        message = _QUESTION + self.nonce + self.text
        if len(message) > PIPE_BUF:
            raise ValueError(f"longer than {PIPE_BUF} bytes: {len(message)}")
        return message

    @classmethod
    def read(cls, message: bytes, nonce: bytes) -> Question | None:
        """Return the question of a call in a message; None for anything else."""
        head = _QUESTION + nonce
        return cls(nonce, message.removeprefix(head)) if message.startswith(head) else None


_QUESTION = b"question "


class Calls:
    """One end of the two pipes over which a child is called. Not inherited by programs that it starts."""

    def __init__(self, reading: int, writing: int) -> None:
        self.reading = reading
        self.writing = writing

    def recv(self) -> bytes:
        """Return the next message; empty once all writers have closed the pipe.

        Raises:
            BlockingIOError: there is none, and this end does not wait.
        """
        return os.read(self.reading, PIPE_BUF)

    def send(self, message: bytes) -> None:
        """Send a message.

        Raises:
            OSError: no reader is left, or this end does not wait and the pipe is full.
        """
        os.write(self.writing, message)

    def close(self) -> None:
        """Close both pipes; again, if need be."""
        for end in (self.reading, self.writing):
            if end >= 0:
                os.close(end)
        self.reading = self.writing = -1


Reply = CallRequest
"""Child -> worker: done; the document of the result lies at `start` of the room for results."""
