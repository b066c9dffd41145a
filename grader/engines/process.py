"""One worker, a process of `python -m grader.worker` that gets one job after the other."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from grader.machine import orphans

ORPHANS_WITHIN_S = 20.0
"""Seconds to wait for processes that a killed worker left behind; all of them end by themselves."""
_READ_BYTES = 1 << 16
_LOCKS = 16
"""More descriptors than a lease has."""
_spares: list[WorkerProcess] = []
"""Workers that were started before there is a session."""


@contextmanager
def spare_worker() -> Iterator[None]:
    """Start a worker ahead, which imports while the course and its plugins are read.

    The first session of the engine `local` takes it; if none does, it is ended. It may use the cores that
    this process may use now.
    """
    _spares.append(WorkerProcess())
    try:
        yield
    finally:
        while _spares:
            _spares.pop().stop()


def take_spare() -> WorkerProcess | None:
    """Return the spare worker, which is the caller's then; None if there is none."""
    return _spares.pop() if _spares else None


class WorkerProcess:
    """Starts the worker, which imports while it waits for its first job; the kernel ends it with us."""

    def __init__(self) -> None:
        self._complaints = os.memfd_create("complaints", os.MFD_CLOEXEC)
        self._complaints_read = 0
        self._unfinished = b""
        self._orders, orders = socket.socketpair()
        orphans.adopt()
        self._process = orphans.start(
            # -P: the folder we are called from may hold anything, a submission for example
            [sys.executable, "-P", "-m", "grader.worker", str(os.getpid())],
            stdin=orders,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            bufsize=0,
            # a group of its own: Ctrl-C is for us. Of two signals at once a main thread may sleep through
            # both when a thread of a library takes them, and then the worker would go on
            process_group=0,
        )
        orders.close()

    def fileno(self) -> int:
        """Return the descriptor from which its log is read, for select(2)."""
        stdout = self._process.stdout
        assert stdout is not None  # noqa: S101 - a pipe was asked for
        return stdout.fileno()

    def move(self, cores: Iterable[int]) -> None:
        """Have it, and what it starts from now on, run on these cores; it has had no job yet."""
        with suppress(OSError):  # it is gone: its log will end
            for thread in Path(f"/proc/{self._process.pid}/task").iterdir():
                with suppress(ProcessLookupError):  # this thread has ended
                    os.sched_setaffinity(int(thread.name), cores)

    def give(self, job: Path, outbox: Path, lease: Sequence[int] = ()) -> None:
        """Send it a job, with the descriptors of a lease that it shares."""
        line = f"{json.dumps([str(job), str(outbox)])}\n".encode()  # escapes whatever is in a name
        with suppress(BrokenPipeError, ConnectionResetError):  # it is gone: its log will end
            socket.send_fds(self._orders, [line], lease)

    def receive_lease(self) -> list[int]:
        """Receive the descriptors of a lease that it shares; its log says when it has sent them."""
        return socket.recv_fds(self._orders, _READ_BYTES, _LOCKS, socket.MSG_CMSG_CLOEXEC)[1]

    def read(self) -> list[str] | None:
        """Wait for its log, and return the lines that have come; None if it has ended."""
        content = os.read(self.fileno(), _READ_BYTES)
        if not content:
            return None
        *lines, self._unfinished = (self._unfinished + content).split(b"\n")
        return [line.decode(errors="replace") for line in lines]

    def end(self) -> None:
        """Send it SIGTERM, if it still runs."""
        if self._process.poll() is None:
            self._process.terminate()

    def stop(self) -> int:
        """End it if it still runs, wait until it is gone, and return its status."""
        self.end()
        self._orders.close()
        with self._process:  # closes the pipe, then waits: signals may be lost
            pass
        os.close(self._complaints)
        # one that ended in order has reaped all that was below it
        orphans.reap(0.0 if self._process.returncode == 0 else ORPHANS_WITHIN_S)
        return self._process.returncode

    def complaints(self) -> str:
        """Return what it has written to its error output since the last call."""
        size = os.fstat(self._complaints).st_size
        content = os.pread(self._complaints, size - self._complaints_read, self._complaints_read)
        self._complaints_read += len(content)
        return content.decode(errors="replace")
