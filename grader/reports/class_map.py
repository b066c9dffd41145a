"""Items by students: every line of every card as one small cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from grader.reports.markup import SIGNS, look, text
from grader.reports.words import LineState, number, state_of
from grader.text import one_line

if TYPE_CHECKING:
    from grader.model.score import Line
    from grader.reports.class_counts import ItemTally
    from grader.reports.class_view import ClassView, GradedSubmission

ROWS = 25
"""Submissions of one block: blocks stand beside each other where there is room, each with the numbers."""
LONGEST = 160
"""Characters of a reason in the tooltip of a cell."""


def class_map(view: ClassView, items: Sequence[ItemTally]) -> str:
    """Draw a row for each submission, the best first, and a column for each item; empty if there is none."""
    if not view.submissions or not items:
        return ""
    rows = iter(
        sorted(
            view.submissions, key=lambda submission: (-submission.card.points.raw, submission.card.student)
        )
    )
    key = "".join(
        f'<li><span class="{what.name.lower()}"><span class="sign" aria-hidden="true">{sign}</span></span> '
        f"{what.value}</li>"
        for what, sign in SIGNS.items()
    )
    blocks = "\n".join(_blocks(rows, items))
    return f"""<section><h2>Map</h2>
<p class="soft">A row is a submission, the best first; a column is an item, by its number above. Points are
those before lateness.</p>
<ul class="key">{key}</ul>
<div class="sheet scroll maps" tabindex="0">
{blocks}
</div></section>"""


def _blocks(rows: Iterator[GradedSubmission], items: Sequence[ItemTally]) -> Iterator[str]:
    numbers = "".join(
        f'<th scope="col" title="{text(tally.title)}">{place}</th>' for place, tally in enumerate(items, 1)
    )
    head = f'<tr class="nos"><td class="who"></td><th scope="col" class="sum">Points</th>{numbers}</tr>'
    while some := tuple(islice(rows, ROWS)):
        lines = "\n".join(_row(submission, items) for submission in some)
        yield (
            '<table class="map"><caption class="sr">Items by submission</caption>\n'
            f"<thead>{head}</thead>\n<tbody>{lines}</tbody></table>"
        )


def _row(submission: GradedSubmission, items: Sequence[ItemTally]) -> str:
    lines = {line.item: line for line in submission.card.lines}
    who = text(submission.card.student)
    cells = "".join(_cell(lines.get(tally.item)) for tally in items)
    points = number(submission.card.points.raw)
    return (
        f'<tr><th scope="row" class="who" title="{who}">{who}</th><td class="sum">{points}</td>{cells}</tr>'
    )


def _cell(line: Line | None) -> str:
    if line is None:  # its rubric has no such item
        return "<td></td>"
    what = state_of(line)
    tooltip = "" if what is LineState.FULL else f' title="{text(one_line(line.reason, LONGEST))}"'
    return f'<td class="{look(line)}"{tooltip}>{SIGNS[what]}</td>'
