"""The contract of exporters: the files of learning platforms, filled in or written."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from grader.model.roster import Roster
from grader.model.score import Standing
from grader.model.view import AudienceView


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """One student's grade in one assignment, as platforms get it."""

    student: str
    """One student, also of a team."""
    points: float
    """After the late rule; before the grade is final, the points so far."""
    possible: float
    """The most that the rubric gives, without bonus."""
    standing: Standing
    untimed: bool = False
    """Whether the rubric's late rule could not be applied, for no time of submission is known."""
    in_future: bool = False
    """Whether the time of submission was more than an hour ahead, where it would cost points; it is held."""
    lateness: str = ""
    """A sentence for the student on what lateness costs; empty if it costs nothing."""
    lms_id: str = ""
    """The id in the name of the student's own archive; empty for a team's, and where none is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeRules:
    """The options that exports and postings share."""

    include_provisional: bool = False
    """Also what is open or held: the points so far."""
    include_untimed: bool = False
    """Also where the late rule could not be applied: nothing is taken off."""
    overwrite: bool = False
    """Also where there is another grade already."""
    scale: bool = False
    """Where the platform's maximum is another than the rubric's, convert in proportion."""
    digits: int = 2
    """Decimals that are written; a half is rounded up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules(GradeRules):
    """The options of an export."""

    column: str = ""
    """The column of the grades, by its heading or its id; empty where a file has a single one."""


class RowOutcome(StrEnum):
    """The outcome of an export or a posting for one student."""

    WRITTEN = "written"
    REPLACED = "replaced"
    SAME = "there already"
    UNCHANGED = "unchanged"
    """There is another grade already, or nothing may be written there."""
    HELD_BACK = "held back"
    """The grade is not final, the late rule could not be applied, or the platform does not take it."""
    NO_ROW = "without a row"
    """There is a grade and nobody in the file to give it to."""
    NO_GRADE = "without a grade"
    """The file has a student without a grade: never a zero."""
    IN_DOUBT = "in doubt"
    """The ids are not those of one student."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowResult:
    """The outcome for one student, and why."""

    who: str
    """The student; in a row of nobody known, the name and the id that the file has."""
    outcome: RowOutcome
    note: str = ""
    """A line for staff; empty if there is nothing to say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledSheet:
    """A table with grades in it."""

    text: str
    """The file; UTF-8, with a byte order mark if the platform's had one."""
    results: tuple[RowResult, ...]
    """One for every student of the file, in its order, then for those without a row."""
    rounded: int = 0
    """How many of the grades that were written have fewer decimals than in the gradebook."""
    remarks: tuple[str, ...] = ()
    """What else to know about the file."""
    column: str = ""
    """The heading of the column that was filled, which `--column` takes."""
    assignment_id: str = ""
    """The platform's id of the assignment that the column is of, if the file or its name has it."""
    assignment_title: str = ""
    """The platform's title of that assignment, if the file or its name has it."""


class Worksheet(ABC):
    """A platform that exports a table and imports it with grades in it.

    It promises: only cells of one column get another value, except that a name which a spreadsheet would run
    as a formula is made text; everything else stays as it was, byte for byte. Students are found by the
    platform's ids. What is not final is held back, and so is what the late rule could not be applied to; a
    grade that is there stays, and nobody gets a zero for want of a grade, unless the rules say so. Everyone
    who does not get their grade is named. The same input gives the same file, and a file that was
    filled has nothing left to fill.
    """

    name: ClassVar[str]
    """As in `grader export NAME`: a word of small letters, digits and hyphens."""
    file: ClassVar[str]
    """The name of the table, and where it comes from."""

    @abstractmethod
    def fill(
        self, content: bytes, where: str, grades: Mapping[str, Grade], roster: Roster, rules: Rules
    ) -> FilledSheet:
        """Fill the grades, by student, into a file that messages call `where`.

        Raises:
            UsageError: the file is not what the platform writes, or the rules do not fit to it.
        """


class ResultsFile(ABC):
    """A platform that reads a file for each student.

    It promises: what is in the file is in the view, and only the student's view is taken. While a grade is
    not final, or the late rule could not be applied to it, only staff sees it, unless the rules say
    otherwise. The same input gives the same file.
    """

    name: ClassVar[str]
    """As in `grader export NAME`."""
    filename: ClassVar[str]
    """The platform's name for the file; of a class each is STUDENT with the same ending."""

    @abstractmethod
    def render(self, view: AudienceView, rules: Rules) -> str:
        """The whole file as text, UTF-8. Pure: no files, no clock.

        Raises:
            ValueError: the view is not the student's.
        """
