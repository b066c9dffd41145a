"""One worker, a process of `python -m grader.worker` that gets one job after the other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from grader.machine import orphans
from grader.model.job import DONE

ORPHANS_WITHIN_S = 20.0
"""How long to wait for what a worker that was killed left behind; all of it ends by itself."""
_READ_BYTES = 1 << 16


class WorkerProcess:
    """Starts the worker, which imports while it waits for its first job; the kernel ends it with us."""

    def __init__(self) -> None:
        self._complaints = os.memfd_create("complaints", os.MFD_CLOEXEC)
        self._complaints_read = 0
        self._unfinished = b""
        orphans.adopt()
        self._process = orphans.start(
            # -P: the folder we are called from may hold anything, a submission for example
            [sys.executable, "-P", "-m", "grader.worker", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            bufsize=0,
            # a group of its own: Ctrl-C is for us. Of two signals at once a main thread may sleep through
            # both when a thread of a library takes them, and then the worker would go on
            process_group=0,
        )

    def fileno(self) -> int:
        """The descriptor from which its log is read, for select(2)."""
        stdout = self._process.stdout
        assert stdout is not None  # noqa: S101 - a pipe was asked for
        return stdout.fileno()

    def give(self, job: Path, outbox: Path) -> None:
        """Send it a job."""
        stdin = self._process.stdin
        assert stdin is not None  # noqa: S101 - a pipe was asked for
        with suppress(BrokenPipeError):  # it is gone: its log will end
            stdin.write(f"{json.dumps([str(job), str(outbox)])}\n".encode())  # escapes whatever is in a name

    def read(self) -> list[str] | None:
        """The lines of its log that have come; waits until there is something, None if it has ended."""
        content = os.read(self.fileno(), _READ_BYTES)
        if not content:
            return None
        *lines, self._unfinished = (self._unfinished + content).split(b"\n")
        return [line.decode(errors="replace") for line in lines]

    def log(self) -> Iterator[str | int | None]:
        """Its log until the present job is done, line by line, then its status; None if it ended without."""
        while (lines := self.read()) is not None:
            for line in lines:
                if line.startswith(DONE):
                    yield int(line.removeprefix(DONE))
                    return
                yield line
        yield None

    def end(self) -> None:
        """Tell it to end, if it still runs."""
        if self._process.poll() is None:
            self._process.terminate()

    def stop(self) -> int:
        """End it if it still runs, and wait until it is gone; its status."""
        self.end()
        with suppress(BrokenPipeError), self._process:  # closes the pipes, then waits: signals may be lost
            pass
        os.close(self._complaints)
        # one that ended in order has reaped all that was below it
        orphans.reap(0.0 if self._process.returncode == 0 else ORPHANS_WITHIN_S)
        return self._process.returncode

    def complaints(self) -> str:
        """What it has written to its error output since the last call."""
        size = os.fstat(self._complaints).st_size
        content = os.pread(self._complaints, size - self._complaints_read, self._complaints_read)
        self._complaints_read += len(content)
        return content.decode(errors="replace")
