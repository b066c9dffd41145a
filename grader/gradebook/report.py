"""A class out of the book, as its reports get it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.model.rubric import Rubric
from grader.reports.class_view import ClassView, GradedSubmission, item_evidence
from grader.scoring.redact import staff_view

if TYPE_CHECKING:
    from grader.gradebook.book import Entry, Gradebook
    from grader.model.view import AudienceView


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """One mark with those for whom it holds."""

    entry: Entry
    students: tuple[str, ...]


def assignments_in(book: Gradebook) -> tuple[str, ...]:
    """The assignments of which there is a mark, by name.

    Raises:
        NotObservedError: the book cannot be read.
    """
    from sqlalchemy import select

    from grader.gradebook.tables import TOTALS

    with book.file.reading() as connection:
        return tuple(connection.scalars(select(TOTALS.c.assignment).distinct().order_by(TOTALS.c.assignment)))


def class_view(
    book: Gradebook, assignment: str, *, rubric: Rubric | None = None, roster: Sequence[str] = ()
) -> ClassView:
    """The marks that hold, each hand-in once; `rubric` tells thresholds and which items need GPUs.

    Raises:
        NotObservedError: the book cannot be read.
    """
    items = rubric.items if rubric is not None else ()
    thresholds = {item.id: getattr(item.options, "at_least", None) for item in items}
    marks = _marks(book, assignment)
    there = {student for mark in marks for student in mark.students}
    rubrics = Counter(f"{mark.entry.card.rubric}, {mark.entry.card.rubric_digest}" for mark in marks)
    return ClassView(
        assignment=assignment,
        submissions=tuple(
            GradedSubmission(
                students=mark.students,
                card=mark.entry.card,
                evidence=item_evidence(book.evidence(mark.entry.attempt), thresholds),
            )
            for mark in marks
        ),
        absent=tuple(student for student in roster if student not in there),
        gpus=None if rubric is None else {item.id: item.devices.get("gpu", 0) for item in items},
        scored_at=max((mark.entry.at for mark in marks), default=""),
        rubrics=dict(rubrics.most_common()),
    )


def staff_views(book: Gradebook, assignment: str) -> Iterator[AudienceView]:
    """Every mark with the whole evidence that it rests on, one after another.

    Of the rubric there is no more than the card says: the one that it was may be gone.

    Raises:
        NotObservedError: the book cannot be read.
    """
    for mark in _marks(book, assignment):
        card = mark.entry.card
        rubric = Rubric(name=card.rubric, assignment=assignment, points=card.points.possible, items=())
        yield staff_view(rubric, book.evidence(mark.entry.attempt), card)


def _marks(book: Gradebook, assignment: str) -> list[Holding]:
    """A team has one mark, as long as it holds for more than one of them."""
    found: dict[int, list[Entry]] = {}
    for entry in book.entries(assignment=assignment):
        found.setdefault(entry.score, []).append(entry)
    marks = [
        Holding(entry=entries[0], students=tuple(entry.student for entry in entries))
        for entries in found.values()
    ]
    return sorted(marks, key=lambda mark: (mark.entry.card.student, mark.entry.score))
