"""`report.html`: one page, complete in itself, that needs no scripts and no network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import fsum
from typing import TYPE_CHECKING, ClassVar

from grader import __version__
from grader.contracts.report import Report
from grader.model.magnitude import number
from grader.model.observation import NOT_CALLED, STUDENTS_DOING, Outcome
from grader.model.score import Standing
from grader.reports.item_rows import CHARTS, ENDINGS, MOST_CASES, ItemRow, item_row
from grader.reports.pages import plain, template
from grader.reports.words import (
    LineState,
    bounded,
    elapsed,
    local_time,
    missing_files,
    open_reason,
    out_of,
    remarks,
    signed,
    worth_after_late,
)

if TYPE_CHECKING:
    from datetime import tzinfo

    from grader.model.evidence import WorkerRun
    from grader.model.score import Line, Scorecard, Total
    from grader.model.view import AudienceView


ENVIRONMENT = {
    "cores": "CPU cores",
    "load_1min": "Load over a minute",
    "machine": "Architecture",
    "subject": "Process of the student",
    "landlock_abi": "version of Landlock",
    "preload_s": "seconds of imports",
    "seccomp": "filter of system calls",
}
"""Names of what a run says of its machine, and of a program's process; others are as in the evidence."""

WRONG_SO_FAR = "needs a GPU; wrong in the simulator, as said above"
"""The reason of open items whose own ones are already in the table."""


class Html(Report):
    """Report page: points with their reasons, and for lost points the calls, results and expected values."""

    name: ClassVar[str] = "html"
    filename: ClassVar[str] = "report.html"

    def prepare(self) -> None:
        """Import Jinja2 and compile the page's template."""
        template("report.html.j2")

    def render(self, view: AudienceView) -> str:
        """Render the page; text from outside is escaped."""
        card, points = view.scorecard, view.scorecard.points
        items = {item.id: item for item in view.rubric.items}
        students = [total.student for total in card.totals]
        is_same_for_all = len({total.adjusted for total in card.totals}) == 1
        raw = card.totals[0].adjusted if is_same_for_all else points.raw
        full = min(max(raw, 0.0), points.possible)
        pending = card.still_open(card.totals[0]) if is_same_for_all else points.pending
        still_open = min(pending, points.possible - full)
        shares = {"full": full, "open": still_open, "lost": points.possible - full - still_open}
        rows = _in_order(
            [item_row(position, line, items[line.item], view) for position, line in enumerate(card.lines, 1)],
            view,
        )
        banners = _banners(rows)
        return template("report.html.j2").render(
            card=card,
            title=view.assignment_title or card.assignment,
            course_title=view.course_title,
            for_staff=view.audience == "staff",
            team=[] if students == [card.student] else students,
            total=out_of(raw, points.possible).split(" / "),
            shares=[(name, share) for name, share in shares.items() if share > 1e-9],
            missing_files=missing_files(card),
            remarks=remarks(view),
            ledger=tuple(_ledger(card)),
            pending=tuple(_pending(card).items()),
            open_worth=lambda lines: worth_after_late(fsum(line.possible for line in lines), card),
            worth=lambda lines: fsum(line.possible for line in lines),
            rows=rows,
            banners=banners,
            explained={line.item for lines in banners.values() for line in lines if not _is_of_build(line)},
            named={line.item for lines in banners.values() for line in lines},
            repeated={line.item for lines in banners.values() for line in lines[1:]},
            origin=_origin(view),
            ENDINGS=ENDINGS,
            NOT_CALLED=NOT_CALLED,
            MOST_CASES=MOST_CASES,
        )


def _in_order(rows: list[ItemRow], view: AudienceView) -> list[ItemRow]:
    """Return rows for students with lost points first, then open ones; for staff as in the rubric.

    Of the open ones those come first that are wrong in the simulator.
    """
    if view.audience == "staff":
        return rows
    first = (LineState.LOST, LineState.PARTIAL, LineState.SKIPPED, LineState.HELD, LineState.OPEN)

    def place(row: ItemRow) -> tuple[int, bool]:
        wrong = row.line.simulated is not None and row.line.simulated < 1
        return first.index(row.state) if row.state in first else len(first), not wrong

    return sorted(rows, key=place)


def _banners(rows: list[ItemRow]) -> dict[str, list[Line]]:
    """Return the lines by reason that ended several items before any call: a failed import, or build.

    Items that were skipped because they need one of these are among them. The item of a build may be the only
    one that has the reason; its cases are the compiler's, and no calls.
    """
    by_reason: dict[str, list[Line]] = {}
    for row in rows:
        observation, line = row.observation, row.line
        if row.state is not LineState.LOST or observation is None or line.missing:
            continue
        if observation.cases and not _is_of_build(line):
            continue
        if observation.outcome in STUDENTS_DOING and observation.note == line.reason:
            by_reason.setdefault(line.reason, []).append(line)
    banners = {
        reason: lines for reason, lines in by_reason.items() if len(lines) > 1 or _is_of_build(lines[0])
    }
    skipped = [row for row in rows if row.state is LineState.SKIPPED and not row.line.missing]
    for lines in banners.values():
        ended = {line.item for line in lines}
        while more := [row for row in skipped if not ended.isdisjoint(row.item.needs)]:
            lines.extend(row.line for row in more)
            ended |= {row.line.item for row in more}
            skipped = [row for row in skipped if row.line.item not in ended]
    return {reason: lines for reason, lines in banners.items() if len(lines) > 1}


def _is_of_build(line: Line) -> bool:
    return line.outcome == Outcome.NOT_BUILT


def _ledger(card: Scorecard) -> Iterator[tuple[str, str]]:
    """Yield bonus, penalty and lateness, if the total is more than a sum of items."""
    points = card.points
    late = [total for total in card.totals if total.late and total.late.lost]
    if not (points.bonus or points.penalty or late or len(card.totals) > 1):
        return
    yield "Earned", number(points.earned)
    for name, value in (("Bonus", points.bonus), ("Penalty", points.penalty)):
        if value:
            yield name, signed(value)
    bounds = ", within the bounds of the rubric" if bounded(points) else ""
    yield f"Raw total{bounds}", number(points.raw)
    for total in card.totals:
        if total in late and total.late:
            label = f"late by {elapsed(total.late.late_s)}"
            yield _of_student(total, card, label), signed(-total.late.lost)
        sure = "final" if total.final is not None else "so far"
        yield _of_student(total, card, sure), number(total.adjusted)


def _of_student(total: Total, card: Scorecard, label: str) -> str:
    """Return `Final`, or `alice, final` in a team."""
    return f"{total.student}, {label}" if len(card.totals) > 1 else label.capitalize()


def _pending(card: Scorecard) -> dict[str, list[Line]]:
    """Return the pending lines by reason; penalties are worth 0, for nothing is missing yet."""
    pending: dict[str, list[Line]] = {}
    for line in card.lines:
        if line.standing is Standing.PROVISIONAL:
            wrong = line.simulated is not None and line.simulated < 1
            pending.setdefault(WRONG_SO_FAR if wrong else open_reason(line), []).append(line)
    return pending


def _origin(view: AudienceView) -> Iterator[tuple[str, str]]:
    """Yield what was graded, by what, when and where; students read of the machine what times depend on."""
    card, zone, submission = view.scorecard, view.time_zone, view.evidence.submission
    for_staff = view.audience == "staff"
    yield "Handed in", submission.archive
    yield "Of several uploads", submission.chosen
    yield "Handed in at", local_time(submission.submitted_at, zone) if submission.submitted_at else ""
    yield "Files graded", ", ".join(submission.files)
    yield "Files ignored", ", ".join(submission.dropped)
    yield "Archives not unpacked", "; ".join(submission.unread)
    yield "Digest of the files", card.submission_digest if for_staff else ""
    yield "Rubric", f"{card.rubric}, {card.rubric_digest}" if for_staff else card.rubric
    yield "Grader", __version__
    timed = any(isinstance(drawing, CHARTS) for drawings in view.drawings.values() for drawing in drawings)
    runs = [
        list(_run(run, zone) if for_staff else _run_for_students(run, zone, timed=timed))
        for run in view.evidence.runs
    ]
    of_all = [fact for fact in runs[0] if all(fact in run for run in runs)] if runs else []
    for run in runs:
        yield from (fact for fact in run if fact not in of_all)
    yield from of_all


def _run_for_students(run: WorkerRun, zone: tzinfo, *, timed: bool) -> Iterator[tuple[str, str]]:
    facts = run.environment
    yield "Observed at", local_time(run.started_at, zone)
    yield "Python", plain(facts.get("python", ""))
    if timed:
        yield "Processor", plain(facts.get("processor", ""))
        yield ENVIRONMENT["cores"], plain(facts.get("cores", ""))
        yield "GPU", plain([gpu.get("name", "") for gpu in facts.get("gpus", ()) if isinstance(gpu, Mapping)])


def _run(run: WorkerRun, zone: tzinfo) -> Iterator[tuple[str, str]]:
    yield "Observed at", local_time(run.started_at, zone)
    yield "Isolation", run.isolation
    for name, fact in run.environment.items():
        value = fact
        if isinstance(fact, Mapping):
            value = {ENVIRONMENT.get(part, part): of_part for part, of_part in fact.items()}
        yield ENVIRONMENT.get(name) or name.replace("_", " ").capitalize(), plain(value)
