"""One `grader run` as a process of its own, with a wall limit after which nothing of it is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.config.evidence_file import read_evidence
from grader.model.evidence import Evidence
from grader.subject import linux

STUDENT = "somebody"
STOPS_WITHIN_S = 3.0
"""How long a run may take to end after SIGTERM, before it is killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A `grader run` that ended, or was ended."""

    wall_s: float
    in_time: bool
    """False: it was killed at its wall limit, and the score is of nothing."""
    score: dict[str, Any] | None
    """`score.json`; None if nothing was graded."""
    evidence: Evidence | None
    """What was observed, also by a run that was killed."""
    complaints: str
    """Its standard error."""


def graded(archive: Path, out: Path, words: Sequence[str], *, course: Path, within_s: float) -> Run:
    """Grade an archive with these options of `grader run`, and end whatever the run leaves behind.

    The calling process becomes a child subreaper (prctl), so that orphans of a killed run come to it and are
    killed as well.
    """
    linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
    argv = [sys.executable, "-P", "-m", "grader", "--course", str(course), "run", str(archive), "--json"]
    argv += ["--student", STUDENT, "--out", str(out), *words]
    begun = time.monotonic()
    before = descendants()
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        in_time = True
        try:
            printed, complaints = run.communicate(timeout=within_s)
        except subprocess.TimeoutExpired:
            in_time = False
            run.terminate()
            with suppress(subprocess.TimeoutExpired):
                run.wait(STOPS_WITHIN_S)
            end_all_but(before)
            printed, complaints = run.communicate()
    wall_s = time.monotonic() - begun
    end_all_but(before)
    score = json.loads(printed or "null") if in_time else None
    file = next(out.rglob("evidence.jsonl"), None)
    return Run(
        wall_s=wall_s,
        in_time=in_time,
        score=score or None,
        evidence=read_evidence(file) if file else None,
        complaints=complaints,
    )


def descendants() -> set[int]:
    """The pids of all processes that descend from this one, by `/proc`."""
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError), open(f"/proc/{name}/stat", errors="replace") as file:
                parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
    members: set[int] = set()
    while more := {pid for pid, parent in parents.items() if parent in {os.getpid(), *members}} - members:
        members |= more
    return members


def end_all_but(spared: set[int]) -> None:
    """Kill every descendant of this process but these (and what follows from it), and reap its children."""
    while pids := descendants() - spared:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in pids:
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)
