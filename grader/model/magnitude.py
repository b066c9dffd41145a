"""Numbers as text: counts, points, and times and sizes in the unit that suits them."""

from __future__ import annotations

from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Context, Decimal

_TIMES = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))
_SIZES = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))
_DECIMALS = 2
_ANY_FLOAT = Context(prec=400)
"""Digits enough for the largest float with its decimals."""


def seconds(value: float) -> str:
    """Format a time: `1.23 ms`."""
    for unit, size in _TIMES:
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def size(value: float) -> str:
    """Format a number of bytes: `7.63 MiB`."""
    for unit, whole in _SIZES:
        if value >= whole:
            return f"{value / whole:.3g} {unit}"
    return f"{value:.0f} bytes"


def number(value: float) -> str:
    """Format points: `3`, `2.5`, `0.33`; a half of the last decimal is rounded as platforms get it."""
    exact = Decimal(str(float(value)))
    if not exact.is_finite():
        return f"{value:.2f}"
    text = f"{rounded(exact, _DECIMALS):f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def rounded(points: Decimal, digits: int) -> Decimal:
    """Round to so many decimals; a half upwards, for the student, also of points that are taken off.

    So what is left and what lateness took add up to what there was: of 12.5 points 11.125 and 1.375 are shown
    as 11.13 and -1.37.
    """
    half = ROUND_HALF_DOWN if points < 0 else ROUND_HALF_UP
    return points.quantize(Decimal(1).scaleb(-digits), half, _ANY_FLOAT)


def taken_off(points: float) -> str:
    """Format points that are taken off: `1.37` of 1.375, since what is left is rounded up."""
    return number(-points).removeprefix("-")


def counted(amount: float, noun: str) -> str:
    """Format `1 point`, `2.5 points`."""
    return f"{number(amount)} {noun}" if amount == 1 else f"{number(amount)} {noun}s"
