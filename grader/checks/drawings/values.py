"""Values of an observation for drawings."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from grader.model.observation import Quantity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.model.observation import Observation


def number_of(observation: Observation, name: str) -> float | None:
    """Return a quantity that can be drawn, a finite number from 0 on; None if there is none."""
    quantity = observation.quantities.get(name)
    value = quantity.value if quantity else None
    if isinstance(value, bool | str | None) or not isfinite(value) or value < 0:
        return None
    return float(value)


def in_seconds(times: Iterable[float | None]) -> Quantity:
    """Add times; the sum is unknown if one of them is."""
    seconds = list(times)
    unknown = None in seconds
    return Quantity(value=None if unknown else sum(time or 0.0 for time in seconds), unit="s")


def in_bytes(size: int | None) -> Quantity:
    """Return a number of bytes as a quantity."""
    return Quantity(value=size, unit="bytes")
