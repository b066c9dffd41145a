"""The history of a student's grades: scores, points given by people, posts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, Select, select, union

from grader.gradebook.book import Gradebook, grade_rows, read_grade
from grader.gradebook.tables import ATTEMPTS, OUTDATED, POINTS, POSTS, SCORES, SUBMISSIONS, TOTALS


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEvent:
    """One row that was added, by the names of its columns."""

    at: str
    """ISO 8601, UTC."""
    what: str
    """`score`, `points` or `post`."""
    assignment: str
    details: Mapping[str, Any]
    """JSON values by name."""


def history(book: Gradebook, student: str, assignment: str | None = None) -> tuple[HistoryEvent, ...]:
    """Return all events of a student, also as a member of a team, the oldest first; empty for none."""
    with book.database.reading() as connection:
        events = [*_points(connection, student), *_scores(connection, student), *_posts(connection, student)]
    events = [event for event in events if assignment in (None, event.assignment)]
    return tuple(sorted(events, key=lambda event: event.at))


def team_history(book: Gradebook, team: str, assignment: str | None = None) -> tuple[HistoryEvent, ...]:
    """Return all events of the submissions of a team such as `ann+ben`, the oldest first; empty for none.

    What is the same for several members comes once, and its `student` is all of them, as `ann+ben`.
    """
    of_members = [
        (member, event) for member in team.split("+") for event in history(book, member, assignment)
    ]
    scores = [event.details for _, event in of_members if event.details.get("submitted_as") == team]
    numbers = {each["score"] for each in scores}
    digests = {each["submission_digest"] for each in scores}
    of_team = [
        (member, event)
        for member, event in of_members
        if event.details.get("score") in numbers
        or (event.what == "points" and event.details["submission_digest"] in digests)
    ]
    once: list[tuple[HistoryEvent, list[str]]] = []
    for member, event in of_team:
        members = next((members for other, members in once if other == event), None)
        if members is None:
            once.append((event, [member]))
        elif member not in members:
            members.append(member)
    events = [
        replace(event, details={**event.details, "student": "+".join(members)}) for event, members in once
    ]
    return tuple(sorted(events, key=lambda event: event.at))


def _scores(connection: Connection, student: str) -> Iterator[HistoryEvent]:
    grades = [
        (read_grade(row), totals is TOTALS)
        for totals in (TOTALS, OUTDATED)
        for row in connection.execute(grade_rows(totals).where(totals.c.student == student)).mappings()
    ]
    for grade, counts in sorted(grades, key=lambda pair: pair[0].score):
        card = grade.card
        (total,) = (total for total in card.totals if total.student == student)
        details = {
            "score": grade.score,
            "how": grade.how,
            "counts": counts,
            "account": grade.account,
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
            "submitted_at": grade.submission.submitted_at and grade.submission.submitted_at.isoformat(),
            "archive": grade.submission.archive,
            "chosen": grade.submission.chosen,
            "run": grade.run,
            "began": grade.began,
            "grader": grade.grader,
        }
        yield HistoryEvent(at=grade.at, what="score", assignment=card.assignment, details=details)


def _points(connection: Connection, student: str) -> Iterator[HistoryEvent]:
    names = ("item", "points", "possible", "by", "comment", "given_at", "reason", "withdrawn", "account")
    scores = union(
        *(select(totals.c.score).where(totals.c.student == student) for totals in (TOTALS, OUTDATED))
    )
    submissions = (
        select(ATTEMPTS.c.submission)
        .join(SCORES, SCORES.c.attempt == ATTEMPTS.c.id)
        .where(SCORES.c.id.in_(scores))
    )
    digest = SUBMISSIONS.c.digest.label("submission_digest")
    rows = (
        select(POINTS.c.at, SUBMISSIONS.c.assignment, *(POINTS.c[name] for name in names), digest)
        .join(SUBMISSIONS, SUBMISSIONS.c.id == POINTS.c.submission)
        .where(POINTS.c.submission.in_(submissions))
        .order_by(POINTS.c.id)
    )
    return _events(connection, "points", rows)


def _posts(connection: Connection, student: str) -> Iterator[HistoryEvent]:
    names = ("score", "student", "platform", "marker", "points", "outcome", "message", "account")
    rows = (
        select(POSTS.c.at, TOTALS.c.assignment, *(POSTS.c[name] for name in names))
        .join(TOTALS, (TOTALS.c.score == POSTS.c.score) & (TOTALS.c.student == POSTS.c.student))
        .where(POSTS.c.student == student)
        .order_by(POSTS.c.id)
    )
    return _events(connection, "post", rows)


def _events(connection: Connection, what: str, rows: Select[Any]) -> Iterator[HistoryEvent]:
    for at, assignment, *values in connection.execute(rows):
        details = dict(zip(list(rows.selected_columns.keys())[2:], values, strict=True))
        yield HistoryEvent(at=at, what=what, assignment=assignment, details=details)
