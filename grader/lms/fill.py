"""Marks into a platform's own table: what is written where, what is not, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from grader.config.points_csv import harmless
from grader.errors import UsageError
from grader.lms.contract import Fate, Filled, Grade, Outcome, Rules
from grader.lms.grades import decimal_mark, exact, read, rounded, spelled
from grader.lms.people import Person, matched
from grader.lms.sheet import Sheet
from grader.model.score import Standing
from grader.text import one_line

if TYPE_CHECKING:
    from grader.config.roster import Roster


_EMPTY = frozenset({"", "-"})
"""No grade yet."""
WAITS = {
    Standing.PROVISIONAL: "is not final: points are still open",
    Standing.HELD: "is held: a person has to look first",
}
"""What keeps a mark back."""
UNTIMED = (
    "has no time of submission, and the rubric a late rule: grade again with --times, "
    "or --include-untimed takes nothing off"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Where a platform's table has what."""

    required: tuple[str, ...]
    """Headings without which the platform does not take the table."""
    id: str
    """The heading of the id that it writes into the names of files."""
    ids: tuple[tuple[str, str], ...]
    """Headings, each with the field of the roster that says the same."""
    name: str
    """The heading of the students' names: for people, the platform finds nobody by it."""
    prefix: str = ""
    """What stands before each id."""
    bounded: bool = False
    """Whether it takes no grade below zero or above the maximum."""
    settled: Mapping[str, str] = field(default_factory=dict)
    """What may stand instead of a grade and is never replaced, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where one student's grade goes."""

    column: int
    maximum: Callable[[int], str]
    """The cell, of a row, that says how many points the platform gives; empty if it says nothing."""
    locked: Callable[[int], str] = lambda _row: ""
    """Why nothing may be written into a row; empty if it may."""


def held_back(mark: Grade, *, include_provisional: bool, include_untimed: bool) -> str:
    """Return why a mark is kept from a platform; empty if nothing is in the way."""
    if mark.standing in WAITS and not include_provisional:
        return WAITS[mark.standing]
    return UNTIMED if mark.untimed and not include_untimed else ""


def read_sheet(content: bytes, where: str, layout: Layout) -> Sheet:
    """A platform's table.

    Raises:
        UsageError: it is not what the platform writes.
    """
    sheet = Sheet(content, where)
    for heading in layout.required:
        sheet.column(heading)
    return sheet


def fill(
    sheet: Sheet, layout: Layout, place: Place, marks: Mapping[str, Grade], roster: Roster, rules: Rules
) -> Filled:
    """Fill the marks, by student, into a table.

    Raises:
        UsageError: numbers in it cannot be read for sure, or its maximum is another than the rubric's.
    """
    people = tuple(_people(sheet, layout))
    cells = [sheet.value(one.row, place.column) for one in people]
    maxima = [place.maximum(one.row) for one in people]
    filling = _Filling(sheet, layout, place, rules, decimal_mark((*cells, *maxima), sheet.where))
    students, said = matched(people, marks, roster)
    outcomes = [
        said.get(one.row) or filling.decide(one.row, students[one.row], marks.get(students[one.row]))
        for one in people
    ]
    outcomes += [
        Outcome(who=student, fate=Fate.NO_ROW, note="has a mark and no row of the file is sure to be theirs")
        for student in sorted(marks)
        if student not in students.values()
    ]
    remarks = tuple(_defused(sheet, layout, people))
    return Filled(text=sheet.text(), outcomes=tuple(outcomes), rounded=filling.rounded, remarks=remarks)


class _Filling:
    """One table while it is filled."""

    def __init__(self, sheet: Sheet, layout: Layout, place: Place, rules: Rules, mark: str) -> None:
        self._sheet, self._layout, self._place, self._rules = sheet, layout, place, rules
        self._mark = mark
        """Before decimals."""
        self.rounded = 0

    def decide(self, row: int, student: str, mark: Grade | None) -> Outcome:
        """Write a student's mark, or say why not."""
        if mark is None:
            return Outcome(who=student, fate=Fate.NO_MARK, note="is in the file and has no mark")
        there = self._sheet.value(row, self._place.column).strip()
        rules = self._rules
        if why := held_back(
            mark, include_provisional=rules.include_provisional, include_untimed=rules.include_untimed
        ):
            return Outcome(who=student, fate=Fate.HELD_BACK, note=why)
        if why := self._layout.settled.get(there) or self._place.locked(row):
            return Outcome(who=student, fate=Fate.LEFT, note=why)
        points, most = self._points(row, mark)
        grade = rounded(points, self._rules.digits)
        if self._layout.bounded and not 0 <= grade <= (grade if most is None else most):
            upwards = "" if most is None else f" to {spelled(most)}"
            note = f"the mark is {spelled(grade)}, and grades from 0{upwards} are taken; give this one there"
            return Outcome(who=student, fate=Fate.HELD_BACK, note=note)
        return self._write(row, student, points, grade, there)

    def _write(self, row: int, student: str, points: Decimal, grade: Decimal, there: str) -> Outcome:
        empty, before = there in _EMPTY, read(there, self._mark)
        if before is not None and rounded(before, self._rules.digits) == grade:
            return Outcome(who=student, fate=Fate.SAME)
        if not empty and not self._rules.overwrite:
            note = (
                f"{one_line(there)} stands there, and the mark is {spelled(grade)}; --overwrite replaces it"
            )
            return Outcome(who=student, fate=Fate.LEFT, note=note)
        self._sheet.put(row, self._place.column, spelled(grade, self._mark))
        self.rounded += grade != points
        if empty:
            return Outcome(who=student, fate=Fate.WRITTEN)
        less = ", which is less" if before is not None and grade < before else ""
        note = f"{one_line(there)} stood there, now it is {spelled(grade)}{less}"
        return Outcome(who=student, fate=Fate.REPLACED, note=note)

    def _points(self, row: int, mark: Grade) -> tuple[Decimal, Decimal | None]:
        """The points on the platform's scale, and the most that it gives if it says so."""
        points, possible = exact(mark.points), exact(mark.possible)
        most = read(self._place.maximum(row), self._mark)
        if most is None or most == possible:
            return points, most
        if not self._rules.scale or not possible:
            where = f"{self._sheet.where}:{self._sheet.line(row)}"
            wrong = f"the maximum is {spelled(most)} there, and {spelled(possible)} in the rubric"
            raise UsageError(f"{where}: {wrong}; make them alike, or convert with --scale")
        return points * most / possible, most


def _people(sheet: Sheet, layout: Layout) -> Iterator[Person]:
    """The rows that are of students: those with an id of the platform."""
    own, name = sheet.column(layout.id), sheet.find(layout.name)
    columns = [(sheet.find(heading), meaning) for heading, meaning in layout.ids]

    def said(row: int, column: int | None) -> str:
        return sheet.value(row, column).strip().removeprefix(layout.prefix)

    for row in range(len(sheet)):
        if said(row, own):
            ids = ((meaning, said(row, column)) for column, meaning in columns)
            yield Person(
                row=row,
                name=sheet.value(row, name).strip(),
                id=said(row, own),
                ids=tuple((meaning, value) for meaning, value in ids if value),
            )


def _defused(sheet: Sheet, layout: Layout, people: Sequence[Person]) -> Iterator[str]:
    """Make names text that a spreadsheet would run, and say what else it would."""
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
    """Whether a spreadsheet takes a cell for a formula; a number or a single sign is none."""
    plain = cell.startswith("'") or harmless(cell) == cell
    return not plain and len(cell) > 1 and read(cell, ".") is None and read(cell, ",") is None
