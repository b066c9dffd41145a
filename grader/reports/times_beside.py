"""Table of the times that a program reports beside those of our clock, by row, threads and GPU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.reports.markup import text
from grader.reports.numbers import number

if TYPE_CHECKING:
    from grader.model.observation import Observation

KEPT_AS = "times_beside"
"""The fact: a list of `{"row": …, "threads": …, "claimed": […], "clock": […]}`, both in seconds, and the GPU
as the number of threads None."""
MOST_ROWS = 50
NOTHING = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedTime:
    """Claimed and measured time of one configuration, in seconds; None if one is missing."""

    row: str
    threads: int | None
    """The number of threads; None for the GPU."""
    claimed: float | None
    clock: float | None


def times_beside(observation: Observation) -> str:
    """Render a row of the program's times and one of the clock's for each row name; empty if there is none.

    It has the form of Table 7 of Shi et al. (2016), where the rows of each network are libraries.
    """
    cells = {(cell.row, cell.threads): cell for cell in _cells(observation.facts.get(KEPT_AS))}
    rows = list(dict.fromkeys(row for row, _ in cells))[:MOST_ROWS]
    if not rows:
        return ""
    columns = sorted({threads for _, threads in cells if threads is not None})
    gpu = any(threads is None for _, threads in cells)
    heads = [*columns, *([None] if gpu else [])]
    body = "".join(
        _row(row, [cells.get((row, head)) for head in heads], "claimed", "program")
        + _row("", [cells.get((row, head)) for head in heads], "clock", "our clock")
        for row in rows
    )
    label = '<p class="label">Seconds, as the program says and by our clock</p>'
    table = f'<table class="seen wide"><thead>{_head(columns, gpu)}</thead><tbody>{body}</tbody></table>'
    return f'<figure>{label}<div class="scroll">{table}</div></figure>'


def _cells(fact: Any) -> Iterator[ClaimedTime]:
    """Decode the cells that are well formed."""
    for entry in fact if isinstance(fact, list | tuple) else ():
        if not isinstance(entry, Mapping) or not isinstance(entry.get("row"), str):
            continue
        threads = entry.get("threads")
        if threads is None or (type(threads) is int and threads > 0):
            times = {name: _middle(entry.get(name)) for name in ("claimed", "clock")}
            yield ClaimedTime(row=entry["row"], threads=threads, **times)


def _middle(fact: Any) -> float | None:
    """Return the median; None if there are no values, or one of them is no time."""
    numbers = [number(value) for value in fact] if isinstance(fact, list | tuple) else []
    values = sorted(value for value in numbers if value is not None)
    if not values or len(values) < len(numbers):
        return None
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2


def _head(columns: Sequence[int], gpu: bool) -> str:
    """Render two head rows: the device, and the number of threads."""
    cpu = f'<th scope="colgroup" colspan="{len(columns)}">CPU (threads used)</th>' if columns else ""
    device = '<th scope="col">GPU</th>' if gpu else ""
    names = "".join(f'<th scope="col">{count}</th>' for count in columns)
    return f"<tr><td></td><td></td>{cpu}{device}</tr><tr><td></td><td></td>{names}{'<td></td>' * gpu}</tr>"


def _row(row: str, cells: Sequence[ClaimedTime | None], which: str, whose: str) -> str:
    name = f'<th scope="row">{text(row)}</th>' if row else "<td></td>"
    shown = "".join(f"<td>{_seconds(getattr(cell, which, None))}</td>" for cell in cells)
    return f'<tr>{name}<th scope="row">{whose}</th>{shown}</tr>'


def _seconds(value: float | None) -> str:
    """Format seconds with three digits, as in `0.0412` and `13.2`."""
    return NOTHING if value is None else f"{value:.3g}"
