"""What a platform that is posted to over the network is asked, what it is told, and what it promises.

How it flows: `target()` says what is graded there and `held()` what each student has there now. Both change
nothing. `grader.lms.posting.plan` holds that against the marks: a line for each student, and a `Change` for
everyone who gets something new. `apply()` sends changes and gives a `Receipt` back for each. Whoever calls
it notes a change before it is sent and its receipt after it. The next plan starts from what the platform
holds by then; what was sent before is found there by its marker (`grader.lms.marker`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol

if TYPE_CHECKING:
    from grader.lms.people import Person


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The assignment that is graded there."""

    key: str
    """What it is in the whole world, as in `canvas canvas.uni.edu 1234 4242`; it goes into markers."""
    title: str
    possible: Decimal | None = None
    """The most points there; None if the platform does not say."""
    bounded: bool = False
    """Whether it takes no grade below zero or above `possible`."""
    refusal: str = ""
    """Why nobody can be given a grade there, and what to do; empty if it can be done."""
    criteria: Mapping[str, str] = field(default_factory=dict)
    """The ids of its own rubric's criteria, and what they are called."""
    remarks: tuple[str, ...] = ()
    """What else to know before anything is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What the platform holds of one student."""

    person: Person
    """Whose `row` is the place in `held()`, and whose `id` goes into a `Change`."""
    points: Decimal | None = None
    """The grade that was entered, before the platform took anything off; None if it is none in points."""
    shown: str = ""
    """The grade as people see it; empty if there is none."""
    by_us: bool = False
    """Whether the account that we post with gave it: that account may be a person's, too."""
    settled: str = ""
    """Why this student gets nothing, and what to do; empty if a grade can stand there."""
    markers: tuple[str, ...] = ()
    """Those in comments that our account wrote, the oldest first; a student's comment counts for nothing."""
    rubric: Mapping[str, Decimal] = field(default_factory=dict)
    """Points by criterion of the platform's own rubric."""
    remark: str = ""
    """What a person should know, such as points that the platform takes off itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What one student is to get."""

    student: str
    id: str
    """`Person.id` of the student there."""
    points: Decimal | None = None
    """The grade, on the platform's scale; None if it is there and only something else is missing."""
    comment: str = ""
    """For the student, with `marker` in it; empty for none."""
    marker: str = ""
    """By which the comment is found again; empty exactly if there is no comment."""
    page: Path | None = None
    """A file of the student's own, to be attached to the comment."""
    rubric: Mapping[str, Decimal] = field(default_factory=dict)
    """Points by criterion of the platform's own rubric."""


class Answer(StrEnum):
    """What came of a change."""

    THERE = "there"
    """All of it was seen there."""
    REFUSED = "refused"
    """The platform said no: asking again would not help."""
    UNKNOWN = "unknown"
    """Nobody knows: the next run looks and sends it only if it is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What the platform answered to one change."""

    student: str
    answer: Answer
    said: str = ""
    """A line for staff, without the token; empty if there is nothing to say."""


class Platform(Protocol):
    """One assignment on a platform.

    It promises: nothing is changed but by `apply`. A change is never performed twice where that would show,
    as in a second comment, also when an answer gets lost: then it reads back, and sends again only what is
    not there. A receipt says `there` only of what was read back or stood in the answer. No token appears in
    any error, receipt or address. All methods raise UsageError for a token that is not accepted, and
    NotObservedError for a platform that cannot be reached or refuses as a whole; receipts that were given out
    before still hold.
    """

    name: ClassVar[str]
    """As in `grader post NAME`, in the gradebook and in keys."""

    def target(self) -> Target:
        """The assignment."""

    def held(self) -> tuple[Held, ...]:
        """Everyone who can be graded there."""

    def apply(self, changes: Iterable[Change]) -> Iterator[Receipt]:
        """Send changes; one receipt for each, in any order, as soon as it is sure.

        Leaving the iteration early leaves the rest unsent or in doubt, never half reported.
        """
