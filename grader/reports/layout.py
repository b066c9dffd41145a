"""Places and lengths of drawings: percent of the width across, pixels from above.

Values may be anything that a kind measured or a program claimed: what cannot be drawn is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite, log2
from typing import TYPE_CHECKING, Any, NamedTuple

from grader.model.magnitude import seconds, size
from grader.model.observation import Quantity

if TYPE_CHECKING:
    from grader.model.drawing import Bars, Breakdown, Cell, Curves, Gauge, ValueTable

Points = list[tuple[float, float]]
ROOM = 92.0
"""Percent of the width that the longest bar takes."""
SHORTEST = 0.4
"""Percent of the width of the shortest bar, so that a value above 0 is visible."""
MOST_SAMPLES = 60
MOST_DOTS = 600
LEFT, RIGHT = 5.0, 82.0
"""Percent of the width at which the first and the last point of a curve are drawn."""
TOP, BOTTOM = 24.0, 170.0
"""Pixels from above at which the largest and the smallest value are drawn."""
LABEL = 11.0
"""Percent of the width that a label takes."""
UNKNOWN = "-"
LONGEST_WORD = 16
"""Characters of the longest word of a table's first column that does not break."""
_BASE64 = re.compile(r"[A-Za-z0-9+/]{1,40000}={0,2}")


def value(cell: Cell) -> str:
    """Format a cell of a table, or the value of a bar, in a suitable unit."""
    if isinstance(cell, str):
        return cell
    amount, unit = cell.value, cell.unit_text
    if amount is None:
        return UNKNOWN
    usable = number(amount)
    if usable is not None and unit in _FORMATS:
        return _FORMATS[unit](usable)
    if isinstance(amount, bool | str):
        text = str(amount)
    else:
        text = f"{amount:,}" if isinstance(amount, int) else f"{amount:.3g}"
    return f"{text} {unit}" if unit else text


def first_column(drawing: ValueTable) -> int:
    """Return the characters for which the first column of a table has room: those of its longest word."""
    words = " ".join(value(row[0]) for row in drawing.rows[: drawing.at_most] if row).split()
    return min(max(map(len, words), default=0), LONGEST_WORD)


def number(of: Any) -> float | None:
    """Return a finite number that is 0 or more; None for any other value."""
    usable = isinstance(of, int | float) and not isinstance(of, bool) and isfinite(of) and of >= 0
    return float(of) if usable else None


def percentage(share: float) -> str:
    """Format a share in percent, never rounded to 0 or 100 %; a share of more than the whole as well."""
    if share in (0, 1) or 0.1 <= share < 0.99 or share >= 1.01:
        return f"{share:,.0%}"
    if share > 1:
        return f"{share:.1%}"
    return "less than 0.1%" if share < 0.001 else "more than 99.9%" if share > 0.999 else f"{share:.1%}"


_FORMATS = {"s": seconds, "bytes": size, "share": percentage}


class GaugePlaces(NamedTuple):
    """Percentages of the parts of a gauge."""

    value: float
    low: float
    high: float
    needed: float


def gauge(drawing: Gauge) -> GaugePlaces | None:
    """Place a gauge; None if one of its values cannot be drawn."""
    values = [number(part) for part in (drawing.value, drawing.low, drawing.high, drawing.needed)]
    measured = [part for part in values if part is not None]
    if len(measured) < len(values):
        return None
    ratio, low, high, needed = measured
    # an interval without an upper end to speak of leads out of the drawing
    longest = max(ratio, low, needed, min(high, 2 * max(ratio, needed))) or 1.0
    return GaugePlaces(*(min(ROOM * part / longest, 100.0) for part in measured))


@dataclass(frozen=True, slots=True, kw_only=True)
class BarRow:
    """One bar with its label, and dots for its samples."""

    name: str
    value: str
    width: float
    """0 for a value that is 0, or unknown."""
    dots: tuple[float, ...]
    samples: int


def bars(drawing: Bars) -> tuple[BarRow, ...]:
    """Place bars beside each other; none if there is no length to draw."""
    amounts = [number(bar.value.value) or 0.0 for bar in drawing.bars]
    samples = [_usable(bar.samples) for bar in drawing.bars]
    longest = drawing.whole or max((*amounts, *(one for some in samples for one in some)), default=0.0)
    if not longest:
        return ()
    room = 100.0 if drawing.whole else ROOM
    return tuple(
        BarRow(
            name=bar.name,
            value=value(bar.value),
            width=max(SHORTEST, room * amount / longest) if amount else 0.0,
            dots=tuple(room * one / longest for one in some[:: max(1, -(-len(some) // MOST_SAMPLES))]),
            samples=len(some),
        )
        for bar, amount, some in zip(drawing.bars, amounts, samples, strict=True)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SharePart:
    """One part of a divided bar."""

    name: str
    value: str
    start: float
    width: float


def shares(drawing: Breakdown) -> tuple[SharePart, ...]:
    """Place the parts of a whole one behind the other; none if the whole is 0."""
    amounts = [number(part.value.value) or 0.0 for part in drawing.parts]
    whole = sum(amounts)
    return tuple(
        SharePart(
            name=part.name,
            value=value(part.value),
            start=100 * sum(amounts[:n]) / whole,
            width=100 * amount / whole,
        )
        for n, (part, amount) in enumerate(zip(drawing.parts, amounts, strict=True))
        if whole
    )


def shares_in_words(parts: Sequence[SharePart]) -> str:
    """Describe the parts for screen readers."""
    return ", ".join(f"{part.name} {part.value} ({part.width:.0f}%)" for part in parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePlaces:
    """A drawing of curves on two logarithmic axes; all points have a place on them."""

    in_words: str
    lines: tuple[tuple[str, str, Points], ...]
    """Name, role and points of each."""
    samples: Points
    needed: Points
    labels: tuple[tuple[float, float, str], ...]
    """Points of the measured line, with the text of their values, that do not cover each other."""
    ends: tuple[float, float, float, float]
    """The least and the most across, and the least and the most upwards."""

    def x(self, count: float) -> float:
        """Return the percentage of the width for a count."""
        return _across(count, *self.ends[:2])

    def y(self, value: float) -> float:
        """Return the pixels from above for a value."""
        return BOTTOM - (BOTTOM - TOP) * _share(value, *self.ends[2:])


def curves(drawing: Curves) -> CurvePlaces | None:
    """Place curves; None if the measured one has fewer than two points."""
    lines = tuple((line.name, line.role, _points(line.points)) for line in drawing.lines)
    measured = lines[0][2] if lines else []
    if len(measured) < 2:
        return None
    samples = [point for line in drawing.lines for point in _points(line.samples)[:MOST_DOTS]]
    needed = _points(drawing.needed)
    across, upwards = zip(*(p for _, _, points in lines for p in points), *needed, *samples, strict=True)
    labels: list[tuple[float, float, str]] = []
    for x, y in measured:
        far = _across(x, min(across), max(across)) - LABEL
        if not labels or far >= _across(labels[-1][0], min(across), max(across)):
            labels.append((x, y, value(Quantity(value=y, unit=drawing.unit))))
    described = (f"{value(Quantity(value=y, unit=drawing.unit))} on {x:g}" for x, y in measured)
    return CurvePlaces(
        in_words=f"{drawing.title}: {', '.join(described)}",
        lines=lines,
        samples=samples,
        needed=needed,
        labels=tuple(labels),
        ends=(min(across), max(across), min(upwards), max(upwards)),
    )


def _across(count: float, least: float, most: float) -> float:
    return LEFT + (RIGHT - LEFT) * _share(count, least, most)


def _share(of: float, least: float, most: float) -> float:
    """Return where a value is between two others on a logarithmic axis, 0…1."""
    return log2(of / least) / log2(most / least) if most > least else 0.5


def _usable(values: Iterable[Any]) -> list[float]:
    return [one for of in values if (one := number(of)) is not None]


def _points(points: Iterable[tuple[Any, Any]]) -> Points:
    """Return the points that have a place on logarithmic axes."""
    usable = ((number(x), number(y)) for x, y in points)
    return [(x, y) for x, y in usable if x and y]


def base64_only(text: str) -> str:
    """Return the text if it is base64, and nothing otherwise: it stands in an address."""
    return text if _BASE64.fullmatch(text) else ""
