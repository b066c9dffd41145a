"""Everything that was observed of one submission, and where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from grader.model.observation import Observation
from grader.model.submission import Submission

SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Exam:
    """One run of the examiner: the machine and the sandbox it had."""

    id: str
    started_at: str
    """ISO 8601, UTC."""
    isolation: str
    """The layer reached: `bubblewrap` or `process`."""
    environment: Mapping[str, Any] = field(default_factory=dict)
    """Processor, interpreter, packages, load: plain JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the rubric judges. It has no points."""

    submission: Submission
    exams: tuple[Exam, ...]
    """In the order they ran; more than one if an exam was cut short and continued."""
    observations: Mapping[str, Observation]
    """By item id, the latest of each."""
    schema: int = SCHEMA
