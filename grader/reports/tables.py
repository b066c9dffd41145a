"""Tables of numbers in `report.html`: the first column names a thing, the others say how much."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import fsum

from grader.reports.markup import text
from grader.reports.numbers import seconds

MOST_ROWS = 12
"""Rows that are shown, before it only says how many more there are."""
WIDE = 4
"""Columns beyond which names keep their room, and a phone scrolls."""
NOTHING = "-"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], most: int = MOST_ROWS) -> str:
    """Render a table with at most `most` rows; empty without rows."""
    shown = list(rows)
    if not shown:
        return ""
    titles = "".join(f'<th scope="col">{text(title)}</th>' for title in head)
    body = "".join(
        f'<tr><th scope="row">{text(first)}</th>{"".join(f"<td>{text(cell)}</td>" for cell in cells)}</tr>'
        for first, *cells in shown[:most]
    )
    wide = " wide" if len(head) > WIDE else ""
    more = len(shown) - most
    rest = f'<p class="soft">And {more} more.</p>' if more > 0 else ""
    return (
        f'<div class="scroll"><table class="seen{wide}"><thead><tr>{titles}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{rest}"
    )


def total(times: Iterable[float | None]) -> float | None:
    """Add times in seconds; None if one is unknown."""
    seconds = list(times)
    return None if None in seconds else fsum(time for time in seconds if time is not None)


def time_of(times: Iterable[float | None]) -> str:
    """Format the sum of times for a cell of a table."""
    together = total(times)
    return NOTHING if together is None else seconds(together)
