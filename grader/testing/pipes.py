"""Pipes by which a test learns what a process does, without sleeping."""

from __future__ import annotations

import os
import select

WITHIN_S = 60.0


def read_within(pipe: int, within_s: float = WITHIN_S) -> bytes:
    """Read from a pipe once it has something, or nobody is left who could write to it: then nothing."""
    waits = select.poll()
    waits.register(pipe, select.POLLIN)
    assert waits.poll(within_s * 1000), "nothing happens on the pipe, and a process still holds it"
    return os.read(pipe, 4096)
