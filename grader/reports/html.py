"""`report.html`: one page for the student, complete in itself, that needs no scripts and no network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from math import fsum
from typing import TYPE_CHECKING, Any, ClassVar

from grader import __version__
from grader.model.observation import Outcome
from grader.model.score import Standing
from grader.reports.style import CSS
from grader.reports.words import Mark, clean, counted, mark, number, out_of, shorten, standing_of

if TYPE_CHECKING:
    from grader.model.evidence import Evidence, Exam
    from grader.model.observation import Case, Observation, Quantity
    from grader.model.rubric import Rubric
    from grader.model.score import Line, Scorecard

LONGEST = 8_000
"""Characters of one text that are shown; head and tail of longer ones."""
MOST_CASES = 20
"""Cases that are shown of one item, before it only says how many more there are."""

SIGNS = {
    Mark.FULL: "✓",
    Mark.PARTIAL: "◐",
    Mark.LOST: "✗",
    Mark.SKIPPED: "·",
    Mark.OPEN: "…",
    Mark.HELD: "‖",
}

ENDINGS = {
    Outcome.CRASHED: "crashed",
    Outcome.TIMED_OUT: "ran out of time",
    Outcome.OUT_OF_MEMORY: "used too much memory",
    Outcome.NOT_BUILT: "was not built",
    Outcome.REFUSED: "gave something that cannot be looked at",
    Outcome.SKIPPED: "was skipped",
    Outcome.NOT_OBSERVED: "was not observed",
}


class Html:
    """The mark as a page: what was earned, why, and for what was not, what the program was asked and said.

    Only items that are `visible: always` are on it. Nothing that depends on the others is shown either: no
    total, no standing and no name of theirs.
    """

    name: ClassVar[str] = "html"
    filename: ClassVar[str] = "report.html"

    def render(self, rubric: Rubric, evidence: Evidence, scorecard: Scorecard) -> str:
        """The page's text; everything from outside is escaped."""
        lines = [line for line in scorecard.lines if line.visible == "always"]
        hidden = frozenset(line.item for line in scorecard.lines if line.visible != "always")
        reasons = _reasons(rubric, scorecard, hidden)
        title = f"{_text(scorecard.assignment)}: {_text(scorecard.student)}"
        return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>{CSS}</style>
</head>
<body>
<main>
{_header(scorecard, lines, whole=not hidden)}
{_table(lines, reasons, evidence)}
{_sections(lines, reasons, evidence)}
{_footer(evidence, scorecard)}
</main>
</body>
</html>
"""


def _header(card: Scorecard, lines: list[Line], *, whole: bool) -> str:
    points = fsum(line.points for line in lines)
    possible = fsum(line.possible for line in lines)
    pending = fsum(line.possible for line in lines if line.standing is Standing.PROVISIONAL)
    shown, _, most = out_of(points, possible).partition(" / ")
    remarks = "".join(f"<p>{remark}</p>\n" for remark in _remarks(card, lines, pending, whole=whole))
    shares = {"full": points, "open": pending, "lost": possible - points - pending}
    bar = "".join(
        f'<i class="{name}" style="flex-grow:{share:.6f}"></i>'
        for name, share in shares.items()
        if share > 1e-9
    )
    return f"""<header>
<div class="head">
<div><p class="kicker">{_text(card.assignment)}</p><h1>{_text(card.student)}</h1></div>
<p class="total"><strong>{shown}</strong> / {most}<span class="sr"> points</span></p>
</div>
<div class="bar" aria-hidden="true">{bar}</div>
{remarks}</header>"""


def _remarks(card: Scorecard, lines: list[Line], pending: float, *, whole: bool) -> Iterator[str]:
    if card.standing is Standing.HELD:
        standing = Standing.HELD
    else:
        standing = Standing.PROVISIONAL if pending else Standing.FINAL
    yield standing_of(standing, pending)
    if not whole:
        yield "The points above are those of the items on this page."
    later = sum(line.visible.startswith("after_") for line in card.lines)
    if later:
        yield f"{counted(later, 'item')} {'is' if later == 1 else 'are'} shown later."
    if card.late_points != card.points:
        left = f": {out_of(card.late_points, card.possible)} remain" if whole else ""
        yield f"Handed in late{left}."


def _reasons(rubric: Rubric, card: Scorecard, hidden: frozenset[str]) -> dict[str, str]:
    """What each line says; a gate that is not on the page is not named on it either."""
    closed = {line.item for line in card.lines if mark(line) is not Mark.FULL} & hidden
    gated = {item.id for item in rubric.items if closed.intersection((*item.needs, *item.uses))}
    return {
        line.item: "waits for an item that is not shown here"
        if line.item in gated and mark(line) is not Mark.FULL
        else line.reason
        for line in card.lines
    }


def _table(lines: list[Line], reasons: Mapping[str, str], evidence: Evidence) -> str:
    rows = "\n".join(_row(number, line, reasons[line.item], evidence) for number, line in enumerate(lines, 1))
    return f"""<table>
<caption class="sr">Points by item</caption>
<thead><tr><th class="mark"><span class="sr">Mark</span></th><th scope="col">Item</th>
<th scope="col" class="points">Points</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>"""


def _row(position: int, line: Line, reason: str, evidence: Evidence) -> str:
    what = mark(line)
    title = _text(line.title)
    if _has_section(evidence.observations.get(line.item)):
        title = f'<a href="#item-{position}">{title}</a>'
    hint = f'<p class="hint">{_text(line.hint)}</p>' if line.hint else ""
    return (
        f'<tr class="{_class(what)}"><td class="mark">{_sign(what)}</td>'
        f'<th scope="row"><span class="title">{title}</span><p>{_text(reason)}</p>{hint}</th>'
        f'<td class="points">{_figure(line)}</td></tr>'
    )


def _sections(lines: list[Line], reasons: Mapping[str, str], evidence: Evidence) -> str:
    sections = [
        _section(position, line, reasons[line.item], observation)
        for position, line in enumerate(lines, 1)
        if (observation := evidence.observations.get(line.item)) and _has_section(observation)
    ]
    return "\n".join(("<h2>What was seen</h2>", *sections)) if sections else ""


def _has_section(observation: Observation | None) -> bool:
    return observation is not None and bool(observation.cases or observation.output or observation.quantities)


def _section(position: int, line: Line, reason: str, observation: Observation) -> str:
    what = mark(line)
    parts = "\n".join(filter(None, _body(observation, reason, full=what is Mark.FULL)))
    return f"""<section class="item {_class(what)}" id="item-{position}">
<details{"" if what is Mark.FULL else " open"}>
<summary><span>{_sign(what)}</span><h3>{_text(line.title)}</h3><span>{_figure(line)}</span></summary>
<div class="body">
{parts}
</div>
</details>
</section>"""


def _body(observation: Observation, reason: str, *, full: bool) -> Iterator[str]:
    wrong = () if full else tuple(case for case in observation.cases if _went_wrong(case))
    right = tuple(case for case in observation.cases if full or not _went_wrong(case))
    if not full and not wrong:
        yield f"<p>{_text(reason)}</p>"
    yield _quantities(observation.quantities)
    if full or wrong:
        yield from (_case(case, "case wrong") for case in wrong[:MOST_CASES])
        yield _more(len(wrong))
        yield _agreed(right)
    else:  # no case stands out: what is missing shows only in all of them together
        yield from (_case(case, "case") for case in right[:MOST_CASES])
        yield _more(len(right))
    if observation.output:
        yield f'<div><p class="label">What the program printed</p>{_pre(observation.output)}</div>'
    seed = f"Inputs drawn from seed <code>{_text(observation.seed)}</code>. " if observation.seed else ""
    yield f'<p class="fine">{seed}Looking took {observation.wall_s:.3g} s.</p>'


def _went_wrong(case: Case) -> bool:
    agrees = case.agrees.values()
    return case.outcome is not Outcome.OBSERVED or bool(case.note) or (bool(agrees) and not any(agrees))


def _case(case: Case, look: str) -> str:
    ended = f' <span class="soft">{ENDINGS[case.outcome]}</span>' if case.outcome in ENDINGS else ""
    note = f"<p>{_text(case.note)}</p>" if case.note else ""
    told = "".join(
        f"<div{place}><dt>{label}</dt><dd>{_pre(text)}</dd></div>"
        for label, text, place in (
            ("Called", case.called, ' class="wide"'),
            ("Came back", case.returned, ""),
            ("Expected", case.expected, ""),
        )
        if text
    )
    changed = ", ".join(case.changed_inputs)
    return f"""<article class="{look}">
<h4>{_text(case.name)}{ended}</h4>
{note}
<dl class="told">{told}</dl>
{_agreement(case.agrees)}{_quantities(case.quantities)}
{f'<p class="soft">Changed in place: {_text(changed)}</p>' if changed else ""}
</article>"""


def _agreement(agrees: Mapping[str, bool]) -> str:
    """Only worth reading where there is more than one thing to agree with."""
    if len(agrees) < 2:
        return ""
    return _chips(
        f"{'✓ agrees' if agreed else '✗ disagrees'} with {_text(name)}" for name, agreed in agrees.items()
    )


def _quantities(quantities: Mapping[str, Quantity]) -> str:
    return _chips(
        f"{_text(name.replace('_', ' '))}: {_text(_plain(quantity.value))} {_text(quantity.unit)}"
        + (" (as the program says)" if quantity.taken_by == "subject" else "")
        for name, quantity in quantities.items()
    )


def _chips(texts: Iterable[str]) -> str:
    chips = "".join(f"<li>{text}</li>" for text in texts)
    return f'<ul class="chips">{chips}</ul>' if chips else ""


def _more(cases: int) -> str:
    return f'<p class="soft">And {cases - MOST_CASES} more.</p>' if cases > MOST_CASES else ""


def _agreed(cases: tuple[Case, ...]) -> str:
    if not cases:
        return ""
    rows = "".join(
        f"<li>{_text(case.name)}: <code>{_text(case.called)}</code></li>" for case in cases[:MOST_CASES]
    )
    what = f"{counted(len(cases), 'case')} went well"
    return f'<details><summary>{what}</summary><ul class="plain">{rows}</ul>{_more(len(cases))}</details>'


def _footer(evidence: Evidence, card: Scorecard) -> str:
    submission = evidence.submission
    facts = {
        "Handed in": submission.archive,
        "Handed in at": submission.submitted_at.isoformat() if submission.submitted_at else "",
        "Looked at": ", ".join(submission.files),
        "Left aside": ", ".join(submission.dropped),
        "Work": card.submission_digest,
        "Rubric": f"{card.rubric}, {card.rubric_digest}",
        "Grader": __version__,
    }
    rows = [*facts.items(), *(row for exam in evidence.exams for row in _exam(exam))]
    told = "\n".join(f"<dt>{_text(name)}</dt><dd>{_text(value)}</dd>" for name, value in rows if value)
    return (
        f"<footer><details><summary>Where this mark comes from</summary>\n<dl>{told}</dl></details></footer>"
    )


def _exam(exam: Exam) -> Iterator[tuple[str, str]]:
    yield "Observed at", exam.started_at
    yield "Isolation", exam.isolation
    yield from ((name, _plain(value)) for name, value in exam.environment.items())


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_plain(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _figure(line: Line) -> str:
    if mark(line) is Mark.OPEN:
        return f"{SIGNS[Mark.OPEN]} / {number(line.possible)}"
    return out_of(line.points, line.possible)


def _sign(what: Mark) -> str:
    return f'<span class="sign" aria-hidden="true">{SIGNS[what]}</span><span class="sr">{what.value}</span>'


def _class(what: Mark) -> str:
    return what.name.lower()


def _pre(text: str) -> str:
    return f"<pre>{_text(text)}</pre>"


def _text(text: str) -> str:
    return escape(clean(shorten(text, LONGEST)))
