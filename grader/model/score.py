"""Scores: lines, sums and totals, with reasons."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from grader.text import one_line

SLACK = 1e-9
"""By how much rounding may take a fraction out of 0…1."""


class Standing(StrEnum):
    """The reliability of a line or a card."""

    FINAL = "final"
    """Nothing is open: the same evidence gives the same points for ever."""
    PROVISIONAL = "provisional"
    """Points are still open: something could not be observed, or waits for a person."""
    HELD = "held"
    """A person has to look first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Award:
    """The judgement of a check kind on its observation."""

    fraction: float
    """The share of the item's points, 0…1."""
    reason: str
    """One sentence a student understands."""
    hint: str = ""
    """A hint that replaces the rubric's."""
    flags: tuple[str, ...] = ()
    """Remarks for staff, one sentence each; they cost no points."""
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


def award_objection(award: object) -> str:
    """Return what is wrong with what a kind's `award` returned; empty for an award of 0 to 1."""
    if not isinstance(award, Award):
        return f"must return an Award, got {award!r}"
    if not -SLACK <= award.fraction <= 1 + SLACK:  # also true of NaN
        return f"must return a fraction from 0 to 1, got {award.fraction!r}"
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One item of a scorecard."""

    item: str
    title: str
    points: float
    """Points that it adds to the total so far: 0 while the standing is provisional, below 0 for a penalty."""
    possible: float
    """The most that it can add; 0 for a penalty."""
    reason: str
    """One sentence a student understands."""
    standing: Standing
    """Whether these points can still change."""
    outcome: str
    """The observation's outcome, or `missing`."""
    hint: str = ""
    """A hint for the student; empty if no points are lost."""
    missing: str = ""
    """The sentence on a file that was not handed in; empty if none is missing. Equal for all items that it
    costs."""
    visible: str = "always"
    """When the student sees it."""
    flags: tuple[str, ...] = ()
    """Remarks for staff; they cost no points."""
    fraction: float | None = None
    """The earned share, 0…1; None while the standing is provisional."""
    simulated: float | None = None
    """The share that it would earn where only a simulator has run it; None of all other lines."""
    for_person: bool | None = None
    """Whether it is open or held until a person decides, whatever another run observes; None of a card that
    an earlier grader scored."""
    counts: str = "earns"
    """`earns`, `bonus` or `penalty`."""

    def __post_init__(self) -> None:
        """Make its texts safe to show: an observation's note becomes a reason without an award."""
        _as_lines(self, "title", "reason", "hint", "missing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """The sums of a scorecard's lines, each kind apart."""

    earned: float = 0.0
    """Earned points of the items that make up the total, without bonus."""
    pending: float = 0.0
    """Points neither earned nor lost yet, without open bonus points."""
    possible: float = 0.0
    """The sum of the items that make up the total."""
    bonus: float = 0.0
    """Points of bonus items."""
    penalty: float = 0.0
    """Points of penalties, 0 or less."""
    raw: float = 0.0
    """The total of all three, within the bounds that the rubric sets, before the late rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Late:
    """The result of the late rule for one student."""

    due: datetime
    """The deadline with this student's extension."""
    extension_s: float = 0.0
    """The extension in `due`, in seconds; 0 for none, and in cards of an earlier grader."""
    submitted_at: datetime | None
    """None if nobody knows; then nothing is taken off."""
    marked: bool = False
    """Whether the LMS marked it late; that alone takes nothing off."""
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
    in_future: bool = False
    """Whether the submission time would cost points, but was more than an hour ahead when it was given:
    nothing is taken off, and the card is held."""

    @property
    def untimed(self) -> bool:
        """Whether the policy takes points for lateness but the submission time is unknown."""
        return bool(self.rule) and self.submitted_at is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """The total of one student: a team shares everything but its extensions."""

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
    """The score of one submission, computed from rubric and evidence."""

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
    """The standing of the most doubtful line; held where the submission time is wrong (`Late.in_future`)."""

    def still_open(self, total: Total) -> float:
        """Return the most that the open points can add to a total of this card, after the late rule."""
        return round(
            _after_late(self.points.raw + self.points.pending, total.late)
            - _after_late(self.points.raw, total.late),
            9,
        )


def _after_late(raw: float, late: Late | None) -> float:
    """Take off what lateness costs; what is below zero has nothing left to lose."""
    return raw - max(0.0, raw) * late.share if late else raw


def _as_lines(judged: Award | Line, *names: str) -> None:
    """Make each of the texts of a frozen value one line, and each flag: they quote what programs say."""
    for name in names:
        text = getattr(judged, name)
        if text and (line := one_line(text)) is not text:
            object.__setattr__(judged, name, line)
    if judged.flags != ():
        object.__setattr__(judged, "flags", tuple(map(one_line, judged.flags)))
