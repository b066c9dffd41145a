"""One `grader run` as a process of its own, with a wall limit after which nothing of it is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.config.evidence_file import EVIDENCE, read_evidence
from grader.model.evidence import Evidence
from grader.subject import linux

ROOT = Path(__file__).parent.parent
STOPS_WITHIN_S = 3.0
"""How long a run may take to end after SIGTERM, before it is killed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A `grader run` that ended, or was ended."""

    wall_s: float
    in_time: bool
    """False: it was killed at its wall limit, and there are no scores."""
    scores: tuple[dict[str, Any], ...]
    """The `score.json` of every submission that was graded."""
    complaints: str
    """Its standard error."""


def run_grader(
    archives: Iterable[Path],
    out: Path,
    options: Sequence[str],
    *,
    course: Path = ROOT,
    within_s: float | None = None,
) -> Run:
    """Grade archives below `out`, and kill whatever the run leaves behind.

    Makes this process a child subreaper (prctl), so that orphans of a killed run become its children and
    are found.
    """
    linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
    argv = [sys.executable, "-P", "-m", "grader", "--course", str(course), "run", "--json"]
    argv += [*map(str, archives), "--out", str(out), *options]
    spared = descendants()
    begun = time.monotonic()
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        in_time = True
        try:
            printed, complaints = run.communicate(timeout=within_s)
        except subprocess.TimeoutExpired:
            in_time = False
            run.terminate()
            with suppress(subprocess.TimeoutExpired):
                run.wait(STOPS_WITHIN_S)
            end_all_but(spared | {run.pid})
            run.kill()
            printed, complaints = run.communicate()
    wall_s = time.monotonic() - begun
    end_all_but(spared)
    scores = json.loads(printed)["scores"] if in_time and printed else []
    return Run(
        wall_s=wall_s,
        in_time=in_time,
        scores=tuple(scores),
        complaints=complaints,
    )


def evidence_below(out: Path) -> list[Evidence]:
    """What was observed of every submission in a results folder, also by a run that was killed."""
    evidence = (read_evidence(file) for file in sorted(out.rglob(EVIDENCE)))
    return [one for one in evidence if one is not None]


def descendants() -> set[int]:
    """The pids of all processes that descend from this one, by `/proc`."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it ended meanwhile
            parents[int(stat.parent.name)] = int(
                stat.read_text(errors="replace").rpartition(")")[2].split()[1]
            )
    members: set[int] = set()
    while more := {pid for pid, parent in parents.items() if parent in {os.getpid(), *members}} - members:
        members |= more
    return members


def end_all_but(spared: set[int]) -> None:
    """Kill every other descendant of this process, and reap those that are its children."""
    while pids := descendants() - spared:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in pids:
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)
