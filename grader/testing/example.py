"""An example of a platform's table, as the author of an exporter describes it to the conformance kit."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import Any

from grader.contracts.exporter import FilledSheet, Grade, Rules, Worksheet
from grader.model.roster import Roster, Student
from grader.model.score import Standing

BYTE_ORDER_MARK = "\ufeff"
POSSIBLE = 10.0
"""Possible points of every grade, and the value of `{maximum}`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One student in the example."""

    student: str
    """The student's id on the platform, which it writes into the row."""
    name: str = "A name"
    grade: str = ""
    number: int = 0
    """Another id of the platform, unlike those of all other rows; 0 for the row's place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """Delimiter and line ends of a table."""

    delimiter: str = ","
    end: str = "\r\n"
    byte_order_mark: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A table of a platform, written as CSV."""

    worksheet: type[Worksheet]
    headings: tuple[str, ...]
    row: tuple[str, ...]
    """A cell below each heading. `{name}`, `{student}` (an id of theirs) and `{grade}` stand in one each;
    `{number}` is an id of the platform's own, `{maximum}` the points that it gives."""
    column: str = ""
    """The value of `--column`; empty for none."""
    no_grade: tuple[str, ...] = ("",)
    """Cells that mean no grade."""
    delimiters: tuple[str, ...] = (",", ";", "\t")
    """Delimiters that the platform writes; with `;` decimals may have a comma."""
    known_by: str = "student"
    """The field of the roster (`grader.model.roster.Student`) that has what `{student}` is replaced by."""
    spelled: str = "{}"
    """The platform's format of that id, as in `{}@uni.edu`."""

    def text(self, *rows: Row, dialect: Dialect | None = None, maximum: str = "") -> str:
        """Return the platform's file with these rows."""
        how = dialect or Dialect(delimiter=self.delimiters[0])
        commas = how.delimiter == ";" and any("," in row.grade for row in rows)
        file = io.StringIO(newline="")
        writer = csv.writer(file, delimiter=how.delimiter, lineterminator=how.end)
        writer.writerow(self.headings)
        for place, row in enumerate(rows, 1):
            values = {
                "student": self.spelled.format(row.student),
                "name": row.name,
                "grade": row.grade,
                "number": row.number or place,
                "maximum": maximum or ("10,00" if commas else "10.00"),
            }
            writer.writerow(cell.format_map(values) for cell in self.row)
        return BYTE_ORDER_MARK * how.byte_order_mark + file.getvalue()

    def cells(self, text: str, what: str, delimiter: str = "") -> list[str]:
        """Return the cells of `name`, `grade` or `student` in each row of a file."""
        place = next(at for at, cell in enumerate(self.row) if f"{{{what}}}" in cell)
        lines = io.StringIO(text.removeprefix(BYTE_ORDER_MARK), newline="")
        return [row[place] for row in list(csv.reader(lines, delimiter=delimiter or self.delimiters[0]))[1:]]

    def fill(
        self, content: str | bytes, *grades: Grade, roster: Roster | None = None, **rules: Any
    ) -> FilledSheet:
        """Fill the file by a new exporter."""
        raw = content.encode() if isinstance(content, str) else content
        by_student = {grade.student: grade for grade in grades}
        options = Rules(**{"column": self.column, **rules})
        return self.worksheet().fill(
            raw, "sheet.csv", by_student, roster or self.roster(*by_student), options
        )

    def roster(self, *students: str) -> Roster:
        """Return the roster: empty where the platform calls students as grader does."""
        if self.known_by == "student":
            return Roster()
        rows = ({"student": student, self.known_by: self.spelled.format(student)} for student in students)
        return Roster(students=tuple(Student(**row) for row in rows), file="roster.csv")


def make_grade(
    student: str = "ann", points: float = 7.5, standing: Standing = Standing.FINAL, *, untimed: bool = False
) -> Grade:
    """Return a student's grade of ten points."""
    return Grade(student=student, points=points, possible=POSSIBLE, standing=standing, untimed=untimed)
