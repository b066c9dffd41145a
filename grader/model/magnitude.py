"""Numbers as text: counts, points, and times and sizes in the unit that suits them."""

from __future__ import annotations

_TIMES = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))
_SIZES = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))


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
    """Format points: `3`, `2.5`, `0.33`."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def counted(amount: float, noun: str) -> str:
    """Format `1 point`, `2.5 points`."""
    return f"{number(amount)} {noun}" if amount == 1 else f"{number(amount)} {noun}s"
