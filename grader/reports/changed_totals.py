"""A line for each total that another scorecard would change: from what to what, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from grader.model.score import Standing
from grader.reports.words import distinct
from grader.scoring.changes import ITEMS, LIMITS

if TYPE_CHECKING:
    from grader.model.score import Scorecard
    from grader.scoring.changes import Difference, ItemState


def changed_totals(card: Scorecard, differences: Iterable[Difference]) -> Iterator[str]:
    """Say what `card` changes; students of a team share a line where it changes the same for them."""
    students: dict[str, list[str]] = {}
    for one in differences:
        students.setdefault(_figures(one), []).append(one.student)
    for text, names in students.items():
        some = f"{', '.join(names)} of {card.student}"
        yield f"{card.student if len(names) == len(card.totals) else some}  {text}"


def _figures(one: Difference) -> str:
    """`3 -> 2.4 / 3  -0.6  final -> held  (double 1 -> 1 held, late rule: 0 -> 0.6 points off)`."""
    before, after = distinct(one.total.before, one.total.after)
    possible = distinct(one.possible.before, one.possible.after)
    total = f"{after} / {possible[1]}"
    if one.possible.differs:
        total = f"{before} / {possible[0]} -> {total}"
    elif one.total.differs:
        total = f"{before} -> {total}"
    if one.total.differs:
        total += f"  {one.total.after - one.total.before:+.9g}"
    if one.standing.differs:
        total += f"  {one.standing.before} -> {one.standing.after}"
    return f"{total}  ({', '.join(_reasons(one))})"


def _reasons(one: Difference) -> Iterator[str]:
    for name, states in one.items.items():
        before, after = _states(states.before, states.after)
        yield f"{name} {before} -> {after}"
    if one.limited.differs:
        limits = " and ".join(cause for cause in one.causes if cause in LIMITS)
        yield f"{limits}: {' -> '.join(distinct(one.limited.before, one.limited.after))}"
    others = [cause for cause in one.causes if cause != ITEMS and cause not in LIMITS]
    if one.late.differs:
        off = " -> ".join(distinct(one.late.before, one.late.after))
        yield f"{' and '.join(others) or 'lateness'}: {off} points off"
    elif others:
        yield from others


def _states(*states: ItemState | None) -> Iterator[str]:
    """The points of an item in two cards, and whatever else of it differs."""
    there = [state for state in states if state is not None]
    points = iter(distinct(*(state.points or 0.0 for state in there)))
    possible = iter(distinct(*(state.possible for state in there)))
    worth_differs, counts_differ = (
        len({getattr(state, name) for state in there}) > 1 for name in ("possible", "counts")
    )
    for state in states:
        if state is None:
            yield "absent"
            continue
        figure, worth = next(points), next(possible)
        words = ["open" if state.points is None else figure]
        words += [f"/ {worth}"] if worth_differs else []
        words += [state.standing.value] if state.standing is Standing.HELD else []
        words += [state.counts] if counts_differ else []
        yield " ".join(words)
