"""Values of an observation for drawings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.model.observation import Quantity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.model.observation import Observation


def number_of(observation: Observation, name: str) -> float | None:
    """Return a quantity that is a number; None if it was not measured."""
    quantity = observation.quantities.get(name)
    value = quantity.value if quantity else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def in_seconds(times: Iterable[float | None]) -> Quantity:
    """Add times; the sum is unknown if one of them is."""
    seconds = list(times)
    unknown = None in seconds
    return Quantity(value=None if unknown else sum(time or 0.0 for time in seconds), unit="s")


def in_bytes(size: int | None) -> Quantity:
    """Return a number of bytes as a quantity."""
    return Quantity(value=size, unit="bytes")
