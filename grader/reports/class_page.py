"""The class report as one page for staff, complete in itself, that needs no scripts and no network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from grader import __version__
from grader.model.score import Standing
from grader.reports.class_counts import (
    ItemTally,
    gpu_seconds,
    items_of,
    median,
    speedups_of,
    standings_of,
    totals_of,
)
from grader.reports.class_drawings import distribution, ranked_speedups
from grader.reports.class_lists import failed, needs_a_person
from grader.reports.class_map import class_map
from grader.reports.class_style import CSS as CLASS_CSS
from grader.reports.markup import text
from grader.reports.style import CSS
from grader.reports.words import LineState, counted, number

if TYPE_CHECKING:
    from grader.reports.class_view import ClassView

FOR_STAFF = (
    "For staff: this page names students, and shows items that are hidden from them and what their "
    "programs said. It is not to be handed on."
)
SHARES = (
    LineState.FULL,
    LineState.PARTIAL,
    LineState.LOST,
    LineState.SKIPPED,
    LineState.HELD,
    LineState.OPEN,
)
"""From left to right in an item's bar."""


def page(view: ClassView) -> str:
    """Render the page; text from outside is escaped. Pure: no files, no clock."""
    items = items_of(view)
    positions = {tally.item: place for place, tally in enumerate(items, 1)}
    parts = (
        _header(view),
        _spread(view),
        needs_a_person(view, positions),
        _items(items),
        failed(view, positions),
        _speedups(view, items),
        class_map(view, items),
        _footer(view),
    )
    body = "\n".join(filter(None, parts))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{text(view.assignment)}: the class</title>
<style>{CSS}{CLASS_CSS}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def facts(view: ClassView) -> dict[str, str]:
    """Return the key figures of a class by label."""
    totals, standings, spent = totals_of(view), standings_of(view), gpu_seconds(view)
    middle = f"{number(median(totals.settled))} / {number(totals.possible)}" if totals.settled else "…"
    return {
        "students": str(len(totals.settled) + len(totals.so_far)),
        "submissions": str(len(view.submissions)),
        "median of final totals": middle,
        "marks that are final": str(standings[Standing.FINAL]),
        "provisional": str(standings[Standing.PROVISIONAL]),
        "held": str(standings[Standing.HELD]),
        "GPU minutes": "unknown" if spent is None else f"{spent / 60:.1f}",
    }


def _header(view: ClassView) -> str:
    tiles = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts(view).items())
    return (
        f'<header><p class="kicker">the class · for staff</p><h1>{text(view.assignment)}</h1>\n'
        f'<p class="staff">{FOR_STAFF}</p>\n<dl class="tiles">{tiles}</dl></header>'
    )


def _spread(view: ClassView) -> str:
    drawing = distribution(totals_of(view)) or '<p class="soft">There are no marks yet.</p>'
    return f'<section><h2>Totals</h2><div class="sheet">{drawing}</div></section>'


def _items(items: Sequence[ItemTally]) -> str:
    if not items:
        return ""
    rows = "\n".join(_item(place, tally) for place, tally in enumerate(items, 1))
    return f"""<section><h2>Items</h2>
<p class="soft">Passed: the share that earned everything, of the submissions of which it is decided.</p>
<table class="items"><caption class="sr">What became of each item</caption>
<thead><tr><th scope="col" class="no"><span class="sr">Number</span></th><th scope="col">Item</th>
<th scope="col" class="points">Points</th><th scope="col" class="what">Submissions</th>
<th scope="col" class="share">Passed</th></tr></thead>
<tbody>
{rows}
</tbody></table></section>"""


def _item(place: int, tally: ItemTally) -> str:
    words = ", ".join(f"{tally.marks[what]} {what.value}" for what in SHARES if tally.marks.get(what))
    bar = "".join(
        f'<i class="{what.name.lower()}" style="flex-grow:{tally.marks[what]}"></i>'
        for what in SHARES
        if tally.marks.get(what)
    )
    passed = "…" if tally.passed is None else f"{100 * tally.passed:.0f} %"
    return (
        f'<tr><td class="no">{place}</td><th scope="row"><span class="title">{text(tally.title)}</span>'
        f'<p class="id">{text(tally.item)}</p></th><td class="points">{number(tally.possible)}</td>'
        f'<td class="what"><div class="bar" aria-hidden="true">{bar}</div>'
        f'<span class="id">{words}</span></td>'
        f'<td class="share">{passed}</td></tr>'
    )


def _speedups(view: ClassView, items: Sequence[ItemTally]) -> str:
    drawings = [
        f'<div class="sheet"><h3>{place}. {text(tally.title)}</h3>{drawing}</div>'
        for place, tally in enumerate(items, 1)
        if (drawing := ranked_speedups(tuple(speedups_of(view, tally.item))))
    ]
    if not drawings:
        return ""
    sheets = "\n".join(drawings)
    return f"""<section><h2>Measured speedups</h2>
<p class="soft">A dot is a submission in the colour of its mark, its line the interval of the median; how many
times faster, on a logarithmic scale, the slowest first.
Dashed: what is needed; shaded: the noise around it.</p>
{sheets}</section>"""


def _footer(view: ClassView) -> str:
    rubrics = ", ".join(
        f"{name} ({counted(count, 'submission')})" for name, count in (view.rubrics or {}).items()
    )
    notes = [
        f"Marks as of {view.scored_at}." if view.scored_at else "",
        f"Marked by {rubrics}." if rubrics else "",
        "Not all are marked by the same rubric; grader rescore says what would change."
        if len(view.rubrics or {}) > 1
        else "",
        "GPU minutes: the seconds of items that need GPUs, times the GPUs, of the evidence that holds."
        if view.gpus is not None
        else "GPU minutes are unknown, for the rubric is not at hand to say which items need a GPU.",
        f"Grader {__version__}.",
    ]
    return f"<footer>{' '.join(text(note) for note in notes if note)}</footer>"
