"""Filling grades into a platform's table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from grader.config.points_csv import harmless
from grader.contracts.exporter import FilledSheet, Grade, GradeRules, RowOutcome, RowResult, Rules
from grader.contracts.platform import Person
from grader.errors import UsageError
from grader.lms.numbers import decimal_separator, exact, read, spelled
from grader.lms.people import matched
from grader.lms.sheet import Sheet
from grader.model.magnitude import rounded
from grader.model.score import Standing
from grader.text import one_line

if TYPE_CHECKING:
    from grader.model.roster import Roster


_EMPTY = frozenset({"", "-"})
"""No grade yet."""
WAITS = {
    Standing.PROVISIONAL: "is not final: points are still open",
    Standing.HELD: "is held: a person has to look first",
}
"""Why a grade that is not final is held back."""
IN_FUTURE = "has a time of submission that had not come yet: grade again with the right --times"
UNTIMED = (
    "has no time of submission, and the rubric a late rule: grade again with --times, "
    "or --include-untimed takes nothing off"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The headings of a platform's table."""

    required: tuple[str, ...]
    """Headings without which the platform does not take the table."""
    id: str
    """The heading of the id that it writes into the names of files."""
    ids: tuple[tuple[str, str], ...]
    """Headings, each with the same field of the roster."""
    name: str
    """The heading of the students' names: for people, the platform finds nobody by it."""
    prefix: str = ""
    """Text before each id."""
    bounded: bool = False
    """Whether it takes no grade below zero or above the maximum."""
    settled: Mapping[str, str] = field(default_factory=dict)
    """Cells that are never replaced, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradeColumn:
    """The column of the grades."""

    index: int
    """Its place among the columns, from 0."""
    maximum: Callable[[int], str]
    """The cell of a row with the most points that the platform gives; empty if there is none."""
    maximum_row: int | None = None
    """The row that holds this cell for all students; None if each has one of their own."""
    locked: Callable[[int], str] = lambda _row: ""
    """Why nothing may be written into a row; empty if it may."""


def held_back(grade: Grade, rules: GradeRules) -> str:
    """Return why a grade is not given to a platform; empty if nothing is in the way."""
    if grade.standing in WAITS and not rules.include_provisional:
        return IN_FUTURE if grade.in_future else WAITS[grade.standing]
    return UNTIMED if grade.untimed and not rules.include_untimed else ""


def scaled(grade: Grade, most: Decimal | None, rules: GradeRules, where: str) -> Decimal:
    """Return the points on the scale of a platform where `most` is the maximum.

    Raises:
        UsageError: it is another maximum than the rubric's, and the rules do not convert.
    """
    points, possible = exact(grade.points), exact(grade.possible)
    if most is None or most == possible:
        return points
    if not rules.scale or not possible:
        wrong = f"the maximum is {spelled(most)} there, and {spelled(possible)} in the rubric"
        raise UsageError(f"{where}: {wrong}; make them alike, or convert with --scale")
    return points * most / possible


def read_sheet(content: bytes, where: str, layout: Layout) -> Sheet:
    """Read a platform's table.

    Raises:
        UsageError: it is not in the platform's format.
    """
    sheet = Sheet(content, where)
    for heading in layout.required:
        sheet.column(heading)
    return sheet


def fill(
    sheet: Sheet,
    layout: Layout,
    column: GradeColumn,
    grades: Mapping[str, Grade],
    roster: Roster,
    rules: Rules,
) -> FilledSheet:
    """Fill the grades, by student, into a table.

    Raises:
        UsageError: numbers in it cannot be read for sure, or its maximum is another than the rubric's.
    """
    people = tuple(_people(sheet, layout))
    rows = [person.row for person in people]
    numbers = [cell for row in rows for cell in (sheet.value(row, column.index), column.maximum(row))]
    filling = _Filling(sheet, layout, column, rules, decimal_separator(numbers, sheet.where))
    students, unmatched = matched(people, grades, roster)
    results = [
        unmatched.get(row) or filling.decide(row, students[row], grades.get(students[row])) for row in rows
    ]
    note = "has a grade, but no row of the file is surely theirs; have they left the course?"
    results += [
        RowResult(who=student, outcome=RowOutcome.NO_ROW, note=note)
        for student in sorted(grades)
        if student not in students.values()
    ]
    remarks = tuple(_defused(sheet, layout, people))
    return FilledSheet(
        text=sheet.text(),
        results=tuple(results),
        rounded=filling.rounded,
        remarks=remarks,
        column=sheet.headings[column.index],
    )


class _Filling:
    """One table while it is filled."""

    def __init__(
        self, sheet: Sheet, layout: Layout, column: GradeColumn, rules: Rules, separator: str
    ) -> None:
        self._sheet, self._layout, self._column, self._rules = sheet, layout, column, rules
        self._separator = separator
        """Before decimals."""
        self.rounded = 0

    def decide(self, row: int, student: str, grade: Grade | None) -> RowResult:
        """Write a student's grade, or return why not."""
        if grade is None:
            return RowResult(who=student, outcome=RowOutcome.NO_GRADE, note="is in the file and has no grade")
        cell = self._sheet.value(row, self._column.index).strip()
        if why := held_back(grade, self._rules):
            return RowResult(who=student, outcome=RowOutcome.HELD_BACK, note=why)
        if why := self._layout.settled.get(cell) or self._column.locked(row):
            return RowResult(who=student, outcome=RowOutcome.UNCHANGED, note=why)
        most = read(self._column.maximum(row), self._separator)
        of_all = self._column.maximum_row
        where = f"{self._sheet.where}:{self._sheet.line(row if of_all is None else of_all)}"
        exact_points = scaled(grade, most, self._rules, where)
        points = rounded(exact_points, self._rules.digits)
        if self._layout.bounded and not 0 <= points <= (points if most is None else most):
            upwards = "" if most is None else f" to {spelled(most)}"
            note = f"the grade is {spelled(points)}, and the range there is 0{upwards}; enter it by hand"
            return RowResult(who=student, outcome=RowOutcome.HELD_BACK, note=note)
        return self._write(row, student, exact_points, points, cell)

    def _write(self, row: int, student: str, exact_points: Decimal, points: Decimal, cell: str) -> RowResult:
        empty, before = cell in _EMPTY, read(cell, self._separator)
        if before is not None and rounded(before, self._rules.digits) == points:
            return RowResult(who=student, outcome=RowOutcome.SAME)
        if not empty and not self._rules.overwrite:
            note = f"{one_line(cell)} is there, and the grade is {spelled(points)}; --overwrite replaces it"
            return RowResult(who=student, outcome=RowOutcome.UNCHANGED, note=note)
        self._sheet.put(row, self._column.index, spelled(points, self._separator))
        self.rounded += points != exact_points
        if empty:
            return RowResult(who=student, outcome=RowOutcome.WRITTEN)
        less = ", which is less" if before is not None and points < before else ""
        note = f"{one_line(cell)} was there, now it is {spelled(points)}{less}"
        return RowResult(who=student, outcome=RowOutcome.REPLACED, note=note)


def _people(sheet: Sheet, layout: Layout) -> Iterator[Person]:
    """Yield the rows of students: those with an id of the platform."""
    id_column, name = sheet.column(layout.id), sheet.find(layout.name)
    columns = [(sheet.find(heading), meaning) for heading, meaning in layout.ids]

    def value(row: int, column: int | None) -> str:
        return sheet.value(row, column).strip().removeprefix(layout.prefix)

    for row in range(len(sheet)):
        if value(row, id_column):
            ids = ((meaning, value(row, column)) for column, meaning in columns)
            yield Person(
                row=row,
                name=sheet.value(row, name).strip(),
                id=value(row, id_column),
                ids=tuple((meaning, text) for meaning, text in ids if text),
            )


def _defused(sheet: Sheet, layout: Layout, people: Sequence[Person]) -> Iterator[str]:
    """Make text of names that a spreadsheet would run; yield a remark for other such columns."""
    elsewhere: dict[str, int] = {}
    for person in people:
        for at, heading in enumerate(sheet.headings):
            cell = sheet.value(person.row, at)
            if not _runs(cell):
                continue
            if heading.casefold() == layout.name.casefold():
                sheet.put(person.row, at, harmless(cell))
            else:
                elsewhere.setdefault(heading, sheet.line(person.row))
    for heading, line in elsewhere.items():
        yield (
            f"{sheet.where}:{line}: {one_line(heading)}: begins as a formula does, and stays since the "
            "platform reads it back; upload the file without opening it in a spreadsheet"
        )


def _runs(cell: str) -> bool:
    """Tell whether a spreadsheet takes a cell for a formula; a number or a single sign is none."""
    plain = cell.startswith("'") or harmless(cell) == cell
    return not plain and len(cell) > 1 and read(cell, ".") is None and read(cell, ",") is None
