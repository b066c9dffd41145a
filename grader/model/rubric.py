"""What earns how much; no code."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

Visibility = Literal["always", "after_due", "after_published", "never"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One line of a rubric: a check, and the points it is worth."""

    id: str
    title: str
    points: float
    check: str
    """The name of a check kind."""
    options: Any
    """The `Options` of that kind, with the keys that the rubric gave."""
    needs: tuple[str, ...] = ()
    """Items that must have earned everything before this one is looked at."""
    uses: tuple[str, ...] = ()
    """Items whose observations this one judges together with its own."""
    visible: Visibility = "always"
    hint: str = ""
    """What a student reads when points are missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatePolicy:
    """What lateness costs."""

    grace_s: float = 0.0
    per_day: float = 0.0
    """The share of the raw total that each started day costs, 0…1."""
    at_most_days: float | None = None
    """Later than this earns nothing; None means never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """How one assignment is marked."""

    name: str
    """The file's name without `.yaml`."""
    assignment: str
    points: float
    items: tuple[Item, ...]
    due: datetime | None = None
    late: LatePolicy = field(default_factory=LatePolicy)
    digest: str = ""
    """`sha256:…` over the file."""
