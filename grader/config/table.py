"""CSV tables as spreadsheets and platforms save them: UTF-8 or UTF-16, with commas, semicolons or tabs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from grader.config.type_words import quoted
from grader.model.magnitude import counted

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""Beginnings of what Excel saves as Unicode text."""
_WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
"""Beginnings of .xlsx and .ods, which are zips, and of .xls."""
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab"}
"""What stands between cells, with its name."""
_SEPARATOR = re.compile('"?sep=(.)"?\r?\n', re.IGNORECASE)
"""A first line by which some programs tell Excel the delimiter."""


class TableError(Exception):
    """A file that is no table: the line, if it is known, and what is wrong with what to do."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.place = f":{line}" if line else ""
        """What follows the name of the file."""


def decode_table(content: bytes) -> str:
    """Decode a file, without a byte order mark.

    Raises:
        TableError: it is in another encoding.
    """
    if content.startswith(_WORKBOOKS):
        raise TableError("is a spreadsheet's own file and no CSV; save it as CSV UTF-8, and name that")
    encoding = "utf-16" if content.startswith(_UTF_16) else "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        raise TableError("is not UTF-8; save it as CSV UTF-8") from None


def delimiter_of(text: str) -> str:
    """Return the character between the cells of a table, by its first line."""
    separator = _SEPARATOR.match(text)
    return separator[1] if separator else max(DELIMITERS, key=text.partition("\n")[0].count)


def rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each row, the heading first, with the line at which it begins.

    Raises:
        TableError: a quote is not closed, or the like.
    """
    import csv
    import io

    delimiter = delimiter_of(text)
    separator = _SEPARATOR.match(text)
    skipped = 1 if separator else 0
    text = text[separator.end() :] if separator else text
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            yield line + skipped, cells
            line = reader.line_num + 1
    except csv.Error as error:
        message = f"is no CSV ({error}); save it again as CSV UTF-8"
        if reader.line_num > line or "end of data" in str(error):  # a quote took in the lines that follow
            message = "is no CSV (a quote opens in this line and is not closed); close it, or take it out"
        raise TableError(message, line + skipped) from None


def heading(cell: str) -> str:
    """Return a heading in lower case, with one blank for `_`, `-` and any space."""
    return " ".join(re.split(r"[\s_-]+", cell.strip().lower()))


def checked_rows(
    table: Iterable[tuple[int, Sequence[str]]], headings: Sequence[str], delimiter: str
) -> Iterator[tuple[int, Sequence[str], str]]:
    """Yield each row behind the heading that is not empty: its line, its cells, and what may have moved them.

    The last is empty where nothing did; where something did, cells may be those of other columns.
    """
    filled = [(line, cells) for line, cells in table if any(cell.strip() for cell in cells)]
    some_fit = any(len(cells) <= len(headings) for _, cells in filled)
    whole = [cells for _, cells in filled if len(cells) == len(headings)]
    columns = [{cell.strip() for cell in column} for column in zip(*whole, strict=True)]
    for line, cells in filled:
        moved = _other_delimiter(cells, headings, delimiter)
        moved = moved or _too_few_cells(cells, headings, delimiter, columns)
        yield line, cells, moved or _too_many_cells(cells, headings, delimiter, others_fit=some_fit)


def _other_delimiter(cells: Sequence[str], headings: Sequence[str], delimiter: str) -> str:
    """Return which cell is several, written with the delimiter of another table; empty if none is."""
    width = len(headings)
    for other, name in DELIMITERS.items():
        parted = re.compile(rf"{other}(?=\S)")  # no blank behind it, as in `Doe, Jane`
        cell = next(filter(parted.search, cells), "")
        if other != delimiter and cell and len(cells) + len(parted.findall(cell)) <= width:
            return (
                f"{quoted(cell.strip())} holds a {name}, and the row has {len(cells)} of {width} "
                f"cells; put a {DELIMITERS.get(delimiter, delimiter)} between cells, as the first line does"
            )
    return ""


def _too_few_cells(
    cells: Sequence[str], headings: Sequence[str], delimiter: str, columns: Sequence[set[str]]
) -> str:
    """Return what a row lacks though its table writes empty cells, or has a last cell of a later column.

    `columns` are the values in the rows with all cells; where none of these ends with an empty cell, who
    writes the table leaves such cells out.
    """
    at, last = len(cells) - 1, cells[-1].strip()
    if not columns or len(cells) >= len(headings):
        return ""
    is_later = last and last not in columns[at] and any(last in column for column in columns[at + 1 :])
    if not is_later and "" not in columns[-1]:
        return ""
    missing = " and ".join(quoted(name.strip()) for name in headings[len(cells) :])
    name = DELIMITERS.get(delimiter, delimiter)
    has = f"{counted(len(cells), 'cell')}, and the heading {len(headings)}"
    return f"has {has}, so that {missing} would be empty; put a {name} behind each cell that is empty"


def _too_many_cells(
    cells: Sequence[str], headings: Sequence[str], delimiter: str, *, others_fit: bool
) -> str:
    """Return what is wrong with a row that a delimiter within a text may have moved; empty if none did.

    Empty cells behind the last column move nothing, unless a cell begins with a blank, as in `Doe, Jane`,
    and no heading does; or there is one, and others of the table fit: a single delimiter in a text
    (`Doe,Jane`) moves an empty last cell there.
    """
    further = cells[len(headings) :]
    parted = not any(map(_begins_with_blank, headings)) and any(map(_begins_with_blank, cells))
    name = DELIMITERS.get(delimiter, delimiter)
    advice = f"put a text with a {name} in quotes"
    if not (parted or any(cell.strip() for cell in further)):
        if len(further) != 1 or not others_fit or any(map(_begins_with_blank, headings)):
            return ""
        advice += f", or take the last {name} out"
    return f"has {len(cells)} cells, and the heading {len(headings)}; {advice}" if further else ""


def _begins_with_blank(cell: str) -> bool:
    return cell != cell.lstrip() and bool(cell.strip())
