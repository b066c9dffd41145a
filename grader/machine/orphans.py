"""Reaping of orphans that this process adopts.

Pid 1 of a container often reaps nothing, so orphans that it adopts stay defunct. We become a sub-reaper
(PR_SET_CHILD_SUBREAPER, see prctl(2)). An orphan is told from a child that we started ourselves by its
process group: our own children share ours, or were begun by `start`, or before we became one.
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

from grader.subject import linux

_PR_GET_CHILD_SUBREAPER = 37
_LISTS = Path(f"/proc/self/task/{os.getpid()}/children").exists()
"""Whether this kernel lists children (CONFIG_PROC_CHILDREN)."""
_READS = 3
_Process = tuple[int, int]
"""A pid with the start time of the process, because pids are reused."""
_started: weakref.WeakSet[subprocess.Popen[Any]] = weakref.WeakSet()
_spared: set[_Process] = set()
"""Children from before we became a sub-reaper, and orphans for which the time to wait is over."""
_lock = threading.Lock()
"""Held while a process is begun and while orphans are reaped: a child not yet noted would pass for one."""


def adopt() -> None:
    """Become a sub-reaper of our descendants; without kernel support orphans go to pid 1."""
    adopts = ctypes.c_int()
    ctypes.CDLL(None).prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(adopts), 0, 0, 0)
    if not adopts.value:
        _spared.update(_children())
    with suppress(OSError):
        linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)


def start(argv: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
    """Start a process like `subprocess.Popen`, in a process group of its own."""
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
                if within_s:
                    _spared.update(running)
                return
            select.select(handles, [], [], max(0.0, deadline - time.monotonic()))
        finally:
            for handle in handles:
                os.close(handle)


def _reap_ended(*, kill: bool) -> list[_Process]:
    """Reap those that ended, and what falls to us by their end; the others."""
    while True:
        running, reaped = [], False
        with _lock:
            ours = {process.pid for process in _started if process.returncode is None}
            for child in _children():
                pid, _ = child
                with suppress(ProcessLookupError, ChildProcessError, PermissionError):
                    if pid in ours or child in _spared or os.getpgid(pid) == os.getpgrp():
                        continue
                    if kill:
                        os.kill(pid, signal.SIGKILL)
                    if os.waitpid(pid, os.WNOHANG) == (0, 0):
                        running.append(child)
                    else:
                        reaped = True
        if not reaped:
            return running


def _handles(processes: Sequence[_Process]) -> Iterator[int]:
    for pid, _ in processes:
        with suppress(OSError):
            yield os.pidfd_open(pid)


def _children() -> Iterator[_Process]:
    """Yield the children of all of our threads, defunct ones included."""
    for pid in _listed() if _LISTS else _all():
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
            if int(fields[1]) == os.getpid():
                yield int(pid), int(fields[19])


def _listed() -> set[str]:
    """Return the pids that the kernel lists for each thread.

    While one of them ends another may be left out (proc_pid_children(5)): all that several reads show.
    """
    listed: set[str] = set()
    for _ in range(_READS):
        for children in Path("/proc/self/task").glob("*/children"):
            with suppress(OSError):
                listed.update(children.read_text().split())
    return listed


def _all() -> list[str]:
    """Return the pids of all processes."""
    return [process.name for process in Path("/proc").iterdir() if process.name.isdigit()]
