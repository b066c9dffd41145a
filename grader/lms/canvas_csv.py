"""Canvas: the exported gradebook, with the grades of one assignment filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from grader.config.problem import suggestion
from grader.contracts.exporter import FilledSheet, Grade, Rules, Worksheet
from grader.errors import UsageError
from grader.lms.fill import GradeColumn, Layout, fill, read_sheet

if TYPE_CHECKING:
    from grader.lms.sheet import Sheet
    from grader.model.roster import Roster

LAYOUT = Layout(
    required=("Student", "ID", "Section"),
    id="ID",
    ids=(
        ("ID", "canvas_id"),
        ("SIS User ID", "sis_id"),
        ("SIS Login ID", "student"),
        ("SIS Login ID", "email"),
    ),
    name="Student",
    settled={
        "EX": "is excused there; take that back first if a grade shall stand there",
        "N/A": "is not assigned this there; assign it first",
    },
)
_ASSIGNMENT = re.compile(r".*\((\d+)\)")
"""A column of an assignment: its title and its id. Any other heading would make a new assignment."""
_POINTS_ROW = "Points Possible"
_READ_ONLY = "(read only)"


class CanvasCsv(Worksheet):
    """The gradebook that Canvas exports as CSV, and imports."""

    name: ClassVar[str] = "canvas"
    file: ClassVar[str] = "the gradebook that Canvas exports as CSV"

    def fill(
        self, content: bytes, where: str, grades: Mapping[str, Grade], roster: Roster, rules: Rules
    ) -> FilledSheet:
        """Fill the column of one assignment; the row of possible points is checked and kept."""
        sheet = read_sheet(content, where, LAYOUT)
        student, column = sheet.column(LAYOUT.name), _column(sheet, rules.column)
        rows = (row for row in range(len(sheet)) if sheet.value(row, student).strip() == _POINTS_ROW)
        points_row = next(rows, None)
        worth = "" if points_row is None else sheet.value(points_row, column)
        if worth.strip() == _READ_ONLY:
            heading = sheet.headings[column]
            raise UsageError(f"{where}:1: {heading}: is read only in Canvas; name another column")
        grade_column = GradeColumn(index=column, maximum=lambda _row: worth, maximum_row=points_row)
        filled = fill(sheet, LAYOUT, grade_column, grades, roster, rules)
        title, _, number = filled.column.removesuffix(")").rpartition("(")
        return replace(filled, assignment_title=title.strip(), assignment_id=number)


def _column(sheet: Sheet, named: str) -> int:
    """Choose the column of the grades; never a new one, for Canvas would make an assignment of it."""
    ids = {match[1]: name for name in sheet.headings if (match := _ASSIGNMENT.fullmatch(name))}
    if not ids:
        raise UsageError(f"{sheet.where}:1: there is no column of an assignment, as in 'HW1 (4242)'")
    if named in ids.values() or named in ids:
        return sheet.column(ids.get(named, named))
    if named:
        advice = suggestion(named, ids.values())
        raise UsageError(f"--column {named}: is no assignment of {sheet.where}; {advice}")
    if len(ids) > 1:
        names = ", ".join(ids.values())
        raise UsageError(f"{sheet.where}:1: has several assignments; name one by --column: {names}")
    return sheet.column(*ids.values())
