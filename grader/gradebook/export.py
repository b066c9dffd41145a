"""The class as a table for spreadsheets, and each grade as JSON."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any, TextIO

from grader.config.points_csv import harmless
from grader.gradebook.book import Gradebook, RecordedGrade
from grader.model.score import Line, Standing
from grader.text import one_line

BEFORE = ("Student", "Submitted as", "Standing")
AFTER = (
    "Raw",
    "Lost by lateness",
    "Total",
    "Open",
    "Final",
    "Submitted at",
    "Scored at",
    "Rubric",
    "Upload",
    "Of several uploads",
)
"""Headings with capitals, which ids of items never have: they cannot be taken for each other."""
NOTHING = "no grade"


def write_csv(
    book: Gradebook, assignment: str, roster: Sequence[str], file: TextIO, zone: tzinfo = UTC
) -> int:
    """Write a row for each student with a column for each item (RFC 4180), without formulas; return how many.

    Points that are open are an empty cell. Students of the roster without a grade come last. Times are in
    `zone`, with their offset from UTC. `file` must have been opened with `newline=""`.
    """
    items = _items(book, assignment)
    table = csv.writer(file)
    table.writerow((*BEFORE, *map(_cell, items), *AFTER))
    graded = set()
    for grade in book.grades(assignment=assignment):
        table.writerow(_row(grade, items, zone))
        graded.add(grade.student)
    for student in roster:
        if student not in graded:
            table.writerow((_cell(student), "", NOTHING, *[""] * (len(items) + len(AFTER))))
    return len(graded)


def document(grade: RecordedGrade) -> dict[str, Any]:
    """Return one student's grade as plain JSON values; texts are for staff."""
    card, submission = grade.card, grade.submission
    (total,) = (total for total in card.totals if total.student == grade.student)
    return {
        "assignment": card.assignment,
        "student": grade.student,
        "submitted_as": card.student,
        "standing": card.standing.value,
        "points": {name: getattr(card.points, name) for name in card.points.__slots__},
        "adjusted": total.adjusted,
        "open": card.still_open(total),
        "final": total.final,
        "late": total.late and {"days": total.late.days, "lost": total.late.lost, "rule": total.late.rule},
        "items": [_item(line) for line in card.lines],
        "submission": {
            "archive": submission.archive,
            "chosen": submission.chosen,
            "digest": submission.digest,
            "submitted_at": submission.submitted_at and submission.submitted_at.isoformat(),
        },
        "rubric": {"name": card.rubric, "digest": card.rubric_digest},
        "run": {"id": grade.run, "began": grade.began} if grade.run else None,
        "score": {"number": grade.score, "how": grade.how, "at": grade.at, "grader": grade.grader},
    }


def _items(book: Gradebook, assignment: str) -> tuple[str, ...]:
    """Return every item of any grade, in the order of the rubric that was used last."""
    orders: dict[str, tuple[int, tuple[str, ...]]] = {}
    for grade in book.grades(assignment=assignment):
        orders[grade.card.rubric_digest] = grade.score, tuple(line.item for line in grade.card.lines)
    newest_first: Iterable[tuple[int, tuple[str, ...]]] = sorted(orders.values(), reverse=True)
    return tuple(dict.fromkeys(item for _, items in newest_first for item in items))


def _row(grade: RecordedGrade, items: Sequence[str], zone: tzinfo) -> Iterator[str | float]:
    card = grade.card
    lines = {line.item: line for line in card.lines}
    (total,) = (total for total in card.totals if total.student == grade.student)
    submitted_at = grade.submission.submitted_at
    yield from map(_cell, (grade.student, card.student, card.standing.value))
    yield from (_points(lines.get(item)) for item in items)
    yield card.points.raw
    yield total.late.lost if total.late else ""
    yield total.adjusted
    yield card.still_open(total)
    yield "" if total.final is None else total.final
    moments = (submitted_at, datetime.fromisoformat(grade.at))
    yield from (moment.astimezone(zone).isoformat() if moment else "" for moment in moments)
    yield _cell(card.rubric)
    yield from map(_cell, (grade.submission.archive, grade.submission.chosen))


def _cell(text: str) -> str:
    return harmless(one_line(text))


def _points(line: Line | None) -> str | float:
    return "" if line is None or line.standing is Standing.PROVISIONAL else line.points


def _item(line: Line) -> dict[str, Any]:
    return {
        "id": line.item,
        "title": line.title,
        "points": None if line.standing is Standing.PROVISIONAL else line.points,
        "possible": line.possible,
        "standing": line.standing.value,
        "outcome": line.outcome,
        "reason": line.reason,
        "flags": list(line.flags),
    }
