"""Runs the examiner here, as a process beside this one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from grader.errors import NotObservedError


class Local:
    """The executor that needs nothing."""

    name: ClassVar[str] = "local"

    def execute(self, job: Path, outbox: Path) -> Iterator[str]:
        """Run the examiner and yield a line of its log whenever one arrives.

        Raises:
            NotObservedError: it ended without finishing its job; what it had observed is in the outbox.
        """
        log = outbox / "examiner.log"
        # -P: the folder we are called from may hold anything, a hand-in for example
        argv = [sys.executable, "-P", "-m", "grader.examiner", str(job), str(outbox)]
        with (
            log.open("wb") as complaints,
            # a group of its own: Ctrl-C is for us. Of two signals at once a main thread may sleep through
            # both when a thread of a library takes them, and then the examiner would go on
            subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=complaints,
                text=True,
                process_group=0,
            ) as process,
        ):
            try:
                assert process.stdout is not None  # noqa: S101 - a pipe was asked for
                yield from process.stdout
            except BaseException:  # nobody listens any more, or Ctrl-C: nothing of it may stay behind
                process.terminate()
                process.wait()
                raise
        if process.returncode != 0:
            said = log.read_text(errors="replace").strip().splitlines()
            why = f": {said[-1]}" if said else ""
            how = f"with status {process.returncode}" if process.returncode > 0 else "by a signal"
            raise NotObservedError(
                f"{log}: the examiner was ended {how} before it had finished{why}; run again"
            )
        if not log.stat().st_size:
            log.unlink()
