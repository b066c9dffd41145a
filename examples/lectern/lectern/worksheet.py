"""An exporter: the table that Lectern gives out and takes in again."""

from __future__ import annotations

from collections.abc import Mapping

from grader.api.exporter import (
    FilledSheet,
    Grade,
    GradeColumn,
    Layout,
    Roster,
    Rules,
    Worksheet,
    fill,
    read_sheet,
)

LAYOUT = Layout(required=("Login", "Points"), id="Login", ids=(("Login", "student"),), name="Name")


class LecternSheet(Worksheet):
    """The columns Name, Login, Maximum and Points."""

    name = "lectern"
    file = "the table that Lectern gives out"

    def fill(
        self, content: bytes, where: str, grades: Mapping[str, Grade], roster: Roster, rules: Rules
    ) -> FilledSheet:
        """Write the points of each login."""
        sheet = read_sheet(content, where, LAYOUT)
        maximum = sheet.find("Maximum")
        column = GradeColumn(index=sheet.column("Points"), maximum=lambda row: sheet.value(row, maximum))
        return fill(sheet, LAYOUT, column, grades, roster, rules)
