"""CSV table for points by hand: written for any spreadsheet, read with the variations that they save."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields

from grader.config.problem import suggestion
from grader.errors import UsageError

_FORMULA = re.compile("[\\s\u200b-\u200f\u2060-\u206f\ufeff]*[=+@\uff1d\uff0b\uff0d\uff20-]|[\t\r\n]")
"""Beginnings of cells that spreadsheets run as formulas, some also after invisible characters."""
_TEXT = "'"
_DELIMITERS = ",;\t"


@dataclass(frozen=True, slots=True, kw_only=True)
class PointsRow:
    """One item of one submission."""

    student: str
    assignment: str
    item: str
    title: str = ""
    asks: str = ""
    possible: str = ""
    points: str = ""
    """Empty while no points are given."""
    comment: str = ""
    submission: str = ""
    """The beginning of the digest of the submission: points for an earlier one are not taken for a later
    one."""


COLUMNS = tuple(field.name for field in fields(PointsRow))
NEEDED = ("student", "assignment", "item", "points")


def write_table(rows: Iterable[PointsRow]) -> bytes:
    """Encode the table as UTF-8 with a byte order mark, which spreadsheets need; no cell is a formula."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow(map(harmless, asdict(row).values()))
    return text.getvalue().encode("utf-8-sig")


def read_table(content: bytes, where: str) -> Iterator[tuple[int, PointsRow]]:
    """Yield each row with the line at which it begins, without empty ones.

    Raises:
        UsageError: it is no table, or lacks a column; with every column that is wrong.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{where}: is not UTF-8; save it as CSV UTF-8") from None
    first = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = [name.strip().lower() for name in next(reader, [])]
        if problems := list(_objections(header)):
            raise UsageError(*(f"{where}:1: {problem}" for problem in problems))
        line = reader.line_num + 1
        for cells in reader:
            values = dict(zip(header, map(_plain, cells), strict=False))
            if any(values.values()):
                yield line, _row(values)
            line = reader.line_num + 1
    except csv.Error as error:
        raise UsageError(f"{where}:{reader.line_num}: is no CSV ({error})") from None


def _objections(header: list[str]) -> Iterator[str]:
    for name in header:
        if name and name not in COLUMNS:
            yield f"unknown column {name!r}; {suggestion(name, COLUMNS)}"
    for name in NEEDED:
        if name not in header:
            yield f"there is no column {name!r}; export the table again"
    for name in sorted({name for name in header if name and header.count(name) > 1}):
        yield f"there are two columns {name!r}; take one out"


def _row(values: Mapping[str, str]) -> PointsRow:
    return PointsRow(**{name: values.get(name, "") for name in COLUMNS})


def harmless(cell: str) -> str:
    """Prefix a cell that a spreadsheet would run as a formula; `read_table` undoes it."""
    return _TEXT + cell if cell.startswith(_TEXT) or _FORMULA.match(cell) else cell


def _plain(cell: str) -> str:
    return cell[1:] if cell.startswith(_TEXT) else cell.strip()
