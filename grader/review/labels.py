"""Numbers by which submissions are called while names are hidden."""

from __future__ import annotations

_FIRST = 9000
_STEP = 5557
"""A prime that divides no such size: multiples of it reach every number once."""


def label(number: int) -> int:
    """Return the number by which the submission of a row is called, as `4711`; no other row has it.

    Rows are numbered in the order in which a class was graded, which is often that of the alphabet. These
    numbers are mixed: of four digits for the first 9,000 rows, of five for the next 90,000.
    """
    place, size = number - 1, _FIRST
    while place >= size:
        place, size = place - size, size * 10
    return (place + 1) * _STEP % size + size // 9
