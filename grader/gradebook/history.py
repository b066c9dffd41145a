"""What happened to a student's marks, one thing after another."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from grader.gradebook.book import Gradebook, entry, entry_rows
from grader.gradebook.tables import ATTEMPTS, POINTS, POSTS, SCORES, SUBMISSIONS, TOTALS


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One row that was added, in the words of its table."""

    at: str
    """ISO 8601, UTC."""
    what: str
    """`score`, `points` or `post`."""
    assignment: str
    details: Mapping[str, Any]
    """JSON values by name."""


def history(book: Gradebook, student: str, assignment: str | None = None) -> tuple[Event, ...]:
    """Everything about one student, also as a member of a team, the oldest first; empty if nobody knows them.

    Raises:
        NotObservedError: the book cannot be read.
    """
    with book.file.reading() as connection:
        found = [*_points(connection, student), *_scores(connection, student), *_posts(connection, student)]
    wanted = (event for event in found if assignment in (None, event.assignment))
    return tuple(sorted(wanted, key=lambda event: event.at))


def _scores(connection: Connection, student: str) -> Iterator[Event]:
    rows = entry_rows().where(TOTALS.c.student == student).order_by(SCORES.c.id)
    for found in map(entry, connection.execute(rows)):
        card = found.card
        (total,) = (total for total in card.totals if total.student == student)
        details = {
            "score": found.score,
            "how": found.how,
            "submitted_as": card.student,
            "standing": card.standing.value,
            "raw": card.points.raw,
            "possible": card.points.possible,
            "pending": card.points.pending,
            "adjusted": total.adjusted,
            "final": total.final,
            "rubric": card.rubric,
            "rubric_digest": card.rubric_digest,
            "submission_digest": card.submission_digest,
            "archive": found.submission.archive,
            "exam": found.exam,
            "began": found.began,
            "grader": found.grader,
        }
        yield Event(at=found.at, what="score", assignment=card.assignment, details=details)


def _points(connection: Connection, student: str) -> Iterator[Event]:
    mine = (
        select(ATTEMPTS.c.submission)
        .join(SCORES, SCORES.c.attempt == ATTEMPTS.c.id)
        .join(TOTALS, TOTALS.c.score == SCORES.c.id)
        .where(TOTALS.c.student == student)
    )
    names = ("item", "points", "possible", "by", "comment", "given_at")
    rows = (
        select(SUBMISSIONS.c.assignment, SUBMISSIONS.c.body, *(POINTS.c[name] for name in names), POINTS.c.at)
        .join(SUBMISSIONS, SUBMISSIONS.c.id == POINTS.c.submission)
        .where(POINTS.c.submission.in_(mine))
        .order_by(POINTS.c.id)
    )
    for row in connection.execute(rows).mappings():
        details = {name: row[name] for name in names}
        details["submission_digest"] = json.loads(row["body"])["digest"]
        yield Event(at=row["at"], what="points", assignment=row["assignment"], details=details)


def _posts(connection: Connection, student: str) -> Iterator[Event]:
    names = ("score", "platform", "key", "points", "outcome", "said")
    rows = (
        select(TOTALS.c.assignment, POSTS.c.at, *(POSTS.c[name] for name in names))
        .join(TOTALS, (TOTALS.c.score == POSTS.c.score) & (TOTALS.c.student == POSTS.c.student))
        .where(POSTS.c.student == student)
        .order_by(POSTS.c.id)
    )
    for row in connection.execute(rows).mappings():
        details = {name: row[name] for name in names}
        yield Event(at=row["at"], what="post", assignment=row["assignment"], details=details)
