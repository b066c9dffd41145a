"""What an exporter gets, what it gives back, and what it promises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Protocol

if TYPE_CHECKING:
    from grader.config.roster import Roster
    from grader.model.score import Standing
    from grader.model.view import AudienceView


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """What one student gets in one assignment."""

    student: str
    """One student, also of a team."""
    points: float
    """After the late rule; of a mark that is not final, what is earned so far."""
    possible: float
    """What the rubric gives, without bonus."""
    standing: Standing
    untimed: bool = False
    """Whether the rubric's late rule could not be applied, for no time of submission is known."""
    lms_id: str = ""
    """The id in the name of the student's own archive; empty for a team's, and where none is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the exporter was told."""

    column: str = ""
    """Which column takes the grades, by its heading or its id; empty where a file has one only."""
    include_provisional: bool = False
    """Also what is open or held: the points so far."""
    include_untimed: bool = False
    """Also where the late rule could not be applied: nothing is taken off."""
    overwrite: bool = False
    """Also where another grade stands already, even a higher one."""
    scale: bool = False
    """Where the platform's maximum is another than the rubric's, convert in proportion."""
    digits: int = 2
    """Decimals that are written; a half is rounded up."""


class Fate(StrEnum):
    """What became of one student."""

    WRITTEN = "written"
    REPLACED = "replaced"
    SAME = "there already"
    LEFT = "left as they were"
    """Another grade stands there, or nothing may be written there."""
    HELD_BACK = "held back"
    """The mark is not final, the late rule could not be applied, or it cannot be a grade there."""
    NO_ROW = "without a row"
    """There is a mark and nobody in the file to give it to."""
    NO_MARK = "without a mark"
    """The file has a student of whom nothing was marked: never a zero."""
    IN_DOUBT = "in doubt"
    """Ids that are not of one student."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One student, what became of the mark, and why."""

    who: str
    """The student; where the file's row is of nobody known, what the file calls them."""
    fate: Fate
    note: str = ""
    """A line for staff; empty if there is nothing to say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """A table with grades in it."""

    text: str
    """The file; UTF-8, with the mark of byte order if the platform's had one."""
    outcomes: tuple[Outcome, ...]
    """One for every student of the file, in its order, then for those without a row."""
    rounded: int = 0
    """How many of the grades that were written have fewer decimals than the mark."""
    remarks: tuple[str, ...] = ()
    """What else to know about the file."""


class Worksheet(Protocol):
    """A platform that gives a table out and takes it in again with grades in it.

    It promises: only cells of one column get another value, except that a name which a spreadsheet would run
    as a formula is made text; everything else stays as it was, byte for byte. Students are found by the
    platform's ids. What is not final is held back, and so is what the late rule could not be applied to; a
    grade that is there is left, and nobody gets a zero for a mark that is not there, unless the rules say so.
    Everyone who does not get their mark is named. The same input gives the same file, and a file that was
    filled has nothing left to fill.
    """

    name: ClassVar[str]
    """As in `grader export NAME`: a word of small letters, digits and hyphens."""
    file: ClassVar[str]
    """What the table is called, with words for where it comes from."""

    def fill(
        self, content: bytes, where: str, marks: Mapping[str, Mark], roster: Roster, rules: Rules
    ) -> Filled:
        """Fill the marks, by student, into a file that lines about it call `where`.

        Raises:
            UsageError: the file is not what the platform writes, or the rules do not fit to it.
        """


class Results(Protocol):
    """A platform that reads a file of its own for each student.

    It promises: what is in the file is in the view, and only the student's view is taken. While a mark is not
    final, or the late rule could not be applied to it, nobody but staff gets to see it, unless the rules say
    so. The same input gives the same file.
    """

    name: ClassVar[str]
    """As in `grader export NAME`."""
    filename: ClassVar[str]
    """What the platform calls the file; of a class each is STUDENT with the same ending."""

    def render(self, view: AudienceView, rules: Rules) -> str:
        """The whole file as text, UTF-8. Pure: no files, no clock.

        Raises:
            ValueError: the view is not the student's.
        """
