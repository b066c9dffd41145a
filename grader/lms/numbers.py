"""Numbers in tables: read without guessing, rounded the same way everywhere."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal

from grader.errors import UsageError

_NUMBER = re.compile(r"[+-]?\d+(?:([.,])(\d+))?")
_THOUSANDS = 3
"""Digits after a separator that may be one of thousands, and so decides nothing."""


def decimal_separator(cells: Iterable[str], where: str) -> str:
    """Return the separator of decimals in a file, `.` or `,`; the point if no number has one.

    A separator before exactly three digits decides nothing.

    Raises:
        UsageError: there are both.
    """
    separators = {
        number[1]
        for cell in cells
        if (number := _NUMBER.fullmatch(cell.strip())) and number[1] and len(number[2]) != _THOUSANDS
    }
    if len(separators) > 1:
        raise UsageError(f"{where}: has grades with a decimal comma and with a point; make them alike")
    return separators.pop() if separators else "."


def read(cell: str, separator: str) -> Decimal | None:
    """Read the number in a cell; None if it is something else, or cannot be read without guessing."""
    number = _NUMBER.fullmatch(cell.strip())
    if number is None or number[1] not in {None, separator}:
        return None
    return Decimal(cell.strip().replace(",", "."))


def exact(points: float) -> Decimal:
    """Return points as they are shown everywhere, without the digits of binary fractions."""
    return Decimal(str(points))


def spelled(points: Decimal, separator: str = ".") -> str:
    """Return a number without an exponent, zeros at its end, or a sign before zero."""
    plain = f"{points:f}"
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    return "0" if plain == "-0" else plain.replace(".", separator)
