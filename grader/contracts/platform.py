"""The contract of a platform to post to.

`target()` describes the assignment there and `grades()` the grade of each student; both change nothing.
`grader.lms.posting.plan` compares them with the grades of the gradebook: a line for each student, and a
`Change` for everyone who gets something new. `apply()` sends changes and yields a `Receipt` for each. The
caller notes a change before it is sent and its receipt after it. The next plan starts from what the platform
has by then; what was sent before is recognised by its marker (`grader.lms.marker`).
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Self

from grader.address import address_problem
from grader.model.options import option
from grader.model.roster import Student
from grader.text import one_line

MARKER = re.compile(r"\[grader (\d{1,6})\.([0-9a-f]{16})\]")
"""The form of the marker that a comment of ours carries: see `grader.lms.marker`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformOptions:
    """The keys that every platform has in `course.yaml`, below its name; a subclass adds its own."""

    url: str = option("The address of its front page, such as https://lms.example.edu.")
    assignments: Mapping[str, int] = option("By assignment: its number there.")

    def __post_init__(self) -> None:
        if problem := address_problem(self.url):
            raise ValueError(f"url: {problem}")
        if wrong := [name for name, number in self.assignments.items() if number < 1]:
            raise ValueError(f"assignments.{wrong[0]}: must be a whole number > 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The assignment on the platform."""

    key: str
    """Its name in the whole world, as `canvas canvas.uni.edu 1234 4242`; it goes into markers."""
    title: str
    possible: Decimal | None = None
    """The most points there; None if the platform does not say."""
    bounded: bool = False
    """Whether it takes no grade below zero or above `possible`."""
    takes_comments: bool = True
    """Whether a comment can go with a grade."""
    refusal: str = ""
    """Why nobody can be given a grade there, and what to do; empty if it can be done."""
    criteria: Mapping[str, str] = field(default_factory=dict)
    """The ids of its own rubric's criteria, and their titles."""
    remarks: tuple[str, ...] = ()
    """What else to know before anything is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """One row of the table that is of a student."""

    row: int
    name: str
    id: str
    """The id that the platform writes into the names of files."""
    ids: tuple[tuple[str, str], ...]
    """Fields of the roster with the row's value of each; none is empty."""

    @property
    def shown(self) -> str:
        """Return what messages call somebody who is on no roster."""
        return one_line(f"{self.name} ({self.id})" if self.name else self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformGrade:
    """The grade of one student on the platform, and what else it has of them."""

    person: Person
    """Whose `row` is the place in `grades()`, and whose `id` goes into a `Change`."""
    points: Decimal | None = None
    """The grade that was entered, before the platform took anything off; None if it is none in points."""
    shown: str = ""
    """The grade as people see it; empty if there is none."""
    by_us: bool = False
    """Whether the account that we post with gave it: that account may be a person's, too."""
    settled: str = ""
    """Why this student gets nothing, and what to do; empty if a grade can be entered."""
    markers: tuple[str, ...] = ()
    """Those in comments that our account wrote, the oldest first; a student's comment counts for nothing."""
    rubric: Mapping[str, Decimal] = field(default_factory=dict)
    """Points by criterion of the platform's own rubric."""
    remark: str = ""
    """What a person should know, such as points that the platform takes off itself."""

    def __post_init__(self) -> None:
        """Refuse what would have a grade replaced, or posted again, that is there.

        Raises:
            TypeError: `points` are no Decimal.
            ValueError: points that nobody sees, or a marker with more around it.
        """
        if self.points is not None and not isinstance(self.points, Decimal):
            raise TypeError(f"PlatformGrade: points must be a Decimal, and are {self.points!r}")
        if self.points is not None and not self.shown:
            raise ValueError("PlatformGrade: `shown` must say the points as people see them")
        if any(MARKER.fullmatch(marker) is None for marker in self.markers):
            raise ValueError("PlatformGrade: `markers` must be bare; use markers_in(comment)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change for one student."""

    student: str
    id: str
    """`Person.id` of the student there."""
    points: Decimal | None = None
    """The grade, on the platform's scale; None if it is there and only something else is missing."""
    comment: str = ""
    """For the student, with `marker` in it; empty for none."""
    marker: str = ""
    """The idempotency key in the comment; empty exactly if there is no comment."""
    page: Path | None = None
    """A file for the student, to be attached to the comment."""
    rubric: Mapping[str, Decimal] = field(default_factory=dict)
    """Points by criterion of the platform's own rubric."""


class Answer(StrEnum):
    """The outcome of a change."""

    THERE = "there"
    """All of it was read back."""
    REFUSED = "refused"
    """The platform refuses it: asking again would not help."""
    UNKNOWN = "unknown"
    """It may have been performed: the next run reads, and sends it only if it is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The platform's answer to one change."""

    student: str
    answer: Answer
    message: str = ""
    """A line for staff, without the token; empty if there is nothing to say."""

    @classmethod
    def refused(cls, change: Change, message: str) -> Self:
        """Return the receipt of a change that the platform does not take."""
        return cls(student=change.student, answer=Answer.REFUSED, message=message)

    @classmethod
    def unknown(cls, change: Change, message: str) -> Self:
        """Return the receipt of a change that may have been performed."""
        return cls(student=change.student, answer=Answer.UNKNOWN, message=f"{message}; run it again to look")

    @classmethod
    def graded_meanwhile(cls, change: Change, points: Decimal | None) -> Self:
        """Return the receipt of a change that is not sent: somebody has graded since it was planned."""
        shown = "nothing" if points is None else f"{points.normalize():f}"
        return cls.refused(change, f"was graded there meanwhile: now it is {shown}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformStandIn:
    """A running stand-in of a platform."""

    options: PlatformOptions
    """As `course.yaml` would have them."""
    token: str
    arrived: Callable[[], Mapping[str, str]]
    """Returns in words what has come, by student; without those for whom nothing has."""


class Platform(ABC):
    """One assignment on a platform.

    It promises: nothing is changed but by `apply`. A change is never performed twice where that would show,
    as in a second comment, also when an answer gets lost: then it reads back, and sends again only what is
    not there. A receipt says `there` only of what was read back or came with the answer. No token appears in
    any error, receipt or address. All methods raise UsageError for a token that is not accepted, and
    NotObservedError for a platform that cannot be reached or refuses as a whole; receipts that were yielded
    before are still true. `grader.lms.http.Http` does the requests of the built-in ones.
    """

    name: ClassVar[str]
    """As in `grader post NAME`, in the gradebook and in markers; the key in `course.yaml`; with `_TOKEN`, in
    capitals, the variable with the token. Small letters, digits and `_`."""
    title: ClassVar[str]
    """The platform as people call it."""
    Options: ClassVar[type[PlatformOptions]]
    """The keys below its name in `course.yaml`; the first paragraph of the docstring describes them."""
    attaches_pages: ClassVar[bool] = False
    """Whether it takes a student's page with the comment: then it has the option --results."""
    criteria_key: ClassVar[str] = ""
    """The key of `Options` with the ids of criteria by assignment, then by item; empty if there is none."""
    criteria: Mapping[str, str] = MappingProxyType({})
    """By item, the id of the criterion of the platform's own rubric that gets its points."""

    @classmethod
    @abstractmethod
    def connect(cls, options: Any, assignment: str, token: str) -> Self:
        """Return an assignment of the course, which is in `options.assignments`; sends nothing yet.

        Raises:
            UsageError: the token cannot be one.
        """

    @classmethod
    def stand_in(
        cls, assignment: str, students: Sequence[Student], possible: float
    ) -> AbstractContextManager[PlatformStandIn] | None:
        """Return a stand-in of the platform on this machine, for --rehearse; None if there is none.

        Everybody of `students` can be graded there in the assignment, which is worth `possible` points.
        """
        return None

    @abstractmethod
    def target(self) -> Target:
        """Describe the assignment."""

    @abstractmethod
    def grades(self) -> tuple[PlatformGrade, ...]:
        """Return everyone who can be graded there."""

    @abstractmethod
    def apply(self, changes: Iterable[Change]) -> Iterator[Receipt]:
        """Send changes; yield one receipt for each, in any order, as soon as it is sure.

        Leaving the iteration early leaves the rest unsent or in doubt, never half reported.
        """
