"""Drawings of a class as inline SVG that needs no scripts: how totals are spread, and measured speedups.

As in `grader.reports.bars`, positions across are percentages and heights are pixels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log
from typing import TYPE_CHECKING

from grader.reports.class_counts import Totals, median
from grader.reports.markup import text
from grader.reports.words import LineState, counted, number

if TYPE_CHECKING:
    from grader.reports.bars import MeasuredSpeedup
    from grader.reports.class_counts import Bin

Ranked = Sequence[tuple[str, LineState, "MeasuredSpeedup"]]

HEIGHT, BASE, TALLEST = 178, 152, 124
"""Pixels: of a drawing, where its bars stand, and how tall the tallest is."""
LABELS = 5
"""Points that are written below a distribution: more would touch each other on a phone."""
LEFT, RIGHT = 9.0, 99.0
"""Percent of the width between which speedups are drawn; what is left of it has the scale."""
TOP, BOTTOM = 14.0, 228.0
FEW = 120
"""Submissions up to which a dot may be large."""


def distribution(totals: Totals) -> str:
    """Draw a histogram of totals, with hatched bars for totals that are not final.

    Empty if there are no students.
    """
    bins = totals.bins
    tallest = max(bar.settled + bar.so_far for bar in bins)
    if not tallest:
        return ""
    caption = distribution_in_words(totals)
    bars = "".join(_bar(k, bar, 100 / len(bins), TALLEST / tallest, totals) for k, bar in enumerate(bins))
    every = -(-len(bins) // LABELS)
    labels = "".join(
        f'<text x="{100 * k / len(bins):.2f}%" y="{BASE + 18}" '
        f'text-anchor="{"middle" if k else "start"}">{number(bins[k].low)}</text>'
        for k in range(0, len(bins) - every // 2, every)
    )
    end = number(bins[-1].low + totals.step)
    return (
        f'<figure class="spread"><svg width="100%" height="{HEIGHT}" role="img" aria-label="{text(caption)}">'
        f'{HATCH}<line class="axis" x1="0" x2="100%" y1="{BASE}" y2="{BASE}"/>{bars}{labels}'
        f'<text x="100%" y="{BASE + 18}" text-anchor="end">{end}</text></svg>'
        f"<figcaption>{text(caption)}</figcaption></figure>"
    )


HATCH = (
    '<defs><pattern id="open" width="6" height="6" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate(45)"><rect class="hatch" width="3" height="6"/></pattern></defs>'
)


def _bar(k: int, bar: Bin, width: float, scale: float, totals: Totals) -> str:
    count = bar.settled + bar.so_far
    if not count:
        return ""
    x, across = k * width, width * 0.86
    settled, so_far = bar.settled * scale, bar.so_far * scale
    label = f"{number(bar.low)} to {number(bar.low + totals.step)} points: {counted(count, 'student')}"
    label += f", of {bar.so_far} something is open" if bar.so_far else ""
    return (
        f"<g><title>{text(label)}</title>"
        f'<rect class="settled" x="{x:.2f}%" y="{BASE - settled:.1f}" width="{across:.2f}%" '
        f'height="{settled:.1f}"/>'
        f'<rect fill="url(#open)" x="{x:.2f}%" y="{BASE - settled - so_far:.1f}" width="{across:.2f}%" '
        f'height="{so_far:.1f}"/>'
        f'<text x="{x + across / 2:.2f}%" y="{BASE - settled - so_far - 5:.1f}" '
        f'text-anchor="middle">{count}</text></g>'
    )


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


def ranked_speedups(measured: Ranked) -> str:
    """Draw every measured speedup with its interval, the lowest first, with the threshold and the noise.

    Empty if there is none.
    """
    if not measured:
        return ""
    ordered = sorted(measured, key=lambda entry: (entry[2].ratio, entry[0]))
    needed, noise = threshold(measured), typical_noise(measured)
    values = [value for _, _, speedup in ordered for value in (speedup.low or speedup.ratio, speedup.high)]
    lowest, highest = min(*values, needed) / 1.1, max(*values, needed) * 1.1

    def y(value: float) -> float:
        return TOP + (BOTTOM - TOP) * log(highest / value) / log(highest / lowest)

    def x(k: int) -> float:
        return LEFT + (RIGHT - LEFT) * (k + 0.5) / len(ordered)

    radius = 3 if len(ordered) <= FEW else 1.8
    band = y(needed / (1 + noise)) - y(needed * (1 + noise))
    dots = "".join(
        f"<g><title>{text(_title(student, what, speedup))}</title>"
        f'<line class="whisker" x1="{x(k):.2f}%" x2="{x(k):.2f}%" y1="{y(speedup.high):.1f}" '
        f'y2="{y(speedup.low or speedup.ratio):.1f}"/>'
        f'<circle class="{what.name.lower()}" cx="{x(k):.2f}%" cy="{y(speedup.ratio):.1f}" r="{radius}"/></g>'
        for k, (student, what, speedup) in enumerate(ordered)
    )
    scale = "".join(
        f'<line class="axis" x1="{LEFT}%" x2="100%" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>'
        f'<text x="{LEFT - 1.5}%" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:.4g}</text>'
        for tick in _ticks(lowest, highest)
    )
    caption = speedups_in_words(measured)
    return (
        f'<figure class="ranked"><svg width="100%" height="{BOTTOM + 8:.0f}" role="img" '
        f'aria-label="{text(caption)}">{scale}'
        f'<rect class="noise" x="{LEFT}%" y="{y(needed * (1 + noise)):.1f}" width="{100 - LEFT}%" '
        f'height="{max(1.0, band):.1f}"/>'
        f'<line class="needed" x1="{LEFT}%" x2="100%" y1="{y(needed):.1f}" y2="{y(needed):.1f}"/>{dots}'
        f"</svg><figcaption>{text(caption)}</figcaption></figure>"
    )


def threshold(measured: Ranked) -> float:
    """Return the required speedup; the most frequent one if the scores have several."""
    needed = [speedup.threshold for _, _, speedup in measured]
    return max(sorted(set(needed)), key=needed.count)


def typical_noise(measured: Ranked) -> float:
    """Return the median of the half-widths of all intervals, each as a share of its ratio."""
    return median(sorted((speedup.high - speedup.low) / 2 / speedup.ratio for _, _, speedup in measured))


def speedups_in_words(measured: Ranked) -> str:
    """Describe how many reach the threshold, and how many have it within their interval."""
    ratios = sorted(speedup.ratio for _, _, speedup in measured)
    needed = threshold(measured)
    clear = sum(speedup.low >= needed for _, _, speedup in measured)
    short = sum(speedup.high < needed for _, _, speedup in measured)
    near = len(measured) - clear - short
    return (
        f"{number(needed)} times are needed: {clear} reach it, {short} {'falls' if short == 1 else 'fall'} "
        f"short, {near} {'has' if near == 1 else 'have'} it within the interval. Median "
        f"{median(ratios):.3g}, from {ratios[0]:.3g} to {ratios[-1]:.3g}. "
        f"Noise: an interval is typically ±{100 * typical_noise(measured):.2g} %."
    )


def _title(student: str, what: LineState, speedup: MeasuredSpeedup) -> str:
    interval = f"between {speedup.low:.3g} and {speedup.high:.3g}"
    return f"{student}: {speedup.ratio:.3g} times, {interval}; {what.value}"


def _ticks(lowest: float, highest: float) -> Iterator[float]:
    """Yield ticks 1, 2, 5, 10, 20, … between two values; of many only the powers of ten."""
    powers = [10.0**k for k in range(-6, 10)]
    steps = (1, 2, 5) if highest / lowest < 300 else (1,)
    return (power * step for power in powers for step in steps if lowest < power * step < highest)
