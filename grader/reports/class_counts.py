"""Statistics of a class: results by item, the distribution of totals, GPU time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, fsum
from typing import TYPE_CHECKING

from grader.model.score import Standing
from grader.reports.words import LineState, state_of

if TYPE_CHECKING:
    from grader.model.drawing import Gauge
    from grader.model.score import Line
    from grader.reports.class_view import ClassView

UNDECIDED = frozenset({LineState.OPEN, LineState.HELD})
MOST_BINS = 20
STEPS = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 25.0, 50.0, 100.0)
"""Points that a bar of a distribution may stand for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemTally:
    """How many submissions of a class got each result in one item."""

    item: str
    title: str
    possible: float
    """The most that it adds; 0 for a penalty."""
    counts: Mapping[LineState, int]
    """How many submissions have each result."""

    @property
    def decided(self) -> int:
        """The number of submissions whose result is neither open nor held."""
        return sum(count for what, count in self.counts.items() if what not in UNDECIDED)

    @property
    def passed(self) -> float | None:
        """The share that earned everything, of those in which it was tried and is decided; None of none."""
        tried = self.decided - self.counts.get(LineState.SKIPPED, 0)
        return self.counts.get(LineState.FULL, 0) / tried if tried else None


def items_of(view: ClassView) -> tuple[ItemTally, ...]:
    """Return every item of any card, in the order of the longest; a title is the last one seen."""
    by_item: dict[str, Counter[LineState]] = {}
    lines: dict[str, Line] = {}
    for submission in sorted(view.submissions, key=lambda submission: -len(submission.card.lines)):
        for line in submission.card.lines:
            by_item.setdefault(line.item, Counter())[state_of(line)] += 1
            lines[line.item] = line
    return tuple(
        ItemTally(item=name, title=lines[name].title, possible=lines[name].possible, counts=counts)
        for name, counts in by_item.items()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Students whose totals lie from `low` on and below the next bin; in the last one up to its end."""

    low: float
    high: float
    """Where the next one begins; of the last one, the most that can be reached, or that anybody has."""
    settled: int
    so_far: int
    """Students among them with open points, whose totals may still change."""

    @property
    def count(self) -> int:
        """All of them."""
        return self.settled + self.so_far


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """How the totals of the students are spread, after the late rule."""

    possible: float
    settled: tuple[float, ...]
    """Totals with nothing open or held, ascending."""
    so_far: tuple[float, ...]
    """Certain points of all others, ascending."""

    @property
    def step(self) -> float:
        """Points that one bin covers: as many as give at most `MOST_BINS`."""
        most = max((self.possible, *self.settled, *self.so_far))
        return next((step for step in STEPS if most / step <= MOST_BINS), most / MOST_BINS)

    @property
    def bins(self) -> tuple[Bin, ...]:
        """From 0, or the lowest total below it, to what can be reached, or to the highest total above it."""
        step, both = self.step, (*self.settled, *self.so_far)
        first = min(0, *(int(total // step) for total in both)) if both else 0
        most = max((self.possible, *both))
        last = max(1, ceil(most / step - 1e-9))

        def place(totals: Sequence[float]) -> Counter[int]:
            return Counter(min(int(total // step), last - 1) for total in totals)

        settled, so_far = place(self.settled), place(self.so_far)
        return tuple(
            Bin(
                low=k * step,
                high=(k + 1) * step if k + 1 < last or most <= 0 else most,
                settled=settled[k],
                so_far=so_far[k],
            )
            for k in range(first, last)
        )


def totals_of(view: ClassView) -> Totals:
    """Return the totals of all students, those of a team each."""
    totals = [total for submission in view.submissions for total in submission.totals]
    return Totals(
        possible=max((submission.card.points.possible for submission in view.submissions), default=0.0),
        settled=tuple(sorted(total.final for total in totals if total.final is not None)),
        so_far=tuple(sorted(total.adjusted for total in totals if total.final is None)),
    )


def standings_of(view: ClassView) -> Counter[Standing]:
    """Return how many students have a final, a provisional and a held grade, each of a team."""
    return Counter(submission.card.standing for submission in view.submissions for _ in submission.totals)


def gpu_seconds(view: ClassView) -> float | None:
    """Sum the GPU seconds of all observations; None if it is unknown which items need a GPU.

    Simulated observations count as 0.
    """
    if view.gpus is None:
        return None
    return fsum(
        evidence.wall_s * view.gpus.get(item, 0)
        for submission in view.submissions
        for item, evidence in submission.evidence.items()
        if not evidence.simulated
    )


def speedups_of(view: ClassView, item: str) -> Iterator[tuple[str, LineState, Gauge]]:
    """Yield student, result and measured speedup of each submission that was timed in an item."""
    for submission in view.submissions:
        evidence = submission.evidence.get(item)
        line = next((line for line in submission.card.lines if line.item == item), None)
        if line is not None and evidence is not None and evidence.gauge is not None:
            yield submission.card.student, state_of(line), evidence.gauge


def median(ordered: Sequence[float]) -> float:
    """Return the middle of ascending numbers; there must be one."""
    n = len(ordered)
    return (ordered[(n - 1) // 2] + ordered[n // 2]) / 2
