"""Drawings of a class as values: how totals are spread, and measured values against their thresholds.

As in `grader.reports.layout`, places across are percentages and heights are pixels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, NamedTuple

from grader.model.magnitude import counted, number
from grader.reports.class_counts import Totals, median
from grader.reports.words import LineState

if TYPE_CHECKING:
    from grader.model.drawing import Gauge
    from grader.reports.class_counts import Bin

Ranked = Sequence[tuple[str, LineState, "Gauge"]]

HEIGHT, BASE, TALLEST = 178, 152, 124
"""Pixels: of a histogram, its base line, and its tallest bar."""
LABELS = 5
"""Points that are written below a distribution: more would touch each other on a phone."""
LEFT, RIGHT = 9.0, 99.0
"""Percent of the width between which values are drawn; what is left of it has the scale."""
TOP, BOTTOM = 14.0, 228.0
FEW = 120
"""Submissions up to which a dot may be large."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramBar:
    """One bar: percent across, pixels of its settled part and of the part that may still change."""

    x: float
    width: float
    settled: float
    so_far: float
    count: int
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """How many students have which totals."""

    caption: str
    bars: tuple[HistogramBar, ...]
    labels: tuple[tuple[float, str], ...]
    """Percent across and text below the bars."""
    height: int = HEIGHT
    base: int = BASE


def histogram(totals: Totals) -> Histogram | None:
    """Place the bars of a histogram of totals; None if there are no students."""
    bins = totals.bins
    tallest = max(each.settled + each.so_far for each in bins)
    if not tallest:
        return None
    width, scale = 100 / len(bins), TALLEST / tallest
    every = -(-len(bins) // LABELS)
    labels = [(k * width, number(bins[k].low)) for k in range(0, len(bins) - every // 2, every)]
    return Histogram(
        caption=distribution_in_words(totals),
        bars=tuple(
            HistogramBar(
                x=k * width,
                width=width * 0.86,
                settled=each.settled * scale,
                so_far=each.so_far * scale,
                count=each.settled + each.so_far,
                label=_bin_in_words(each, totals),
            )
            for k, each in enumerate(bins)
            if each.settled + each.so_far
        ),
        labels=(*labels, (100.0, number(bins[-1].low + totals.step))),
    )


def _bin_in_words(each: Bin, totals: Totals) -> str:
    students = counted(each.settled + each.so_far, "student")
    still_open = f", of {each.so_far} something is open" if each.so_far else ""
    return f"{number(each.low)} to {number(each.low + totals.step)} points: {students}{still_open}"


def distribution_in_words(totals: Totals) -> str:
    """Describe median, mean and range of the final totals, and the number of others."""
    settled, waiting = totals.settled, len(totals.so_far)
    parts = []
    if settled:
        parts.append(
            f"{counted(len(settled), 'final total')}: median {number(median(settled))}, "
            f"mean {number(sum(settled) / len(settled))}, from {number(settled[0])} to {number(settled[-1])} "
            f"of {number(totals.possible)} points."
        )
    if waiting:
        verb = "is" if waiting == 1 else "are"
        parts.append(
            f"{counted(waiting, 'total')} {verb} not final yet, hatched: points that are certain so far."
        )
    return " ".join(parts) or "There are no marks yet."


class RankedDot(NamedTuple):
    """One submission: percent across, pixels of its value and of the ends of its interval."""

    x: float
    y: float
    low_y: float
    high_y: float
    look: str
    label: str


class Tick(NamedTuple):
    """A line of the scale."""

    y: float
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The measured values of one item, the lowest first, with the threshold and the noise around it."""

    caption: str
    dots: tuple[RankedDot, ...]
    ticks: tuple[Tick, ...]
    needed_y: float
    noise_y: float
    noise_height: float
    radius: float
    left: float = LEFT
    height: int = int(BOTTOM) + 8


def ranking(measured: Ranked) -> Ranking | None:
    """Place every measured value with its interval on a logarithmic scale; None if there is none."""
    if not measured:
        return None
    ordered = sorted(measured, key=lambda entry: (entry[2].value, entry[0]))
    needed, noise = threshold(measured), typical_noise(measured)
    values = [end for _, _, gauge in ordered for end in (gauge.low or gauge.value, gauge.high)]
    lowest, highest = min(*values, needed) / 1.1, max(*values, needed) * 1.1

    def y(value: float) -> float:
        return TOP + (BOTTOM - TOP) * log(highest / value) / log(highest / lowest)

    return Ranking(
        caption=speedups_in_words(measured),
        dots=tuple(
            RankedDot(
                x=LEFT + (RIGHT - LEFT) * (k + 0.5) / len(ordered),
                y=y(gauge.value),
                low_y=y(gauge.low or gauge.value),
                high_y=y(gauge.high),
                look=what.name.lower(),
                label=_title(student, what, gauge),
            )
            for k, (student, what, gauge) in enumerate(ordered)
        ),
        ticks=tuple(Tick(y(tick), tick) for tick in _ticks(lowest, highest)),
        needed_y=y(needed),
        noise_y=y(needed * (1 + noise)),
        noise_height=max(1.0, y(needed / (1 + noise)) - y(needed * (1 + noise))),
        radius=3 if len(ordered) <= FEW else 1.8,
    )


def threshold(measured: Ranked) -> float:
    """Return the required speedup; the most frequent one if the scores have several."""
    needed = [gauge.needed for _, _, gauge in measured]
    return max(sorted(set(needed)), key=needed.count)


def typical_noise(measured: Ranked) -> float:
    """Return the median of the half-widths of all intervals, each as a share of its ratio."""
    return median(sorted((gauge.high - gauge.low) / 2 / gauge.value for _, _, gauge in measured))


def speedups_in_words(measured: Ranked) -> str:
    """Describe how many reach the threshold, and how many have it within their interval."""
    ratios = sorted(gauge.value for _, _, gauge in measured)
    needed = threshold(measured)
    clear = sum(gauge.low >= needed for _, _, gauge in measured)
    short = sum(gauge.high < needed for _, _, gauge in measured)
    near = len(measured) - clear - short
    return (
        f"{number(needed)} times are needed: {clear} reach it, {short} {'falls' if short == 1 else 'fall'} "
        f"short, {near} {'has' if near == 1 else 'have'} it within the interval. Median "
        f"{median(ratios):.3g}, from {ratios[0]:.3g} to {ratios[-1]:.3g}. "
        f"Noise: an interval is typically ±{100 * typical_noise(measured):.2g} %."
    )


def _title(student: str, what: LineState, gauge: Gauge) -> str:
    interval = f"between {gauge.low:.3g} and {gauge.high:.3g}"
    return f"{student}: {gauge.value:.3g} times, {interval}; {what.value}"


def _ticks(lowest: float, highest: float) -> Iterator[float]:
    """Yield ticks 1, 2, 5, 10, 20, … between two values; of many only the powers of ten."""
    powers = [10.0**k for k in range(-6, 10)]
    steps = (1, 2, 5) if highest / lowest < 300 else (1,)
    return (power * step for power in powers for step in steps if lowest < power * step < highest)
