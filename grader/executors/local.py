"""Runs the examiner here, as a process beside this one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import ClassVar

from grader.errors import NotObservedError
from grader.files import write_whole
from grader.machine import orphans
from grader.model.job import DONE
from grader.text import block

ORPHANS_WITHIN_S = 20.0
"""How long we wait for what an examiner that was killed left behind; all of it ends by itself."""


class Local:
    """The executor that needs nothing."""

    name: ClassVar[str] = "local"

    def __init__(self) -> None:
        self._ours = threading.local()
        """The examiner that waits: the kernel ends one together with the thread that started it."""
        self._running: set[Examiner] = set()
        self._stopped = False

    @contextmanager
    def standby(self) -> Iterator[None]:
        """Have an examiner ready for the jobs that this thread executes, one after the other.

        It imports what it needs before the first one is known.
        """
        self._ours.waiting, self._ours.standing = Examiner(), True
        try:
            yield
        finally:
            self._ours.standing = False
            if waiting := self._taken():
                waiting.stop()

    def stop(self) -> None:
        """End all exams that are running, in whatever threads; those and later ones are interrupted."""
        self._stopped = True
        for examiner in tuple(self._running):
            examiner.end()

    def _taken(self) -> Examiner | None:
        """The examiner that waits, if there is one; none does any more."""
        waiting: Examiner | None = getattr(self._ours, "waiting", None)
        self._ours.waiting = None
        return waiting

    def execute(self, job: Path, outbox: Path) -> Iterator[str]:
        """Run the examiner and yield a line of its log whenever one arrives.

        Raises:
            NotObservedError: it ended without finishing its job; what it had observed is in the outbox.
            KeyboardInterrupt: it was ended by `stop`, or came after it.
        """
        examiner = self._taken() or Examiner()
        self._running.add(examiner)
        status: int | None = None
        try:
            status = yield from examiner.run(job, outbox)
        finally:
            self._running.discard(examiner)
            complaints = examiner.complaints()
            if status == 0 and not complaints and getattr(self._ours, "standing", False):
                self._ours.waiting = examiner
            else:  # nobody listens any more, or Ctrl-C, or it may be broken: nothing of it may stay behind
                ended = examiner.stop()
                status = ended if status is None else status
        if self._stopped:
            raise KeyboardInterrupt
        log = outbox / "examiner.log"
        with suppress(OSError):  # a full disk: the last line is told anyway
            log.unlink(missing_ok=True)
            if complaints.strip():
                write_whole(log, block(complaints))
        if status != 0:
            said = complaints.strip().splitlines()
            why = f": {said[-1]}" if said else ""
            how = f"with status {status}" if status > 0 else "by a signal"
            message = f"the examiner was ended {how} before it had finished{why}; run again"
            raise NotObservedError(f"{log}: {message}")


class Examiner:
    """One process of `python -m grader.examiner` that waits for its jobs."""

    def __init__(self) -> None:
        self._complaints = os.memfd_create("complaints", os.MFD_CLOEXEC)
        self._heard = 0
        orphans.adopt()
        self._process = orphans.start(
            # -P: the folder we are called from may hold anything, a hand-in for example
            [sys.executable, "-P", "-m", "grader.examiner", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            text=True,
            # a group of its own: Ctrl-C is for us. Of two signals at once a main thread may sleep through
            # both when a thread of a library takes them, and then the examiner would go on
            process_group=0,
        )

    def run(self, job: Path, outbox: Path) -> Generator[str, None, int | None]:
        """Give it a job, and yield the lines of its log; its status, or None if it ended without one."""
        self.give(job, outbox)
        return (yield from self.log())

    def give(self, job: Path, outbox: Path) -> None:
        """Have it begin with a job."""
        stdin = self._process.stdin
        assert stdin is not None  # noqa: S101 - a pipe was asked for
        with suppress(BrokenPipeError):  # it is gone: its log will tell
            stdin.write(json.dumps([str(job), str(outbox)]) + "\n")  # whatever is in a name is spelled
            stdin.flush()

    def log(self) -> Generator[str, None, int | None]:
        """The lines of its log until that job is done; its status, or None if it ended without one."""
        stdout = self._process.stdout
        assert stdout is not None  # noqa: S101 - a pipe was asked for
        for line in stdout:
            if line.startswith(DONE):
                return int(line.removeprefix(DONE))
            yield line
        self._process.wait()
        return None

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
        """What it has said on its error output since this was asked."""
        said = os.pread(self._complaints, os.fstat(self._complaints).st_size - self._heard, self._heard)
        self._heard += len(said)
        return said.decode(errors="replace")
