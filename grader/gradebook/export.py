"""The class as a table for spreadsheets, and each mark as JSON."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO

from grader.config.points_csv import harmless
from grader.gradebook.book import Entry, Gradebook
from grader.model.score import Line, Standing
from grader.text import one_line

BEFORE = ("Student", "Submitted as", "Standing")
AFTER = ("Raw", "Lost by lateness", "Total", "Final", "Submitted at", "Scored at", "Rubric")
"""Our own columns begin with capitals, and ids of items have none: they cannot be taken for each other."""
NOTHING = "nothing handed in"


def write_csv(book: Gradebook, assignment: str, roster: Sequence[str], file: TextIO) -> int:
    """Write a row for each student, a column for each item (RFC 4180), without a formula in it; how many.

    Points that are open are an empty cell. Whoever is on the roster and handed in nothing stands at the end.
    `file` must have been opened with `newline=""`.

    Raises:
        NotObservedError: the book cannot be read.
    """
    items = _items(book, assignment)
    table = csv.writer(file)
    table.writerow((*BEFORE, *map(_cell, items), *AFTER))
    seen = set()
    for entry in book.entries(assignment=assignment):
        table.writerow(_row(entry, items))
        seen.add(entry.student)
    for student in roster:
        if student not in seen:
            table.writerow((_cell(student), "", NOTHING, *[""] * (len(items) + len(AFTER))))
    return len(seen)


def document(entry: Entry) -> dict[str, Any]:
    """One student's mark as plain JSON values; texts are for staff."""
    card, submission = entry.card, entry.submission
    (total,) = (total for total in card.totals if total.student == entry.student)
    return {
        "assignment": card.assignment,
        "student": entry.student,
        "submitted_as": card.student,
        "standing": card.standing.value,
        "points": {name: getattr(card.points, name) for name in card.points.__slots__},
        "adjusted": total.adjusted,
        "final": total.final,
        "late": total.late and {"days": total.late.days, "lost": total.late.lost, "rule": total.late.rule},
        "items": [_item(line) for line in card.lines],
        "submission": {
            "archive": submission.archive,
            "digest": submission.digest,
            "submitted_at": submission.submitted_at and submission.submitted_at.isoformat(),
        },
        "rubric": {"name": card.rubric, "digest": card.rubric_digest},
        "exam": {"id": entry.exam, "began": entry.began} if entry.exam else None,
        "score": {"number": entry.score, "how": entry.how, "at": entry.at, "grader": entry.grader},
    }


def _items(book: Gradebook, assignment: str) -> tuple[str, ...]:
    """Every item of any mark, in the order of the rubric that was used last."""
    orders: dict[str, tuple[int, tuple[str, ...]]] = {}
    for entry in book.entries(assignment=assignment):
        orders[entry.card.rubric_digest] = entry.score, tuple(line.item for line in entry.card.lines)
    newest_first: Iterable[tuple[int, tuple[str, ...]]] = sorted(orders.values(), reverse=True)
    return tuple(dict.fromkeys(item for _, items in newest_first for item in items))


def _row(entry: Entry, items: Sequence[str]) -> Iterator[str | float]:
    card = entry.card
    lines = {line.item: line for line in card.lines}
    (total,) = (total for total in card.totals if total.student == entry.student)
    submitted_at = entry.submission.submitted_at
    yield from map(_cell, (entry.student, card.student, card.standing.value))
    yield from (_points(lines.get(item)) for item in items)
    yield card.points.raw
    yield total.late.lost if total.late else ""
    yield total.adjusted
    yield "" if total.final is None else total.final
    yield from map(_cell, (submitted_at.isoformat() if submitted_at else "", entry.at, card.rubric))


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
