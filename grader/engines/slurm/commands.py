"""Runs Slurm's commands, and tells what passes from what does not."""

from __future__ import annotations

import re
import subprocess
import time

from grader.engines.remote.scheduler import SchedulerAwayError, SchedulerFullError, SchedulerRefusedError

WITHIN_S = 60.0
"""A command that takes longer has an answer that nobody waits for any more."""
LOOK_EVERY_S = 1.0
"""Between two looks at what a command has said so far."""
_AWAY = re.compile(
    r"unable to contact|socket timed out|connection (refused|reset|timed out)|zero bytes were transmitted"
    r"|not responding|temporarily|try again|busy|slurmctld|slurm_persist|communication"
    r"|munge|authentication error",
    re.IGNORECASE,
)
"""What Slurm's errors say that go away by themselves: it does not answer."""
_FULL = re.compile(
    r"\w+Submit\w*Limit|submit limit|job limit|too many|queue (is )?full|resource limit"
    r"|unable to accept job|resource temporarily unavailable",
    re.IGNORECASE,
)
"""There are as many jobs as user, account, QOS (MaxSubmitJobs) or cluster (MaxJobCount) may have."""
_NEVER = re.compile(r"\b(?:QOS|Assoc)(?!\w*Submit)\w+Limit\b")
"""A limit for a single job, which a QOS with the flag DenyOnLimit refuses."""
_RETRIES = re.compile(r", (sleeping and retrying|retrying in .*)$", re.MULTILINE)
"""What commands say before they try again for minutes, in which nobody would read journals."""
_WRONG = re.compile(r"(?:cannot stat|unable to status) file|can't process slurm.conf", re.IGNORECASE)
"""There is no slurm.conf where Slurm's commands look for it."""
_HINT = re.compile(r"^Try |: If munged is up|slurm_send_node_msg: auth_g_create")
"""Lines without a cause."""
_HEAD = "Batch job submission failed: "


def run_slurm(*command: str) -> str:
    """Run one of Slurm's commands and return its output.

    Raises:
        SchedulerAwayError: it may work later.
        SchedulerFullError: Slurm has too many jobs now.
        SchedulerRefusedError: it will not work later either.
    """
    try:
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            process_group=0,  # Ctrl-C is for us
        ) as process:
            try:
                output, error = _outcome(process)
            except BaseException:
                process.kill()
                raise
    except subprocess.TimeoutExpired:
        raise SchedulerAwayError(f"{command[0]} did not end within {WITHIN_S:.0f} s") from None
    except OSError as problem:
        raise SchedulerAwayError(f"{command[0]}: {problem.strerror}") from None
    if process.returncode == 0:
        return output
    why = _why(error) or f"{command[0]} ended with {process.returncode}"
    if _NEVER.search(error) or _WRONG.search(error):
        raise SchedulerRefusedError(why)
    if _FULL.search(error):
        raise SchedulerFullError(why)
    if process.returncode < 0 or _AWAY.search(error):
        raise SchedulerAwayError(why)
    raise SchedulerRefusedError(why)


def _outcome(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Wait for a command, and return its output and its errors; one that would try for minutes is ended."""
    ends = time.monotonic() + WITHIN_S
    while True:
        try:
            return process.communicate(timeout=min(LOOK_EVERY_S, max(0.0, ends - time.monotonic())))
        except subprocess.TimeoutExpired as so_far:
            if _RETRIES.search(_text(so_far.stderr)):
                process.kill()
                return process.communicate()
            if time.monotonic() >= ends:
                raise


def _text(output: str | bytes | None) -> str:
    """Return what `communicate` has read so far, which is bytes whatever it was asked for."""
    return output.decode(errors="replace") if isinstance(output, bytes) else output or ""


def _why(error: str) -> str:
    """Return the errors among a command's lines, without what all have; the last line if there are none."""
    lines = [line.strip() for line in error.splitlines() if line.strip() and not _HINT.search(line)]
    errors = [line.partition("error: ")[2] for line in lines if "error: " in line]
    plain = [_RETRIES.sub("", line.removeprefix(_HEAD)) for line in errors or lines[-1:]]
    return "; ".join(dict.fromkeys(plain))
