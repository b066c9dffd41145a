"""Warms the core of a stopped program, and its caches with the next call's arguments.

A call after a rest takes longer than one of several in a row: the core has slept, and what the program works
on has left its caches. That is no property of the program. So pid 1, which is ours, reads the arguments on
the program's core and spins there until the program may go on.
"""

from __future__ import annotations

import mmap
import os
import select
import time
from contextlib import suppress

from .check_processes import PROCESSOR, stat_fields

SPIN_S = 0.05
"""For how long at most: the worker writes one message in between."""


READ_BYTES = 64 * 1024
"""Read at once: a copy of so much is thrown away without a trace in the caches or in the heap."""


class CoreWarmup:
    """Pid 1 on the core on which the student's process last ran."""

    def __init__(self, shared_buffer: int, arguments_bytes: int, pid: int) -> None:
        """Map the arguments: the first `arguments_bytes` of the open memory file `shared_buffer`."""
        self._arguments = mmap.mmap(shared_buffer, arguments_bytes, prot=mmap.PROT_READ)
        self._pid = pid
        self._cores: set[int] | None = None
        """Where this process may run at other times; None while it does."""

    def begin(self, arguments_bytes: int) -> None:
        """Move there, and read the arguments."""
        fields = stat_fields(f"/proc/{self._pid}")
        if fields:
            cores = os.sched_getaffinity(0)
            with suppress(OSError):  # a core may have been taken away since
                os.sched_setaffinity(0, {int(fields[PROCESSOR])})
                self._cores = cores
        for start in range(0, min(arguments_bytes, len(self._arguments)), READ_BYTES):
            self._arguments[start : start + READ_BYTES]

    def spin(self, until_readable: int) -> None:
        """Compute until there is a message, which the caller reads."""
        deadline = time.monotonic() + SPIN_S
        wait = select.poll()
        wait.register(until_readable, select.POLLIN)
        while not wait.poll(0) and time.monotonic() < deadline:
            pass

    def end(self) -> None:
        """Return to our own cores: on one that a busy program has, pid 1 could not stop it in time."""
        if self._cores is not None:
            with suppress(OSError):
                os.sched_setaffinity(0, self._cores)
            self._cores = None
