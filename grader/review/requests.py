"""Requests of students to look again, and the answers to them, kept with the grade."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Connection, insert, select

from grader.gradebook.earlier import first_number
from grader.gradebook.origin import now
from grader.gradebook.tables import POINTS, REPLIES, REQUESTS, SUBMISSIONS
from grader.review.judging import add_audit
from grader.review.labels import label

if TYPE_CHECKING:
    from grader.gradebook.book import Gradebook
    from grader.gradebook.judgements import Judgement
    from grader.review.people import Reviewer


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The answer to a request."""

    text: str
    by: str
    at: str
    judgement: int | None
    """The number of the row of points that came of it; None if the points stayed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentRequest:
    """A student's request about one item."""

    number: int
    submission: int
    """The number of the first row with the same files, as `GradedEntry.number`."""
    item: str
    student: str
    text: str
    by: str
    """Whoever of the staff entered it."""
    at: str
    replies: tuple[Reply, ...] = ()


def requests_of(book: Gradebook, assignment: str) -> tuple[StudentRequest, ...]:
    """Return all requests with their answers, the newest first."""
    rows = select(REQUESTS, first_number().label("files")).join(
        SUBMISSIONS, SUBMISSIONS.c.id == REQUESTS.c.submission
    )
    with book.database.reading() as connection:
        requests = connection.execute(
            rows.where(SUBMISSIONS.c.assignment == assignment).order_by(REQUESTS.c.id.desc())
        ).all()
        replies = connection.execute(select(REPLIES).order_by(REPLIES.c.id)).all()
    return tuple(
        StudentRequest(
            number=row.id,
            submission=row.files,
            item=row.item,
            student=row.student,
            text=row.text,
            by=row.by,
            at=row.at,
            replies=tuple(
                Reply(text=reply.text, by=reply.by, at=reply.at, judgement=reply.judgement)
                for reply in replies
                if reply.request == row.id
            ),
        )
        for row in requests
    )


def add_request(
    book: Gradebook, assignment: str, submission: int, item: str, student: str, text: str, person: Reviewer
) -> int:
    """Record a request; return its number."""
    row = {"submission": submission, "item": item, "student": student, "text": text, "by": person.name}

    def add(connection: Connection) -> int:
        key = connection.execute(insert(REQUESTS), {**row, "at": now(connection)}).inserted_primary_key
        add_audit(
            connection, assignment, person, "request recorded", f"{item} of submission {label(submission)}"
        )
        return int(key[0]) if key else 0

    return book.database.write(add)


def is_since(book: Gradebook, judgement: Judgement, request: StudentRequest) -> bool:
    """Tell whether points were given after a request, by the clock that all writers share."""
    with book.database.reading() as connection:
        at = connection.scalar(select(POINTS.c.at).where(POINTS.c.id == judgement.number))
    return at is not None and at >= request.at


def add_reply(
    book: Gradebook,
    assignment: str,
    request: StudentRequest,
    text: str,
    judgement: int | None,
    person: Reviewer,
) -> None:
    """Record the answer to a request."""
    row = {"request": request.number, "text": text, "by": person.name, "judgement": judgement}

    def add(connection: Connection) -> None:
        connection.execute(insert(REPLIES), {**row, "at": now(connection)})
        add_audit(connection, assignment, person, "request answered", f"request {request.number}")

    book.database.write(add)
