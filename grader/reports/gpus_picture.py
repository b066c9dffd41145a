"""The peak memory of each of several GPUs and its share of the kernels, as small inline SVG without scripts.

Positions are percentages and heights are pixels, as in `grader.reports.bars`. The value of each bar stands
above it, and all values in the label of the picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.model.trace import shares_of, timed
from grader.reports.markup import text
from grader.reports.several_gpus import MOST_GPUS, memory_of, place

if TYPE_CHECKING:
    from grader.model.trace import DeviceWork

ROW = 36
"""Pixels that a bar takes with the line above it."""
SHORTEST = 0.6
"""Percent of the width of the shortest bar, so that a value above 0 is visible."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """The bar of one GPU."""

    name: str
    length: float
    """Percent of the width."""
    figure: str
    """The value as text."""


def gpus_picture(works: Sequence[DeviceWork]) -> str:
    """Draw peak memory and the shares of kernels; empty if there is nothing to draw."""
    pictures = f"{_memory(works)}{_shares(works)}"
    return f'<div class="charts pair">{pictures}</div>' if pictures else ""


def _memory(works: Sequence[DeviceWork]) -> str:
    longest = max((work.peak_bytes or 0 for work in works), default=0)
    if not longest:
        return ""
    bars = [
        Bar(name=place(work.device), length=100 * (work.peak_bytes or 0) / longest, figure=memory_of(work))
        for work in works[:MOST_GPUS]
    ]
    return _picture("Peak memory, by GPU", "memory", bars)


def _shares(works: Sequence[DeviceWork]) -> str:
    shares = shares_of(works)
    if not any(shares):
        return ""
    bars = [
        Bar(name=place(work.device), length=100 * share, figure=_percent(share))
        for work, share in zip(works[:MOST_GPUS], shares, strict=False)
    ]
    what = "Share of the kernels' time" if timed(works) else "Share of the number of kernels"
    return _picture(f"{what}, by GPU", "kernels", bars, track=True)


def _picture(what: str, kind: str, bars: Sequence[Bar], *, track: bool = False) -> str:
    """Bars below each other; on a track where the whole width means everything."""
    label = f"{what}: {', '.join(f'{bar.name} {bar.figure}' for bar in bars)}"
    drawing = "".join(_bar(bar, kind, ROW * n, track=track) for n, bar in enumerate(bars))
    return (
        f'<figure><p class="label">{text(what)}</p>'
        f'<svg width="100%" height="{ROW * len(bars)}" role="img" aria-label="{text(label)}">{drawing}</svg>'
        "</figure>"
    )


def _bar(bar: Bar, kind: str, top: int, *, track: bool) -> str:
    behind = f'<rect class="track" x="0" y="{top + 18}" width="100%" height="12" rx="3"/>' if track else ""
    long = max(bar.length, SHORTEST)
    length = f'<rect class="{kind}" x="0" y="{top + 18}" width="{long:.2f}%" height="12" rx="3"/>'
    return (
        f'<text x="0" y="{top + 13}">{text(bar.name)}</text>'
        f'<text class="told" x="100%" y="{top + 13}" text-anchor="end">{text(bar.figure)}</text>'
        f"{behind}{length if bar.length else ''}"
        f'<line class="axis" x1="0" x2="0" y1="{top + 16}" y2="{top + 32}"/>'
    )


def _percent(share: float) -> str:
    """Format a share in percent, never rounded to 0 or 100 %."""
    if share in (0, 1) or 0.1 <= share < 0.99:
        return f"{share:.0%}"
    return "less than 0.1%" if share < 0.001 else "more than 99.9%" if share > 0.999 else f"{share:.1%}"
