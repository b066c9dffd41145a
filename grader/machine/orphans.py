"""Processes that fall to this one when their parent ends, and that it must reap.

Pid 1 of a container often reaps nothing, so whatever falls to it stays defunct. We become a sub-reaper
(PR_SET_CHILD_SUBREAPER, see prctl(2)). An orphan is told from a child that we started ourselves by its
process group: our own children share ours, or were begun by `start`.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

_PR_SET_CHILD_SUBREAPER = 36
_started: weakref.WeakSet[subprocess.Popen[Any]] = weakref.WeakSet()
_lock = threading.Lock()
"""Held while a process is begun and while orphans are reaped: a child not yet noted would pass for one."""


def adopt() -> None:
    """Have the orphans among our descendants fall to us; a kernel that cannot leaves them to pid 1."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(1), 0, 0, 0)


def start(argv: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
    """`subprocess.Popen`, for a process that gets a process group of its own."""
    with _lock:
        process = subprocess.Popen(argv, **options)
        _started.add(process)
    return process


def reap(within_s: float, *, kill: bool = False) -> None:
    """Reap all orphans; wait for those that still run, for so long at most. With `kill` they are killed.

    The children of an orphan that ended fall to us as well: it is over when none is left.
    """
    deadline = time.monotonic() + within_s
    while running := _reap_ended(kill=kill):
        handles = [*_handles(running)]
        try:
            if time.monotonic() > deadline:
                return
            select.select(handles, [], [], max(0.0, deadline - time.monotonic()))
        finally:
            for handle in handles:
                os.close(handle)


def _reap_ended(*, kill: bool) -> list[int]:
    """Reap those that ended; the pids of the others."""
    running = []
    with _lock:
        ours = {process.pid for process in _started if process.returncode is None}
        for pid in _children():
            with suppress(ProcessLookupError, ChildProcessError, PermissionError):
                if pid in ours or os.getpgid(pid) == os.getpgrp():
                    continue
                if kill:
                    os.kill(pid, signal.SIGKILL)
                if os.waitpid(pid, os.WNOHANG) == (0, 0):
                    running.append(pid)
    return running


def _handles(pids: Sequence[int]) -> Iterator[int]:
    for pid in pids:
        with suppress(OSError):
            yield os.pidfd_open(pid)


def _children() -> Iterator[int]:
    """The children of all of our threads, defunct ones included."""
    for process in Path("/proc").iterdir():
        with suppress(OSError):
            if process.name.isdigit():
                fields = process.joinpath("stat").read_bytes().rpartition(b")")[2].split()
                if int(fields[1]) == os.getpid():
                    yield int(process.name)
