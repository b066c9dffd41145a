"""`report.html`: one page, complete in itself, that needs no scripts and no network."""

from __future__ import annotations

from collections.abc import Iterator
from math import fsum
from typing import TYPE_CHECKING, ClassVar

from grader import __version__
from grader.contracts.report import Report
from grader.model.score import Standing
from grader.reports.markup import SIGNS, chips, look, plain, sign, text
from grader.reports.sections import has_section, section
from grader.reports.style import CSS
from grader.reports.words import (
    LineState,
    bounded,
    counted,
    elapsed,
    figure,
    missing_files,
    number,
    out_of,
    remarks,
    signed,
    state_of,
)

if TYPE_CHECKING:
    from grader.model.evidence import Evidence, Exam
    from grader.model.rubric import Item
    from grader.model.score import Line, Scorecard, Total
    from grader.model.view import AudienceView

SHOWN = {
    "after_due": "students see it after the deadline",
    "after_published": "students see it once marks are published",
    "never": "students never see it",
}


class Html(Report):
    """Report page: points with their reasons, and for lost points the calls, results and expected values."""

    name: ClassVar[str] = "html"
    filename: ClassVar[str] = "report.html"

    def render(self, view: AudienceView) -> str:
        """Render the page; text from outside is escaped."""
        card = view.scorecard
        return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{text(card.assignment)}: {text(card.student)}</title>
<style>{CSS}</style>
</head>
<body>
<main>
{_header(view)}
{_open(card)}
{_table(view)}
{_sections(view)}
{_footer(view.evidence, card)}
</main>
</body>
</html>
"""


def _header(view: AudienceView) -> str:
    card, points = view.scorecard, view.scorecard.points
    alone = len(card.totals) == 1
    shown, _, most = out_of(card.totals[0].adjusted if alone else points.raw, points.possible).partition(
        " / "
    )
    students = [total.student for total in card.totals]
    team = "" if students == [card.student] else f'<p class="soft">{text(", ".join(students))}</p>'
    audience = " · for staff" if view.audience == "staff" else ""
    shares = {
        "full": points.earned,
        "open": points.pending,
        "lost": points.possible - points.earned - points.pending,
    }
    bar = "".join(
        f'<i class="{name}" style="flex-grow:{share:.6f}"></i>'
        for name, share in shares.items()
        if share > 1e-9
    )
    notes = "".join(f'<p class="missing">{text(file)}</p>\n' for file in missing_files(card))
    notes += "".join(f"<p>{text(remark)}</p>\n" for remark in remarks(view))
    return f"""<header>
<div class="head">
<div><p class="kicker">{text(card.assignment)}{audience}</p><h1>{text(card.student)}</h1>{team}</div>
<p class="total"><strong>{shown}</strong> / {most}<span class="sr"> points</span></p>
</div>
<div class="bar" aria-hidden="true">{bar}</div>
{notes}{_ledger(card)}</header>"""


def _ledger(card: Scorecard) -> str:
    """List bonus, penalty and lateness, if the total is more than a sum of items."""
    points = card.points
    late = [total for total in card.totals if total.late and total.late.lost]
    if not (points.bonus or points.penalty or late or len(card.totals) > 1):
        return ""
    rows = [("Earned", number(points.earned))]
    rows += [
        (name, signed(value))
        for name, value in (("Bonus", points.bonus), ("Penalty", points.penalty))
        if value
    ]
    bounds = ", within the bounds of the rubric" if bounded(points) else ""
    rows.append((f"Raw total{bounds}", number(points.raw)))
    for total in card.totals:
        if total in late and total.late:
            label = _of_student(total, card, f"late by {elapsed(total.late.late_s)}")
            rows.append((label, signed(-total.late.lost)))
        sure = "final" if total.final is not None else "so far"
        rows.append((_of_student(total, card, sure), number(total.adjusted)))
    entries = "".join(f"<div><dt>{text(name)}</dt><dd>{value}</dd></div>" for name, value in rows)
    return f'<dl class="ledger">{entries}</dl>'


def _of_student(total: Total, card: Scorecard, label: str) -> str:
    """Return `Final`, or `alice, final` in a team."""
    return f"{total.student}, {label}" if len(card.totals) > 1 else label.capitalize()


def _open(card: Scorecard) -> str:
    """List pending items by reason."""
    waiting: dict[str, list[Line]] = {}
    for line in card.lines:
        if line.standing is Standing.PROVISIONAL:
            waiting.setdefault(line.reason, []).append(line)
    if not waiting:
        return ""
    entries = "\n".join(
        f"<li>{_worth(lines)}{text(reason)}"
        f'<p class="soft">{text("; ".join(line.title for line in lines))}</p></li>'
        for reason, lines in waiting.items()
    )
    return f'<section class="pending"><h2>Still open</h2>\n<ul>\n{entries}\n</ul></section>'


def _worth(lines: list[Line]) -> str:
    possible = fsum(line.possible for line in lines)  # 0 of penalties: nothing is missing yet
    return f"<strong>{counted(possible, 'point')}:</strong> " if possible else ""


def _table(view: AudienceView) -> str:
    items = {item.id: item for item in view.rubric.items}
    rows = "\n".join(
        _row(number, line, items[line.item], view) for number, line in enumerate(view.scorecard.lines, 1)
    )
    return f"""<table>
<caption class="sr">Points by item</caption>
<thead><tr><th class="mark"><span class="sr">Mark</span></th><th scope="col">Item</th>
<th scope="col" class="points">Points</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>"""


def _row(position: int, line: Line, item: Item, view: AudienceView) -> str:
    what = state_of(line)
    title = text(line.title)
    observation = view.evidence.observations.get(line.item)
    if has_section(line, item, observation):
        title = f'<a href="#item-{position}">{title}</a>'
    hint = f'<p class="hint">{text(line.hint)}</p>' if line.hint else ""
    remarks = ["simulated"] if observation and observation.simulated else []
    remarks += [f"flag: {text(flag)}" for flag in line.flags]
    if view.audience == "staff" and line.visible in SHOWN:
        remarks.append(SHOWN[line.visible])
    return (
        f'<tr class="{look(line)}"><td class="mark">{sign(what)}</td>'
        f'<th scope="row"><span class="title">{title}</span>{_kind(line)}<p>{text(line.reason)}</p>{hint}'
        f"{chips(remarks)}</th>"
        f'<td class="points">{figure(line, SIGNS[LineState.OPEN])}</td></tr>'
    )


def _kind(line: Line) -> str:
    return "" if line.counts == "earns" else f' <span class="soft">({text(line.counts)})</span>'


def _sections(view: AudienceView) -> str:
    items = {item.id: item for item in view.rubric.items}
    sections = [
        section(position, line, items[line.item], observation)
        for position, line in enumerate(view.scorecard.lines, 1)
        if (observation := view.evidence.observations.get(line.item))
        and has_section(line, items[line.item], observation)
    ]
    return "\n".join(("<h2>What was seen</h2>", *sections)) if sections else ""


def _footer(evidence: Evidence, card: Scorecard) -> str:
    submission = evidence.submission
    facts = {
        "Handed in": submission.archive,
        "Handed in at": submission.submitted_at.isoformat() if submission.submitted_at else "",
        "Files graded": ", ".join(submission.files),
        "Files ignored": ", ".join(submission.dropped),
        "Work": card.submission_digest,
        "Rubric": f"{card.rubric}, {card.rubric_digest}",
        "Grader": __version__,
    }
    rows = [*facts.items(), *(row for exam in evidence.exams for row in _exam(exam))]
    entries = "\n".join(f"<dt>{text(name)}</dt><dd>{text(value)}</dd>" for name, value in rows if value)
    summary = "Where this grade comes from"
    return f"<footer><details><summary>{summary}</summary>\n<dl>{entries}</dl></details></footer>"


def _exam(exam: Exam) -> Iterator[tuple[str, str]]:
    yield "Observed at", exam.started_at
    yield "Isolation", exam.isolation
    yield from ((name, plain(value)) for name, value in exam.environment.items())
