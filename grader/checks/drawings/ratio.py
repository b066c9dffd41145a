"""A measured speedup against its threshold, and the times behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from grader.checks.drawings.gpu import REST, largest_of, split_of
from grader.checks.drawings.values import number_of
from grader.checks.watched import watched_of
from grader.model.drawing import Advice, Bar, Bars, Drawing, Gauge

if TYPE_CHECKING:
    from grader.model.observation import Observation

ROWS = {"of": "{of}", "over": "{over}", "reference_over": "{over} of the reference"}
"""Labels of the functions whose times are drawn, by the prefix of the quantity with their median."""
OF_LARGEST = {
    "kernels": "The kernel, which takes most of the call: neighbouring threads should read neighbouring "
    "elements, and there should be enough threads for the whole GPU.",
    "copies": "The copies, which take most of the call: each array once, only what the kernel needs, and "
    "nothing back that it did not change.",
    REST: "What is neither kernel nor copy, which is most of the call: memory allocated each time, many "
    "small launches, loops in Python.",
}
"""Advice by the part of a call on a GPU that takes most of it."""
OF_PYTHON = (
    "What is done for each element in Python, and what every call does anew although it could be kept."
)
NEAR = "How close this is: the threshold lies within what was measured, and another run may fall short."


def ratio_drawings(observation: Observation, *, of: str, over: str, at_least: float) -> Iterator[Drawing]:
    """Yield the ratio against the threshold that holds now, and the times of both functions."""
    ratio, low, high = (number_of(observation, name) for name in ("ratio", "ratio_low", "ratio_high"))
    if ratio is None:
        return
    low, high = (ratio if end is None else end for end in (low, high))
    between = f", between {_times(low)} and {_times(high)}" if low < high else ""
    yield Gauge(
        value=ratio,
        low=min(low, ratio),
        high=max(high, ratio),
        needed=at_least,
        caption=f"{_times(ratio)} times faster{between}; {at_least:.4g} times are needed.",
        quantities=frozenset({"ratio", "ratio_low", "ratio_high", "threshold"}),
    )
    samples: Mapping[str, list[float]] = observation.facts.get("samples", {})
    yield Bars(
        bars=tuple(
            Bar(
                name=label.format(of=of, over=over),
                value=observation.quantities[f"{side}_s"],
                samples=tuple(samples.get(side, ())),
            )
            for side, label in ROWS.items()
            if f"{side}_s" in observation.quantities
        ),
        quantities=frozenset(f"{side}_s" for side in ROWS),
    )


def _times(ratio: float) -> str:
    """Format `1.52`, `434` and `2,090,000`: three digits, and never an exponent."""
    return f"{float(f'{ratio:.3g}'):,.0f}" if ratio >= 1000 else f"{ratio:.3g}"


def advice_on_ratio(observation: Observation, *, at_least: float) -> Iterator[Advice]:
    """Yield where to look if the ratio is too low, by what takes most of the call, or near its threshold."""
    low, high = (number_of(observation, name) for name in ("ratio_low", "ratio_high"))
    if low is None or high is None:
        return
    watched = watched_of(observation.facts)
    if low < at_least <= high:
        yield Advice(text=NEAR, applies="decided")
    elif high < at_least and not observation.cases and not (watched and watched.wrong):
        trace = watched.trace if watched and watched.trace.complete else None
        split = split_of(trace, number_of(observation, "of_s")) if trace else None
        yield Advice(text=OF_LARGEST[largest_of(split)] if split else OF_PYTHON)
