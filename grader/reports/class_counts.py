"""A class in numbers: who earned what of each item, how totals are spread, what it cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, fsum
from typing import TYPE_CHECKING

from grader.model.score import Standing
from grader.reports.words import Mark, mark

if TYPE_CHECKING:
    from grader.model.score import Line
    from grader.reports.bars import Speedup
    from grader.reports.class_view import ClassView

UNDECIDED = frozenset({Mark.OPEN, Mark.HELD})
MOST_BINS = 20
STEPS = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 25.0, 50.0, 100.0)
"""Points that a bar of a distribution may stand for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemTally:
    """What became of one item in a class."""

    item: str
    title: str
    possible: float
    """The most that it adds; 0 for a penalty."""
    marks: Mapping[Mark, int]
    """How many hand-ins have each mark."""

    @property
    def decided(self) -> int:
        """Hand-ins of which it is known what they earn: what is open is neither passed nor failed."""
        return sum(count for what, count in self.marks.items() if what not in UNDECIDED)

    @property
    def passed(self) -> float | None:
        """The share of those decided that earned everything; None where nothing is."""
        return self.marks.get(Mark.FULL, 0) / self.decided if self.decided else None


def items_of(view: ClassView) -> tuple[ItemTally, ...]:
    """Every item of any card, in the order of the longest; a title is the last one seen."""
    marks: dict[str, Counter[Mark]] = {}
    lines: dict[str, Line] = {}
    for hand_in in sorted(view.hand_ins, key=lambda one: -len(one.card.lines)):
        for line in hand_in.card.lines:
            marks.setdefault(line.item, Counter())[mark(line)] += 1
            lines[line.item] = line
    return tuple(
        ItemTally(item=name, title=lines[name].title, possible=lines[name].possible, marks=counts)
        for name, counts in marks.items()
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Students whose totals lie from `low` on and below the next bin; in the last one up to its end."""

    low: float
    settled: int
    so_far: int
    """Those among them of whom something is open: they may still move."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """How the totals of the students are spread, after the late rule."""

    possible: float
    settled: tuple[float, ...]
    """Of marks of which nothing is open or held, ascending."""
    so_far: tuple[float, ...]
    """Of all others: what is sure by now, ascending."""

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
        last = max(1, ceil(max((self.possible, *both)) / step - 1e-9))

        def place(totals: Sequence[float]) -> Counter[int]:
            return Counter(min(int(total // step), last - 1) for total in totals)

        settled, so_far = place(self.settled), place(self.so_far)
        return tuple(Bin(low=k * step, settled=settled[k], so_far=so_far[k]) for k in range(first, last))


def totals_of(view: ClassView) -> Totals:
    """The totals of all students, those of a team each."""
    totals = [total for hand_in in view.hand_ins for total in hand_in.totals]
    return Totals(
        possible=max((hand_in.card.points.possible for hand_in in view.hand_ins), default=0.0),
        settled=tuple(sorted(total.final for total in totals if total.final is not None)),
        so_far=tuple(sorted(total.adjusted for total in totals if total.final is None)),
    )


def standings_of(view: ClassView) -> Counter[Standing]:
    """How many hand-ins are final, provisional and held."""
    return Counter(hand_in.card.standing for hand_in in view.hand_ins)


def gpu_seconds(view: ClassView) -> float | None:
    """Seconds of GPUs that the evidence took, each GPU counted; None if it is unknown which items need one.

    What a simulator showed took none.
    """
    if view.gpus is None:
        return None
    return fsum(
        seen.wall_s * view.gpus.get(item, 0)
        for hand_in in view.hand_ins
        for item, seen in hand_in.seen.items()
        if not seen.simulated
    )


def speedups_of(view: ClassView, item: str) -> Iterator[tuple[str, Mark, Speedup]]:
    """Hand-ins whose speedup was measured in an item: who, what came of it, and the numbers."""
    for hand_in in view.hand_ins:
        seen = hand_in.seen.get(item)
        line = next((line for line in hand_in.card.lines if line.item == item), None)
        if line is not None and seen is not None and seen.speedup is not None:
            yield hand_in.card.student, mark(line), seen.speedup


def median(ordered: Sequence[float]) -> float:
    """The middle of ascending numbers; there must be one."""
    n = len(ordered)
    return (ordered[(n - 1) // 2] + ordered[n // 2]) / 2
