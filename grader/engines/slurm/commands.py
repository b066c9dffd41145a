"""Runs Slurm's commands, and tells what passes from what does not."""

from __future__ import annotations

import re
import subprocess

from grader.engines.remote.scheduler import SchedulerAwayError, SchedulerRefusedError

WITHIN_S = 60.0
"""A command that takes longer has an answer that nobody waits for any more."""
_PASSES = re.compile(
    r"unable to contact|socket timed out|connection (refused|reset|timed out)|zero bytes were transmitted"
    r"|not responding|temporarily|try again|busy|slurmctld|slurm_persist|communication"
    r"|maxsubmitjob|submit limit|job limit|accounting/qos policy|too many|queue is full|resource limit",
    re.IGNORECASE,
)
"""What Slurm's errors say that go away by themselves: it does not answer, or there are too many jobs now."""


def run_slurm(*command: str) -> str:
    """Run one of Slurm's commands and return its output.

    Raises:
        SchedulerAwayError: it may work later.
        SchedulerRefusedError: it will not.
    """
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=WITHIN_S,
            check=False,
            process_group=0,  # Ctrl-C is for us
        )
    except subprocess.TimeoutExpired:
        raise SchedulerAwayError(f"{command[0]} did not end within {WITHIN_S:.0f} s") from None
    except OSError as error:
        raise SchedulerAwayError(f"{command[0]}: {error.strerror}") from None
    if done.returncode == 0:
        return done.stdout
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    why = (
        lines[-1].partition("error: ")[2] or lines[-1]
        if lines
        else f"{command[0]} ended with {done.returncode}"
    )
    if done.returncode < 0 or _PASSES.search(done.stderr):
        raise SchedulerAwayError(why)
    raise SchedulerRefusedError(why)
