"""Evidence: all observations of one submission, with the runs that made them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from grader.model.observation import Observation
from grader.model.submission import Submission

SCHEMA = 1
NO_SANDBOX = "none"
"""The isolation of a run that ran nothing, because no sandbox that it might use works there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerRun:
    """One run of the worker: the machine and the sandbox it had."""

    id: str
    """Random, 16 hexadecimal digits."""
    started_at: str
    """ISO 8601, UTC."""
    isolation: str
    """The sandbox that was used: `bubblewrap`, `namespaces`, `landlock`, `process`, a guest's, or `none`."""
    course: str = ""
    """`sha256:…` over the files of the assignment that it worked with; empty if an early version ran it."""
    environment: Mapping[str, Any] = field(default_factory=dict)
    """Processor, memory, load, kernel, interpreter, and which stronger sandboxes were missing: plain JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All observations of one submission, for the rubric to judge; no points."""

    submission: Submission
    """The submission that was observed."""
    runs: tuple[WorkerRun, ...]
    """In the order they ran; more than one if something had to be observed later or again."""
    observations: Mapping[str, Observation]
    """By item id, the latest of each."""
    run_of: Mapping[str, str] = field(default_factory=dict, compare=False)
    """By item id, the id of the run that observed it."""
    schema: int = SCHEMA
    """The number of the format that it is written in."""
