"""Bars of a measured speedup against its threshold, as small inline SVG that needs no scripts.

Positions are percentages and heights are pixels, so that a bar has the width of its column and its text the
size of the text around it, on a phone as on paper. What a bar shows stands below it in words; its colour is
that of the verdict around it, which is not for a drawing to work out again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.reports.markup import text
from grader.reports.numbers import amount, number, samples, seconds

if TYPE_CHECKING:
    from grader.model.observation import Observation

COMPARED = {"of": "this one", "over": "the other"}
"""Options that name what was compared, and words for them where a kind has no such options."""
ROWS = {"of": "{of}", "over": "{over}", "reference_over": "{over} of the reference"}
"""Functions whose times are drawn, with their labels."""
DRAWN = frozenset({"ratio", "ratio_low", "ratio_high", "threshold", *(f"{which}_s" for which in ROWS)})
"""Quantities that a drawing shows, so that they need not be listed again."""
MOST_SAMPLES = 60
ROOM = 92.0
"""Percent of the width that the longest bar takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredSpeedup:
    """The numbers of a drawing."""

    ratio: float
    low: float
    high: float
    threshold: float


def speedup_bars(observation: Observation, options: Any) -> str:
    """Draw the measured speedup, its threshold and the times behind it.

    `options` of the item tell their names and the threshold that now holds, if they have them. Empty if
    nothing of the kind was measured.
    """
    measured = _speedup(observation, getattr(options, "at_least", None))
    if measured is None:
        return ""
    names = {side: str(getattr(options, side, "") or word) for side, word in COMPARED.items()}
    rows = [
        (row.format_map(names), median, samples(observation, which))
        for which, row in ROWS.items()
        if (median := amount(observation, f"{which}_s")) is not None
    ]
    return f'<div class="charts">{_ratio(measured)}{_times(rows)}</div>'


def _speedup(observation: Observation, at_least: Any) -> MeasuredSpeedup | None:
    # The rubric may have changed since: what counts is its threshold, not the one at the time of measuring.
    ratio, threshold = amount(observation, "ratio"), number(at_least) or amount(observation, "threshold")
    if ratio is None or threshold is None:
        return None
    low, high = amount(observation, "ratio_low"), amount(observation, "ratio_high")
    return MeasuredSpeedup(
        ratio=ratio,
        low=ratio if low is None else min(low, ratio),
        high=ratio if high is None else max(high, ratio),
        threshold=threshold,
    )


def _ratio(measured: MeasuredSpeedup) -> str:
    longest = max(measured.high, measured.threshold) or 1.0
    ratio, low, high, needed = (
        ROOM * at / longest for at in (measured.ratio, measured.low, measured.high, measured.threshold)
    )
    between = f", between {measured.low:.3g} and {measured.high:.3g}" if measured.low < measured.high else ""
    caption = f"{measured.ratio:.3g} times faster{between}; {measured.threshold:.4g} times are needed."
    interval = (
        f'<line class="whisker" x1="{low:.2f}%" x2="{high:.2f}%" y1="35" y2="35"/>'
        f'<line class="whisker" x1="{low:.2f}%" x2="{low:.2f}%" y1="30" y2="40"/>'
        f'<line class="whisker" x1="{high:.2f}%" x2="{high:.2f}%" y1="30" y2="40"/>'
        if measured.low < measured.high
        else ""
    )
    anchor = "end" if needed > ROOM / 2 else "start"
    drawing = (
        '<rect class="track" x="0" y="24" width="100%" height="22" rx="4"/>'
        f'<rect class="ratio" x="0" y="24" width="{ratio:.2f}%" height="22" rx="4"/>{interval}'
        f'<line class="needed" x1="{needed:.2f}%" x2="{needed:.2f}%" y1="17" y2="52"/>'
        f'<text x="{needed:.2f}%" y="12" text-anchor="{anchor}">needed: {measured.threshold:.4g} times</text>'
    )
    return (
        f'<figure><svg width="100%" height="54" role="img" aria-label="{text(caption)}">{drawing}</svg>'
        f"<figcaption>{text(caption)}</figcaption></figure>"
    )


def _times(rows: Sequence[tuple[str, float, Sequence[float]]]) -> str:
    longest = max((time for _, median, taken in rows for time in (*taken, median)), default=0.0)
    return "".join(_time(name, median, taken, longest) for name, median, taken in rows) if longest else ""


def _time(name: str, median: float, taken: Sequence[float], longest: float) -> str:
    of = f", median of {len(taken)}" if taken else ""
    width = max(0.4, ROOM * median / longest)  # the shortest time is still something to see
    return (
        f'<div><p class="label">{text(name)}: {seconds(median)}{of}</p>'
        '<svg width="100%" height="18" aria-hidden="true">'
        '<rect class="track" x="0" y="1" width="100%" height="16" rx="3"/>'
        f'<rect class="time" x="0" y="1" width="{width:.2f}%" height="16" rx="3"/>'
        f"{''.join(_dots(taken, longest))}</svg></div>"
    )


def _dots(taken: Sequence[float], longest: float) -> Iterator[str]:
    step = max(1, -(-len(taken) // MOST_SAMPLES))
    for sample in taken[::step]:
        yield f'<circle cx="{ROOM * sample / longest:.2f}%" cy="9" r="3"/>'
