"""Numbers of an observation for drawings and tables, read with suspicion, in units that suit them."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.model.observation import Observation

_TIMES = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))
_SIZES = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))


def seconds(value: float) -> str:
    """Format a time in a suitable unit: `1.23 ms`."""
    for unit, size in _TIMES:
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def size(value: int) -> str:
    """Format a number of bytes in a suitable unit: `7.63 MiB`."""
    for unit, whole in _SIZES:
        if value >= whole:
            return f"{value / whole:.3g} {unit}"
    return f"{value} bytes"


def amount(observation: Observation, name: str) -> float | None:
    """Return a measured quantity that can be drawn: a finite number, 0 or more."""
    quantity = observation.quantities.get(name)
    return number(quantity.value) if quantity else None


def samples(observation: Observation, which: str) -> tuple[float, ...]:
    """Return the samples of one series; empty if there are none."""
    by_name = observation.facts.get("samples")
    series = by_name.get(which) if isinstance(by_name, Mapping) else None
    values = map(number, series) if isinstance(series, list | tuple) else ()
    return tuple(value for value in values if value is not None)


def number(value: Any) -> float | None:
    """Return a finite number that is 0 or more; None for any other value."""
    usable = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and value >= 0
    return float(value) if usable else None
