"""Rows of changes sent to platforms: one before a change is sent, one after its answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal

from sqlalchemy import Connection, insert, select

from grader.contracts.platform import Answer
from grader.gradebook.book import Gradebook
from grader.gradebook.origin import account, now
from grader.gradebook.tables import POSTS

SENDING = "sending"
"""Outcome of the row that is written before the change is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """One row: a change that was sent, or is being sent, to one student."""

    score: int
    """The number of the score that is posted."""
    student: str
    platform: str
    """The assignment there: `Target.key`."""
    marker: str
    """The idempotency key of the comment; empty without one."""
    points: Decimal
    outcome: str
    """`sending`, or an `Answer`."""
    message: str = ""
    """The platform's words; empty for none."""


def note(book: Gradebook, posts: Iterable[Post]) -> None:
    """Add rows, all of them or none."""
    rows = [{**asdict(post), "points": float(post.points), "account": account()} for post in posts]

    def add(connection: Connection) -> None:
        at = now(connection)
        connection.execute(insert(POSTS), [{**row, "at": at} for row in rows])

    if rows:
        book.database.write(add)


def posted(book: Gradebook, platform: str) -> Mapping[str, tuple[Decimal, ...]]:
    """Return by student the points that may be there from us: those last confirmed, and those sent since."""
    rows = select(POSTS.c.student, POSTS.c.points, POSTS.c.outcome).where(POSTS.c.platform == platform)
    points_by_student: dict[str, tuple[Decimal, ...]] = {}
    with book.database.reading() as connection:
        for row in connection.execute(rows.order_by(POSTS.c.id)):
            points = Decimal(str(row.points))
            if row.outcome == Answer.THERE:
                points_by_student[row.student] = (points,)
            elif row.outcome != Answer.REFUSED:
                earlier = points_by_student.get(row.student, ())
                points_by_student[row.student] = tuple(dict.fromkeys((*earlier, points)))
    return points_by_student
