"""Moodle: the grading worksheet of one assignment, filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from grader.contracts.exporter import FilledSheet, Grade, Rules, Worksheet
from grader.errors import UsageError
from grader.lms.fill import GradeColumn, Layout, fill, read_sheet

if TYPE_CHECKING:
    from grader.model.roster import Roster

GRADE = "Grade"
LAYOUT = Layout(
    # by the last one Moodle sees whether somebody graded since: it must come back as it was
    required=("Identifier", GRADE, "Last modified (grade)"),
    id="Identifier",
    ids=(
        ("Identifier", "moodle_id"),
        ("ID number", "sis_id"),
        ("Username", "student"),
        ("Email address", "email"),
    ),
    name="Full name",
    prefix="Participant ",
    bounded=True,
)
_LOCKED = "no"
_NAME = re.compile(r"[^-]+-(?P<title>.+-.+)-(?P<id>\d+)")
"""The file's name as Moodle makes it: `Grades`, the course, the assignment, and the number of its page."""


class MoodleWorksheet(Worksheet):
    """The offline grading worksheet of an assignment in Moodle."""

    name: ClassVar[str] = "moodle"
    file: ClassVar[str] = "the grading worksheet that Moodle gives out"

    def fill(
        self, content: bytes, where: str, grades: Mapping[str, Grade], roster: Roster, rules: Rules
    ) -> FilledSheet:
        """Fill the column Grade, but for rows in which Moodle takes none."""
        sheet = read_sheet(content, where, LAYOUT)
        if rules.column not in {"", GRADE}:
            raise UsageError(f"--column {rules.column}: Moodle reads only {GRADE!r}; leave it out")
        maximum, changeable = sheet.find("Maximum Grade"), sheet.find("Grade can be changed")

        def locked(row: int) -> str:
            no = sheet.value(row, changeable).strip().casefold() == _LOCKED
            return "has a grade that cannot be changed there" if no else ""

        column = GradeColumn(
            index=sheet.column(GRADE), maximum=lambda row: sheet.value(row, maximum), locked=locked
        )
        filled = fill(sheet, LAYOUT, column, grades, roster, rules)
        stem = Path(where).stem
        named = _NAME.fullmatch(re.sub(r" ?\(\d+\)$", "", stem))
        title, number = (named["title"], named["id"]) if named else (stem, "")
        return replace(filled, assignment_title=title, assignment_id=number)
