"""What was earned, and why."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from grader.text import one_line


class Standing(StrEnum):
    """How far a line or a card can be relied on."""

    FINAL = "final"
    """Nothing is open: the same evidence gives the same points for ever."""
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
    """What to try next, if the kind knows better than the rubric."""
    flags: tuple[str, ...] = ()
    """What a person may want to look at, one sentence each; costs nothing."""
    undecided: bool = False
    """True if this evidence cannot decide: the points stay open, whatever the fraction says."""
    again: bool = False
    """Whether the next run looks once more at what is undecided, and not a person: another machine, or a
    quieter hour, may decide."""

    def __post_init__(self) -> None:
        """Make its texts safe to show; raise ValueError if it is to be looked at again, and yet decided."""
        _as_lines(self, "reason", "hint")
        if self.again and not self.undecided:
            raise ValueError("again: only what is undecided is looked at again")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One item of a scorecard."""

    item: str
    title: str
    points: float
    """What it adds to the total so far: 0 while the standing is provisional, below 0 for a penalty."""
    possible: float
    """The most that it can add; 0 for a penalty."""
    reason: str
    """One sentence a student understands."""
    standing: Standing
    """Whether these points can still change."""
    outcome: str
    """The observation's outcome, or `missing`."""
    hint: str = ""
    """What the student may try next; empty if nothing is missing."""
    missing: str = ""
    """Which file was not handed in, and what to do; empty if none is missing. The same for all items that it
    costs."""
    visible: str = "always"
    """When the student sees it."""
    flags: tuple[str, ...] = ()
    """What a person may want to look at; costs nothing."""
    fraction: float | None = None
    """The share that was done right, 0…1; None while the standing is provisional."""
    counts: str = "earns"
    """`earns`, `bonus` or `penalty`."""

    def __post_init__(self) -> None:
        """Make its texts safe to show: an observation's note becomes a reason without an award."""
        _as_lines(self, "title", "reason", "hint", "missing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """The sums of a scorecard's lines, each kind apart."""

    earned: float = 0.0
    """Of the items that make up the total, without bonus."""
    pending: float = 0.0
    """Neither earned nor lost yet; open bonus points are not among them."""
    possible: float = 0.0
    """What the items that make up the total are worth."""
    bonus: float = 0.0
    """Of the items that come on top."""
    penalty: float = 0.0
    """0 or less."""
    raw: float = 0.0
    """The total of all three, within the bounds that the rubric sets, before the late rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Late:
    """What the late rule makes of one student's hand-in."""

    due: datetime
    """With this student's extension."""
    submitted_at: datetime | None
    """None if nobody knows; then nothing is taken off."""
    marked: bool = False
    """Whether the LMS calls it late; that alone takes nothing off."""
    late_s: float = 0.0
    """Seconds after `due`, the grace among them; 0 if it was in time."""
    days: int = 0
    """Started days that count."""
    rule: str = ""
    """The rule in words; empty if lateness costs nothing."""
    share: float = 0.0
    """The share of the raw total that lateness costs, 0…1."""
    lost: float = 0.0
    """The same in points."""

    @property
    def untimed(self) -> bool:
        """Whether lateness would cost points, and no time of submission says if there is any."""
        return bool(self.rule) and self.submitted_at is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """What one student gets: a team shares everything but its extensions."""

    student: str
    adjusted: float
    """The raw total after the late rule."""
    final: float | None
    """The same once nothing is open or held any more; None until then."""
    late: Late | None = None
    """None if the rubric has no deadline."""

    @property
    def untimed(self) -> bool:
        """Whether the late rule could not be applied: see `Late.untimed`."""
        return self.late is not None and self.late.untimed


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorecard:
    """The mark of one submission: new arithmetic, no new facts."""

    student: str
    """The student, or the team."""
    assignment: str
    rubric: str
    rubric_digest: str
    submission_digest: str
    lines: tuple[Line, ...]
    """In the order of the rubric."""
    points: Points
    totals: tuple[Total, ...]
    """One per student, in the order of the submission."""
    standing: Standing
    """As doubtful as the most doubtful of its lines."""


def _as_lines(judged: Award | Line, *names: str) -> None:
    """Make each of the texts of a frozen value one line, and each flag: they quote what programs say."""
    for name in names:
        object.__setattr__(judged, name, one_line(getattr(judged, name)))
    object.__setattr__(judged, "flags", tuple(map(one_line, judged.flags)))
