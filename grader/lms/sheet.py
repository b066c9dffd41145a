"""A CSV file in which single cells can be set, while all others stay as they are, byte for byte."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from grader.config.problem import suggestion
from grader.errors import UsageError

_DELIMITERS = ",;\t"
_BYTE_ORDER_MARK = "\ufeff"


@dataclass(slots=True)
class _Row:
    line: int
    """The line in the file, from 1."""
    raw: list[str]
    """Its cells in the file, quotes included."""
    end: str
    """The end of the line; may be empty in the last one."""


class Sheet:
    """The rows below a heading, numbered from 0."""

    def __init__(self, content: bytes, where: str) -> None:
        """Read a file.

        Raises:
            UsageError: it is no CSV in UTF-8, or has no heading.
        """
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            raise UsageError(f"{where}: is not UTF-8; take the file as the platform gives it") from None
        self.where = where
        self._byte_order_mark = _BYTE_ORDER_MARK if text.startswith(_BYTE_ORDER_MARK) else ""
        text = text.removeprefix(_BYTE_ORDER_MARK)
        first = text.partition("\n")[0]
        self.delimiter = max(_DELIMITERS, key=first.count)
        rows = list(_rows(text, self.delimiter, where))
        if not rows:
            raise UsageError(f"{where}: is empty; download it again")
        self._header, *self._rows = rows
        self.headings = tuple(_value(raw).strip() for raw in self._header.raw)

    def __len__(self) -> int:
        return len(self._rows)

    def column(self, heading: str) -> int:
        """Return the place of a column.

        Raises:
            UsageError: there is none of this heading, or there are two.
        """
        place = self.find(heading)
        if place is None:
            advice = suggestion(heading, self.headings)
            raise UsageError(f"{self.where}:1: there is no column {heading!r}; {advice}")
        return place

    def find(self, heading: str) -> int | None:
        """Return the place of a column, whatever its case; None if there is none.

        Raises:
            UsageError: there are two.
        """
        places = [at for at, name in enumerate(self.headings) if name.casefold() == heading.casefold()]
        if len(places) > 1:
            raise UsageError(f"{self.where}:1: there are two columns {heading!r}; download it again")
        return places[0] if places else None

    def line(self, row: int) -> int:
        """Return the line at which a row begins in the file, from 1."""
        return self._rows[row].line

    def value(self, row: int, column: int | None) -> str:
        """Return the value of a cell; empty if the row or the file is too short for it."""
        raw = self._rows[row].raw
        return _value(raw[column]) if column is not None and column < len(raw) else ""

    def put(self, row: int, column: int, text: str) -> None:
        """Set a cell; quoted if it was, or if it must be."""
        raw = self._rows[row].raw
        raw += [""] * (column + 1 - len(raw))
        must = not {self.delimiter, '"', "\r", "\n"}.isdisjoint(text)
        quoted = must or raw[column].startswith('"')
        raw[column] = '"' + text.replace('"', '""') + '"' if quoted else text

    def text(self) -> str:
        """Return the whole file."""
        lines = (self.delimiter.join(row.raw) + row.end for row in (self._header, *self._rows))
        return self._byte_order_mark + "".join(lines)


def _rows(text: str, delimiter: str, where: str) -> Iterator[_Row]:
    cell = re.compile(
        rf'("[^"]*(?:""[^"]*)*"|(?!")[^{delimiter}\r\n]+|)({delimiter}|\r\n|\n|\r|\Z)',
    )
    at, line, begins, raw = 0, 1, 1, list[str]()
    while at < len(text) or raw:
        match = cell.match(text, at)
        if match is None:
            raise UsageError(f"{where}:{line}: is no CSV (a quote is not closed); download it again")
        raw.append(match[1])
        line += match[0].count("\n")
        at = match.end()
        if match[2] != delimiter:
            yield _Row(begins, raw, match[2])
            begins, raw = line, []


def _value(raw: str) -> str:
    return raw[1:-1].replace('""', '"') if raw.startswith('"') else raw
