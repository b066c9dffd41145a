"""What was earned, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Standing(StrEnum):
    """How far a line or a card can be relied on."""

    FINAL = "final"
    PROVISIONAL = "provisional"
    """Points are still open: something could not be observed, or waits for a person."""
    HELD = "held"
    """A person has to look first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Award:
    """What a check kind makes of its observation."""

    fraction: float
    """The share of the item's points, 0…1."""
    reason: str
    """One sentence a student understands."""
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One item of a scorecard."""

    item: str
    title: str
    points: float
    """Earned so far; 0 while the standing is provisional."""
    possible: float
    reason: str
    standing: Standing
    outcome: str
    """The observation's outcome, or `missing`."""
    hint: str = ""
    visible: str = "always"
    flags: tuple[str, ...] = ()
    """What a person may want to look at; costs nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorecard:
    """The mark of one submission: new arithmetic, no new facts."""

    student: str
    assignment: str
    rubric: str
    rubric_digest: str
    submission_digest: str
    lines: tuple[Line, ...]
    points: float
    """The raw total."""
    possible: float
    pending: float
    """Points of provisional lines: neither earned nor lost yet."""
    late_points: float
    """The total after the late policy; equal to `points` if nothing is late."""
    standing: Standing
