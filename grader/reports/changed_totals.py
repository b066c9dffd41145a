"""A line for each total that another scorecard would change: from what to what, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from grader.model.magnitude import number
from grader.model.score import Standing
from grader.reports.words import distinct
from grader.scoring.changes import ITEMS, LIMITS

if TYPE_CHECKING:
    from grader.model.score import Scorecard
    from grader.scoring.changes import Difference, ItemState


def changed_totals(card: Scorecard, differences: Iterable[Difference]) -> Iterator[str]:
    """Yield a line per changed total; students of a team whose totals change alike share one."""
    students: dict[str, list[str]] = {}
    for difference in differences:
        students.setdefault(_figures(difference), []).append(difference.student)
    for text, names in students.items():
        some = f"{', '.join(names)} of {card.student}"
        yield f"{card.student if len(names) == len(card.totals) else some}  {text}"


def _figures(difference: Difference) -> str:
    """Format `3 -> 2.4 / 3  -0.6  final -> held  (double 1 -> 1 held, late rule: 0 -> 0.6 points off)`."""
    before, after = distinct(difference.total.before, difference.total.after)
    possible = distinct(difference.possible.before, difference.possible.after)
    total = f"{after} / {possible[1]}"
    if difference.possible.differs:
        total = f"{before} / {possible[0]} -> {total}"
    elif difference.total.differs:
        total = f"{before} -> {total}"
    if difference.total.differs:
        total += f"  {_signed(shown_change(difference.total.before, difference.total.after))}"
    if difference.standing.differs:
        total += f"  {difference.standing.before} -> {difference.standing.after}"
    return f"{total}  ({', '.join(_reasons(difference))})"


def shown_change(before: float, after: float) -> float:
    """Return what leads from one total to the other as both are shown."""
    shown = distinct(before, after)
    return float(shown[1]) - float(shown[0])


def _signed(points: float) -> str:
    """Format points with a sign and two decimals, or as many digits as show that they are not 0."""
    shown = number(abs(points))
    return f"{'-' if points < 0 else '+'}{shown}" if float(shown) else f"{points:+.1g}"


def _reasons(difference: Difference) -> Iterator[str]:
    for name, states in difference.items.items():
        before, after = _states(states.before, states.after)
        yield f"{name} {before} -> {after}"
    if difference.limited.differs:
        limits = " and ".join(cause for cause in difference.causes if cause in LIMITS)
        yield f"{limits}: {' -> '.join(distinct(difference.limited.before, difference.limited.after))}"
    others = [cause for cause in difference.causes if cause != ITEMS and cause not in LIMITS]
    if difference.late.differs:
        lost = distinct(-difference.late.before, -difference.late.after)
        off = " -> ".join(text.removeprefix("-") for text in lost)
        yield f"{' and '.join(others) or 'lateness'}: {off} points off"
    elif others:
        yield from others


def _states(*states: ItemState | None) -> Iterator[str]:
    """Yield the points of an item in each card, with its worth and kind where these differ."""
    present = [state for state in states if state is not None]
    points = iter(distinct(*(state.points or 0.0 for state in present)))
    possible = iter(distinct(*(state.possible for state in present)))
    worth_differs, counts_differ = (
        len({getattr(state, name) for state in present}) > 1 for name in ("possible", "counts")
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
