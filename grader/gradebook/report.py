"""The views of a class that reports get from a gradebook."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.model.rubric import Rubric
from grader.reports.class_view import ClassView, GradedSubmission, item_evidence
from grader.scoring.drawings import drawings_of
from grader.scoring.redact import staff_view

if TYPE_CHECKING:
    from grader.contracts.check import CheckKind
    from grader.gradebook.book import Gradebook, RecordedGrade
    from grader.model.submission import Submission
    from grader.model.view import AudienceView


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedGrade:
    """One score with all students whose current score it is."""

    grade: RecordedGrade
    students: tuple[str, ...]


def assignments_in(book: Gradebook) -> tuple[str, ...]:
    """Return the assignments with a grade, by name."""
    from sqlalchemy import select

    from grader.gradebook.tables import TOTALS

    with book.database.reading() as connection:
        return tuple(connection.scalars(select(TOTALS.c.assignment).distinct().order_by(TOTALS.c.assignment)))


def class_view(
    book: Gradebook,
    assignment: str,
    *,
    rubric: Rubric | None = None,
    kinds: Mapping[str, CheckKind] | None = None,
    roster: Sequence[str] = (),
) -> ClassView:
    """View the current grades, each submission once.

    `rubric` has the need for GPUs, and the options with which its `kinds` draw what was measured.
    """
    items = rubric.items if rubric is not None else ()
    shared = _shared(book, assignment)
    present = {student for each in shared for student in each.students}
    cards = [each.grade.card for each in shared]
    rubrics = Counter(f"{card.rubric}, version {_short(card.rubric_digest)}" for card in cards)
    return ClassView(
        assignment=assignment,
        submissions=tuple(
            GradedSubmission(
                students=each.students,
                card=each.grade.card,
                upload=_upload(each.grade.submission),
                evidence=item_evidence(evidence, drawings_of(items, evidence.observations, kinds or {})),
            )
            for each in shared
            for evidence in [book.evidence(each.grade.attempt)]
        ),
        absent=tuple(student for student in roster if student not in present),
        strangers=tuple(sorted(present.difference(roster))) if roster else (),
        gpus=None if rubric is None else {item.id: item.devices.get("gpu", 0) for item in items},
        scored_at=max((each.grade.at for each in shared), default=""),
        rubrics=dict(rubrics.most_common()),
    )


def current_submissions(book: Gradebook, assignment: str) -> tuple[Submission, ...]:
    """Return the submissions of the current grades, each once."""
    return tuple(each.grade.submission for each in _shared(book, assignment))


def _short(digest: str) -> str:
    """Return the first digits of a digest: enough to tell versions of one rubric apart."""
    return digest.rpartition(":")[2][:12]


def _upload(submission: Submission) -> str:
    return f"{submission.archive}, {submission.chosen}" if submission.chosen else ""


def staff_views(book: Gradebook, assignment: str) -> Iterator[AudienceView]:
    """Yield the view of every grade with its whole evidence, one after another.

    The rubric in it has no items: the file of that rubric may be gone, and the card has the names.
    """
    for each in _shared(book, assignment):
        card = each.grade.card
        rubric = Rubric(name=card.rubric, assignment=assignment, points=card.points.possible, items=())
        yield staff_view(rubric, book.evidence(each.grade.attempt), card)


def _shared(book: Gradebook, assignment: str) -> list[SharedGrade]:
    """Collect the students of each score, so that a team comes once."""
    by_score: dict[int, list[RecordedGrade]] = {}
    for grade in book.grades(assignment=assignment):
        by_score.setdefault(grade.score, []).append(grade)
    shared = [
        SharedGrade(grade=grades[0], students=tuple(grade.student for grade in grades))
        for grades in by_score.values()
    ]
    return sorted(shared, key=lambda each: (each.grade.card.student, each.grade.score))
