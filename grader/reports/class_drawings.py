"""Totals of a class in words, and measured values against their thresholds on a logarithmic scale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

from grader.model.magnitude import counted, number
from grader.reports.class_counts import Totals, median
from grader.reports.words import LineState

if TYPE_CHECKING:
    from grader.model.drawing import Gauge

Ranked = Sequence[tuple[str, LineState, "Gauge"]]

TOP, BOTTOM = 14.0, 228.0
"""Pixels from above of the highest and the lowest value."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The measured values of one item, the lowest first, on a logarithmic scale."""

    measured: Ranked
    caption: str
    needed: float
    noise: float
    lowest: float
    highest: float

    def y(self, value: float) -> float:
        """Return the distance of a value from above, in pixels."""
        return TOP + (BOTTOM - TOP) * log(self.highest / value) / log(self.highest / self.lowest)

    def ticks(self) -> Iterator[float]:
        """Yield ticks 1, 2, 5, 10, 20, … within the scale; of many only the powers of ten."""
        steps = (1, 2, 5) if self.highest / self.lowest < 300 else (1,)
        ticks = (10.0**k * step for k in range(-6, 10) for step in steps)
        return (tick for tick in ticks if self.lowest < tick < self.highest)


def ranking(measured: Ranked) -> Ranking | None:
    """Rank measured values; None if there is none."""
    if not measured:
        return None
    needed = threshold(measured)
    values = [end for _, _, gauge in measured for end in (gauge.low or gauge.value, gauge.high)]
    return Ranking(
        measured=sorted(measured, key=lambda entry: (entry[2].value, entry[0])),
        caption=speedups_in_words(measured),
        needed=needed,
        noise=typical_noise(measured),
        lowest=min(*values, needed) / 1.1,
        highest=max(*values, needed) * 1.1,
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
