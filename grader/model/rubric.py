"""The rubric: items, points, deadline and late policy; no code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

Visibility = Literal["always", "after_due", "after_published", "never"]
Counts = Literal["earns", "bonus", "penalty"]
Simulated = Literal["earns", "informs"]
OnFlag = Literal["holds", "notes"]
Attempts = Literal["newest", "best"]
MANUAL = "manual"
"""The check kind whose items only people judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One line of a rubric: a check, and the points it is worth."""

    id: str
    """Unique in the rubric."""
    title: str
    """One sentence that a student reads."""
    points: float
    """Its points, 0 or more; of a penalty, the most that it takes away."""
    check: str
    """The name of a check kind."""
    options: Any
    """The `Options` of that kind, with the keys that the rubric gave."""
    needs: tuple[str, ...] = ()
    """Items that must have earned everything before this one is looked at."""
    uses: tuple[str, ...] = ()
    """Items whose observations this one judges together with its own."""
    visible: Visibility = "always"
    """When students see it."""
    hint: str = ""
    """A hint for students who lost points."""
    counts: Counts = "earns"
    """Whether its points are part of the total, a bonus, or a penalty for failing."""
    simulated: Simulated = "informs"
    """Whether an observation in a simulator earns points, or only informs."""
    on_flag: OnFlag = "notes"
    """Whether a flag holds the card until a person has looked."""
    devices: Mapping[str, int] = field(default_factory=dict)
    """How many of each kind the check needs, such as `{"gpu": 1}`."""
    group: str = ""
    """Items of one group may share a child of the student's program; empty for a child of its own."""

    def __post_init__(self) -> None:
        """Put title and hint on one line each: YAML may have broken them."""
        for name in ("title", "hint"):
            object.__setattr__(self, name, " ".join(getattr(self, name).split()))


@dataclass(frozen=True, slots=True, kw_only=True)
class LatePolicy:
    """The cost of lateness."""

    grace_s: float = 0.0
    """Seconds after the deadline that cost nothing; days are counted from their end."""
    per_day: float = 0.0
    """The share of the raw total that each started day costs, 0…1."""
    at_most_days: float | None = None
    """What comes later than this after the grace earns nothing; None means never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """The items, bounds and deadline by which one assignment is graded."""

    name: str
    """The file's name without `.yaml`."""
    assignment: str
    """The assignment that it grades."""
    points: float
    """The sum of its items, without bonus and penalties."""
    items: tuple[Item, ...]
    """In the order of the report."""
    floor: float = 0.0
    """Penalties take nothing from a raw total that is as low as this."""
    at_most: float | None = None
    """The raw total is never more than this; None for no bound."""
    attempts: Attempts = "newest"
    """The attempt of a student that counts."""
    due: datetime | None = None
    """The deadline, without anybody's extension; None for none."""
    late: LatePolicy = field(default_factory=LatePolicy)
    """The late policy."""
    digest: str = ""
    """`sha256:…` over the file."""
