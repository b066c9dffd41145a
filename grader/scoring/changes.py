"""Differences between two scorecards of one submission, by student, with their causes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from grader.scoring.totals import exact

if TYPE_CHECKING:
    from grader.model.score import Late, Line, Points, Scorecard, Standing, Total

T = TypeVar("T")

ITEMS = "items"
AT_MOST = "at_most"
FLOOR = "floor"
LIMITS = (AT_MOST, FLOOR)
LATE_RULE = "late rule"
DEADLINE = "deadline"
TIME_ZONE = "time zone"
SUBMISSION_TIME = "time of submission"
"""The cause if the time, which had not come yet, has come, or the other way round."""
ARITHMETIC = "another version of grader"
"""The cause if the same items, limits and share of lateness give another total."""


@dataclass(frozen=True, slots=True)
class Pair(Generic[T]):
    """A value of the current card, and of the card that would replace it."""

    before: T
    after: T

    @property
    def differs(self) -> bool:
        """Whether the two values differ."""
        return self.before != self.after


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemState:
    """The contribution of an item to a total."""

    points: float | None
    """None while they are open."""
    possible: float
    standing: Standing
    counts: str
    """`earns`, `bonus` or `penalty`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """All changes for one student, texts apart."""

    student: str
    total: Pair[float]
    """After the late rule."""
    possible: Pair[float]
    standing: Pair[Standing]
    items: Mapping[str, Pair[ItemState | None]]
    """Items that differ; None if the rubric has no such item."""
    limited: Pair[float]
    """Points that `at_most` takes from the sum of the items (below 0), or `floor` gives back (above 0)."""
    late: Pair[float]
    """The points that lateness costs."""
    causes: tuple[str, ...]
    """The causes: changed items, limits of the total, or the inputs of the late rule."""


def differences(before: Scorecard, after: Scorecard, students: Collection[str]) -> tuple[Difference, ...]:
    """Compare two cards of one submission for each of `students` for whom anything but texts differs."""
    items = dict(_items(before, after))
    totals = {total.student: total for total in before.totals}
    changed = (
        _difference(before, after, totals[total.student], total, items)
        for total in after.totals
        if total.student in students
    )
    return tuple(difference for difference in changed if difference is not None)


def late_inputs_differ(before: Scorecard, after: Scorecard) -> bool:
    """Tell whether deadline, late rule or lateness of a student differ, whatever points that moves."""

    def inputs(card: Scorecard) -> dict[str, object]:
        return {
            total.student: total.late
            and (total.late.due, total.late.rule, total.late.late_s, total.late.in_future)
            for total in card.totals
        }

    return inputs(before) != inputs(after)


def _difference(
    before: Scorecard,
    after: Scorecard,
    old: Total,
    new: Total,
    items: Mapping[str, Pair[ItemState | None]],
) -> Difference | None:
    total = Pair(old.adjusted, new.adjusted)
    possible = Pair(before.points.possible, after.points.possible)
    standing = Pair(before.standing, after.standing)
    limited = Pair(_limited(before.points), _limited(after.points))
    late = Pair(_lost(old), _lost(new))
    causes = [ITEMS] if items else []
    if limited.differs:
        causes += [AT_MOST] if min(limited.before, limited.after) < 0 else []
        causes += [FLOOR] if max(limited.before, limited.after) > 0 else []
    awaited = Pair(_in_future(old), _in_future(new))
    if total.differs or late.differs or awaited.differs:  # of no points any share is the same
        causes += _late_causes(old.late, new.late)
    if not causes:
        if not any(pair.differs for pair in (total, possible, standing, late)):
            return None
        causes.append(ARITHMETIC)
    return Difference(
        student=new.student,
        total=total,
        possible=possible,
        standing=standing,
        items=items,
        limited=limited,
        late=late,
        causes=tuple(causes),
    )


def _items(before: Scorecard, after: Scorecard) -> Iterator[tuple[str, Pair[ItemState | None]]]:
    """Yield items that differ, in the order of the new rubric, then those that it does not have."""
    old, new = ({line.item: _state(line) for line in card.lines} for card in (before, after))
    for name in dict.fromkeys((*new, *old)):
        states = Pair(old.get(name), new.get(name))
        if states.differs:
            yield name, states


def _state(line: Line) -> ItemState:
    return ItemState(
        points=None if line.fraction is None else line.points,
        possible=line.possible,
        standing=line.standing,
        counts=line.counts,
    )


def _limited(points: Points) -> float:
    return exact(points.raw - points.earned - points.bonus - points.penalty)


def _in_future(total: Total) -> bool:
    return total.late is not None and total.late.in_future


def _lost(total: Total) -> float:
    return total.late.lost if total.late else 0.0


def _late_causes(before: Late | None, after: Late | None) -> Iterator[str]:
    """Yield the causes of a changed share for lateness; the same share of other points has other causes."""
    shares = [each.share if each else 0.0 for each in (before, after)]
    awaited = [each.in_future if each else False for each in (before, after)]
    if shares[0] == shares[1] and awaited[0] == awaited[1]:
        return
    moved = (before and before.due) != (after and after.due)
    ruled = before is not None and after is not None and before.rule != after.rule
    if moved:
        yield DEADLINE
    if ruled:
        yield LATE_RULE
    if moved or ruled:
        return
    # all else that counts days is where midnight is
    yield SUBMISSION_TIME if awaited[0] != awaited[1] else TIME_ZONE
