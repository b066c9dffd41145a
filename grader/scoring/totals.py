"""Sums of a scorecard's lines, and the total of each student."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import fsum
from typing import TYPE_CHECKING

from grader.model.score import Points, Standing, Total

if TYPE_CHECKING:
    from grader.model.rubric import Rubric
    from grader.model.score import Late, Line

_DIGITS = 9
_DOUBT = (Standing.FINAL, Standing.PROVISIONAL, Standing.HELD)


def points_of(rubric: Rubric, lines: Sequence[Line]) -> Points:
    """Add up lines, and bound the raw total as the rubric says.

    A penalty takes nothing from a total that is at the rubric's `floor`, and the floor gives nothing.
    """

    def total(of: str) -> float:
        return _sum(line.points for line in lines if line.counts == of)

    earning = [line for line in lines if line.counts == "earns"]
    earned, bonus, penalty = total("earns"), total("bonus"), total("penalty")
    return Points(
        earned=earned,
        pending=_sum(line.possible for line in earning if line.standing is Standing.PROVISIONAL),
        possible=_sum(line.possible for line in earning),
        bonus=bonus,
        penalty=penalty,
        raw=raw_total(rubric, earned + bonus, penalty),
    )


def raw_total(rubric: Rubric, earned: float, penalty: float) -> float:
    """Return the total, before lateness, of points with their bonus and of penalties, which are below 0."""
    raw = max(earned + penalty, min(earned, rubric.floor))
    return exact(raw if rubric.at_most is None else min(raw, rubric.at_most))


def standing_of(lines: Iterable[Line]) -> Standing:
    """Return the standing of a card: that of its most doubtful line."""
    return max((line.standing for line in lines), key=_DOUBT.index, default=Standing.FINAL)


def totals_of(raw: float, lates: Mapping[str, Late | None], *, settled: bool) -> tuple[Total, ...]:
    """Apply lateness to `raw` points for each student; totals are final only if everything is `settled`."""
    return tuple(_total(student, raw, late, settled) for student, late in lates.items())


def exact(points: float) -> float:
    """Round to 9 digits, so that a third of three points is 1 and not 0.9999999999999999."""
    return round(points, _DIGITS)


def _total(student: str, raw: float, late: Late | None, settled: bool) -> Total:
    # What is below zero has nothing left to lose.
    lost = exact(max(0.0, raw) * late.share) if late else 0.0
    adjusted = exact(raw - lost)
    return Total(
        student=student,
        adjusted=adjusted,
        final=adjusted if settled else None,
        late=late and replace(late, lost=lost),
    )


def _sum(values: Iterable[float]) -> float:
    return exact(fsum(values))
