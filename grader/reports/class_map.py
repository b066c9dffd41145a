"""Items by students: every line of every card as one small cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from grader.reports.pages import SIGNS
from grader.reports.words import LineState, state_of
from grader.text import one_line

if TYPE_CHECKING:
    from grader.model.score import Line
    from grader.reports.class_counts import ItemTally
    from grader.reports.class_view import ClassView

MAP_ROWS = 25
"""Submissions of one block: blocks stand beside each other where there is room, each with the numbers."""
LONGEST = 160
"""Characters of a reason in the tooltip of a cell."""


class MapCell(NamedTuple):
    """One line of a card."""

    look: str
    sign: str
    tooltip: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MapRow:
    """One submission."""

    student: str
    points: float
    cells: tuple[MapCell | None, ...]
    """None for an item that its rubric does not have."""


def class_map(view: ClassView, items: Sequence[ItemTally]) -> tuple[MapRow, ...]:
    """Return a row for each submission, the best first, with a cell for each item."""
    cards = sorted(
        (each.card for each in view.submissions), key=lambda card: (-card.points.raw, card.student)
    )
    rows = []
    for card in cards:
        lines = {line.item: line for line in card.lines}
        cells = tuple(_cell(lines[tally.item]) if tally.item in lines else None for tally in items)
        rows.append(MapRow(student=card.student, points=card.points.raw, cells=cells))
    return tuple(rows)


def _cell(line: Line) -> MapCell:
    state = state_of(line)
    tooltip = "" if state is LineState.FULL else one_line(line.reason, LONGEST)
    return MapCell(state.name.lower(), SIGNS[state], tooltip)
