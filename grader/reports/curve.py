"""The time of a call over the number of cores, as small inline SVG that needs no scripts.

Both axes are logarithmic: twice the cores in half the time is a straight line. Positions across are
percentages and heights are pixels, as in `grader.reports.bars`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log2
from typing import TYPE_CHECKING, Any

from grader.reports.bars import MOST_SAMPLES
from grader.reports.markup import text
from grader.reports.numbers import amount, number, samples, seconds

if TYPE_CHECKING:
    from grader.model.observation import Observation

TIMED = re.compile(r"seconds_([1-9]\d{0,3})")
"""The quantity of one number of cores."""
FACTOR = re.compile(r"factor_[1-9]\d{0,3}")
LEFT, RIGHT = 5.0, 82.0
"""Percent of the width at which the first and the last number of cores stand."""
TOP, BOTTOM = 24.0, 170.0
"""Pixels from above at which the longest and the shortest time stand."""
HEIGHT = 212
ROOM = 11.0
"""Percent of the width that a label takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The numbers of a drawing, by number of cores."""

    times: Mapping[int, float]
    """Medians, in seconds; at least two."""
    samples: Mapping[int, Sequence[float]]
    reference: Mapping[int, float]
    """Times of the reference, for comparison."""
    needed: Mapping[int, float]
    """Required speedup over the fewest cores."""

    @property
    def ideal(self) -> Mapping[int, float]:
        """Times of perfect scaling from the fewest cores."""
        fewest = min(self.times)
        return {count: self.times[fewest] * fewest / count for count in self.times}


def scaling_curve(observation: Observation, options: Any) -> str:
    """Draw the curve with a caption; empty if no call was timed on several numbers of cores.

    `options` are those of the item and have the present thresholds.
    """
    curve = _curve(observation, getattr(options, "at_least", None))
    if curve is None:
        return ""
    words = _sentence(curve)
    legend = "".join(
        f'<span><svg width="22" height="10" aria-hidden="true"><line class="{name}" x1="0" x2="22" y1="5" '
        f'y2="5"/></svg>{label}</span>'
        for name, label, shown in (
            ("own", "this one", True),
            ("ideal", "if twice the cores took half the time", True),
            ("reference", "the reference", bool(curve.reference)),
            ("needed", "needed", bool(curve.needed)),
        )
        if shown
    )
    return (
        '<div class="charts"><figure><p class="label">Time over cores</p>'
        f'<svg width="100%" height="{HEIGHT}" role="img" aria-label="{text(words)}">{_drawing(curve)}</svg>'
        f'<figcaption><span class="legend">{legend}</span> {text(_faster(curve))}</figcaption></figure></div>'
    )


def left_out(observation: Observation) -> str:
    """Name the numbers of cores that could not be measured; empty if all were."""
    counts = observation.facts.get("left_out")
    missing = [str(count) for count in counts if number(count)] if isinstance(counts, list | tuple) else []
    if not missing:
        return ""
    sentence = (
        f"Not measured, and not held against it: {', '.join(missing)} cores, which this machine did not have."
    )
    return f'<p class="soft">{text(sentence)}</p>'


def drawn(observation: Observation) -> frozenset[str]:
    """Quantities that the curve shows, so that they need not be listed again."""
    return frozenset(
        name for name in observation.quantities if TIMED.fullmatch(name) or FACTOR.fullmatch(name)
    )


def _curve(observation: Observation, at_least: Any) -> Curve | None:
    times = {
        int(match[1]): time
        for name in observation.quantities
        if (match := TIMED.fullmatch(name)) and (time := amount(observation, name))
    }
    if len(times) < 2:
        return None
    counts = sorted(times)
    taken = {count: samples(observation, str(count)) for count in counts}
    references = {count: samples(observation, f"reference_{count}") for count in counts}
    thresholds = at_least if isinstance(at_least, Mapping) else {}
    needed = {count: factor for count in counts if (factor := number(thresholds.get(str(count))))}
    return Curve(
        times={count: times[count] for count in counts},
        samples={count: [sample for sample in series if sample > 0] for count, series in taken.items()},
        reference={count: middle for count, series in references.items() if (middle := _middle(series)) > 0},
        needed=needed,
    )


def _middle(values: Sequence[float]) -> float:
    ordered, n = sorted(values), len(values)
    return (ordered[(n - 1) // 2] + ordered[n // 2]) / 2 if n else 0.0


def _faster(curve: Curve) -> str:
    fewest, *more = curve.times
    return (
        "; ".join(
            f"on {count} cores {curve.times[fewest] / curve.times[count]:.3g} times faster than on {fewest}"
            + (f" ({curve.needed[count]:.3g} needed)" if count in curve.needed else "")
            for count in more
        ).capitalize()
        + "."
    )


def _sentence(curve: Curve) -> str:
    return "Time over cores: " + ", ".join(
        f"{seconds(time)} on {count}" for count, time in curve.times.items()
    )


def _drawing(curve: Curve) -> str:
    counts = list(curve.times)
    fewest = counts[0]
    marks = {count: curve.times[fewest] / factor for count, factor in curve.needed.items()}
    every = [
        *(time for of in (curve.times, curve.ideal, curve.reference, marks) for time in of.values()),
        *(time for ones in curve.samples.values() for time in ones),
    ]
    low, high = log2(min(every)), log2(max(every))

    def x(count: float) -> float:
        return LEFT + (RIGHT - LEFT) * log2(count / fewest) / log2(counts[-1] / fewest)

    def y(time: float) -> float:
        return TOP + (BOTTOM - TOP) * (high - log2(time)) / (high - low)

    def line(name: str, of: Mapping[int, float]) -> Iterator[str]:
        for (count, first), (next_count, second) in pairwise(of.items()):
            yield (
                f'<line class="{name}" x1="{x(count):.2f}%" x2="{x(next_count):.2f}%" '
                f'y1="{y(first):.1f}" y2="{y(second):.1f}"/>'
            )

    def labels() -> Iterator[str]:
        last = -ROOM
        for count, time in curve.times.items():
            if (at := x(count)) - last < ROOM:
                continue
            last = at
            yield f'<text x="{at:.2f}%" dx="6" y="{y(time) - 5:.1f}">{seconds(time)}</text>'
            yield f'<text x="{at:.2f}%" y="{BOTTOM + 22:.0f}" text-anchor="middle">{count}</text>'

    needed = (
        f'<line class="needed" x1="{x(count) - 5:.2f}%" x2="{x(count):.2f}%" y1="{y(time):.1f}" '
        f'y2="{y(time):.1f}"/>'
        for count, time in marks.items()
    )
    dots = (
        f'<circle cx="{x(count):.2f}%" cy="{y(time):.1f}" r="2.5"/>'
        for count, ones in curve.samples.items()
        for time in ones[:MOST_SAMPLES]
    )
    axis = (
        f'<line class="axis" x1="0" x2="100%" y1="{BOTTOM + 8:.0f}" y2="{BOTTOM + 8:.0f}"/>'
        f'<text x="50%" y="{HEIGHT - 4}" text-anchor="middle">cores</text>'
    )
    lines = (*line("ideal", curve.ideal), *line("reference", curve.reference), *line("own", curve.times))
    return "".join((axis, *lines, *needed, *dots, *labels()))
