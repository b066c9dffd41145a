"""Grades as tables spell them: read without guessing, and rounded the same way everywhere."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal

from grader.errors import UsageError

_NUMBER = re.compile(r"[+-]?\d+(?:([.,])(\d+))?")
_THOUSANDS = 3
"""Digits after a mark that may be one of thousands and so tells nothing."""


def decimal_mark(cells: Iterable[str], where: str) -> str:
    """The mark before decimals in a file, `.` or `,`; the point if no number has one.

    A mark before exactly three digits tells nothing.

    Raises:
        UsageError: there are both.
    """
    found = {
        number[1]
        for cell in cells
        if (number := _NUMBER.fullmatch(cell.strip())) and number[1] and len(number[2]) != _THOUSANDS
    }
    if len(found) > 1:
        raise UsageError(f"{where}: has grades with a decimal comma and with a point; make them alike")
    return found.pop() if found else "."


def read(cell: str, mark: str) -> Decimal | None:
    """The number in a cell; None if it is something else, or cannot be read without guessing."""
    number = _NUMBER.fullmatch(cell.strip())
    if number is None or number[1] not in {None, mark}:
        return None
    return Decimal(cell.strip().replace(",", "."))


def exact(points: float) -> Decimal:
    """Points as they are shown everywhere, without what binary adds."""
    return Decimal(str(points))


def rounded(points: Decimal, digits: int) -> Decimal:
    """To so many decimals; a half counts for the student."""
    return points.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)


def spelled(points: Decimal, mark: str = ".") -> str:
    """Without an exponent, zeros at the end, or a sign of nothing."""
    plain = f"{points:f}"
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    return "0" if plain == "-0" else plain.replace(".", mark)
