"""Runs the examiner here, as a process beside this one."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import ClassVar

from grader.errors import NotObservedError


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
        """Have an examiner import what it needs before its job is known; the next `execute` takes it."""
        self._ours.waiting = Examiner()
        try:
            yield
        finally:
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
        try:
            yield from examiner.run(job, outbox)
        finally:  # nobody listens any more, or Ctrl-C: nothing of it may stay behind
            self._running.discard(examiner)
            status = examiner.stop()
        if self._stopped:
            raise KeyboardInterrupt
        log = outbox / "examiner.log"
        log.unlink(missing_ok=True)
        complaints = examiner.complaints()
        if complaints.strip():
            log.write_text(complaints)
        if status != 0:
            said = complaints.strip().splitlines()
            why = f": {said[-1]}" if said else ""
            how = f"with status {status}" if status > 0 else "by a signal"
            message = f"the examiner was ended {how} before it had finished{why}; run again"
            raise NotObservedError(f"{log}: {message}")


class Examiner:
    """One process of `python -m grader.examiner` that waits for its job."""

    def __init__(self) -> None:
        self._complaints = os.memfd_create("complaints", os.MFD_CLOEXEC)
        self._process = subprocess.Popen(
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

    def run(self, job: Path, outbox: Path) -> Iterator[str]:
        """Give it its job, and yield the lines of its log until it ends."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None  # noqa: S101 - pipes were asked for
        assert stdout is not None  # noqa: S101
        with suppress(BrokenPipeError):  # it is gone: its status will say why
            stdin.write(f"{job}\n{outbox}\n")
            stdin.flush()
        with suppress(BrokenPipeError):
            stdin.close()
        yield from stdout
        self._process.wait()

    def end(self) -> None:
        """Tell it to end, if it still runs."""
        if self._process.poll() is None:
            self._process.terminate()

    def stop(self) -> int:
        """End it if it still runs, and wait until it is gone; its status."""
        self.end()
        with self._process:  # closes the pipes, then waits: a signal may be lost while modules are imported
            pass
        return self._process.returncode

    def complaints(self) -> str:
        """What it said on its error output; nothing can be said afterwards."""
        with os.fdopen(self._complaints, "rb") as file:
            file.seek(0)
            return file.read().decode(errors="replace")
