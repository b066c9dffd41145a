"""CSV table for points by hand: written for any spreadsheet, read with the variations that they save."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields

from grader.config.problem import closest
from grader.config.table import TableError, decode_table, rows
from grader.errors import UsageError

_FORMULA = re.compile("[\\s\u200b-\u200f\u2060-\u206f\ufeff]*[=+@\uff1d\uff0b\uff0d\uff20-]|[\t\r\n]")
"""Beginnings of cells that spreadsheets run as formulas, some also after invisible characters."""
_TEXT = "'"


@dataclass(frozen=True, slots=True, kw_only=True)
class PointsRow:
    """One item of one submission."""

    item: str
    student: str
    assignment: str
    title: str = ""
    asks: str = ""
    """The question, or what a person should look at."""
    answer: str = ""
    """The student's answer, its matched words between guillemets."""
    model: str = ""
    """The model answer."""
    criteria: str = ""
    """The criteria, one a line, with what was found of each."""
    suggested: str = ""
    """The points that a program suggests; empty if it suggests none."""
    now: str = ""
    """What the item earns as it is."""
    possible: str = ""
    points: str = ""
    """Empty while no points are given; ACCEPT takes the suggestion."""
    parts: tuple[str, ...] = ()
    """The points of each criterion, in the columns `part 1`, `part 2`, …"""
    comment: str = ""
    """For the student."""
    reason: str = ""
    """For staff."""
    document: str = ""
    """Where the answer stands, below the results folder."""
    submission: str = ""
    """The beginning of the digest of the submission: points for an earlier one are not taken for a later
    one."""
    absent: frozenset[str] = field(default=frozenset(), compare=False)
    """Columns that the table lacks, `parts` for all of `part 1`, …: an empty cell of theirs says nothing."""


ACCEPT = "ok"
"""Stands in place of points for those that are suggested."""
LONGEST_CELL = 30_000
"""Characters of a cell; spreadsheets cut cells at 32,767."""
_PARTS = "parts"
_PART = re.compile(r"part (\d{1,3})")
COLUMNS = tuple(each.name for each in fields(PointsRow) if each.name not in {_PARTS, "absent"})
PLACE_AND_POINTS = ("student", "assignment", "item", "points")
NEEDED = (*PLACE_AND_POINTS, "submission")
"""Without the submission, points could go to a later one, which nobody looked at."""


def write_table(lines: Iterable[PointsRow]) -> bytes:
    """Encode the table as UTF-8 with a byte order mark, which spreadsheets need; no cell is a formula."""
    text = io.StringIO()
    writer = csv.writer(text)
    lines = list(lines)
    parts = max((len(row.parts) for row in lines), default=0)
    place = COLUMNS.index("points") + 1
    writer.writerow((*COLUMNS[:place], *(f"part {n}" for n in range(1, parts + 1)), *COLUMNS[place:]))
    for row in lines:
        cells = [getattr(row, name) for name in COLUMNS]
        cells[place:place] = (*row.parts, *[""] * (parts - len(row.parts)))
        writer.writerow(harmless(_cut(cell)) for cell in cells)
    return text.getvalue().encode("utf-8-sig")


def read_table(content: bytes, where: str, needed: Iterable[str] = NEEDED) -> Iterator[tuple[int, PointsRow]]:
    """Yield each row that is not empty, with its number in a spreadsheet, whose cells hold breaks of lines.

    Columns of one's own are left out; one that is named almost like a column of the table is a mistake.

    Raises:
        UsageError: it is no table, or lacks a `needed` column; with every column that is wrong.
    """
    try:
        table = rows(decode_table(content))
        header = [name.strip().lower() for name in next(table, (1, []))[1]]
        if problems := list(_objections(header, needed)):
            raise UsageError(*(f"{where}:1: {problem}" for problem in problems))
        absent = {*COLUMNS, _PARTS}.difference(header, (_PARTS for name in header if _PART.fullmatch(name)))
        for number, (_, cells) in enumerate(table, start=2):
            values = {
                name: value
                for name, value in zip(header, map(_plain, cells), strict=False)
                if name in COLUMNS or _PART.fullmatch(name)
            }
            if any(values.values()):
                yield number, _row(values, frozenset(absent))
    except TableError as error:
        raise UsageError(f"{where}{error.place}: {error}") from None


def _objections(header: list[str], needed: Iterable[str]) -> Iterator[str]:
    for name in header:
        if name in COLUMNS or _PART.fullmatch(name):
            continue
        if meant := closest(name, (*COLUMNS, "part 1")):
            yield f"unknown column {name!r}; did you mean {meant}?"
    for name in needed:
        if name not in header:
            yield f"there is no column {name!r}; export the table again"
    for name in sorted({name for name in header if name and header.count(name) > 1}):
        yield f"there are two columns {name!r}; take one out"


def _row(values: Mapping[str, str], absent: frozenset[str]) -> PointsRow:
    parts = {int(match[1]): value for name, value in values.items() if (match := _PART.fullmatch(name))}
    last = max((number for number, value in parts.items() if value), default=0)
    return PointsRow(
        **{name: values.get(name, "") for name in COLUMNS},
        parts=tuple(parts.get(number, "") for number in range(1, last + 1)),
        absent=absent,
    )


def _cut(cell: str) -> str:
    return cell if len(cell) <= LONGEST_CELL else f"{cell[:LONGEST_CELL]} … (cut)"


def harmless(cell: str) -> str:
    """Prefix a cell that a spreadsheet would run as a formula; `read_table` undoes it."""
    return _TEXT + cell if cell.startswith(_TEXT) or _FORMULA.match(cell) else cell


def _plain(cell: str) -> str:
    return cell[1:] if cell.startswith(_TEXT) else cell.strip()
