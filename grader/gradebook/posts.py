"""What platforms were told, as the gradebook keeps it: before a change is sent, and after each answer."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy import insert, select

from grader.config.problem import show_path
from grader.errors import NotObservedError
from grader.gradebook.book import Gradebook
from grader.gradebook.file import now
from grader.gradebook.tables import POSTS
from grader.lms.platform import Answer

SENDING = "sending"
"""The outcome of a row that was written before the change was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """One row: what one student was, or is just being, told."""

    score: int
    """The number of the score that it tells of."""
    student: str
    platform: str
    """The assignment there: `Target.key`."""
    key: str
    """The marker of the comment; empty without one."""
    points: Decimal
    outcome: str
    """`sending`, or an `Answer`."""
    said: str = ""


def note(book: Gradebook, posts: Iterable[Post]) -> None:
    """Keep rows, all of them or none.

    Raises:
        NotObservedError: the book cannot be written.
    """
    names = Post.__slots__
    rows = [{name: getattr(one, name) for name in names} for one in posts]
    rows = [{**row, "points": float(row["points"]), "at": now()} for row in rows]
    if rows:
        with book.file.writing() as connection:
            connection.execute(insert(POSTS), rows)


def posted(book: Gradebook, platform: str) -> Mapping[str, tuple[Decimal, ...]]:
    """By student, the points that may stand there because of us: what was last seen there, and sent since.

    Raises:
        NotObservedError: the book cannot be read.
    """
    rows = select(POSTS.c.student, POSTS.c.points, POSTS.c.outcome).where(POSTS.c.platform == platform)
    found: dict[str, tuple[Decimal, ...]] = {}
    with book.file.reading() as connection:
        for row in connection.execute(rows.order_by(POSTS.c.id)):
            points = Decimal(str(row.points))
            if row.outcome == Answer.THERE:
                found[row.student] = (points,)
            elif row.outcome != Answer.REFUSED:
                found[row.student] = tuple(dict.fromkeys((*found.get(row.student, ()), points)))
    return found


@contextmanager
def alone(book: Gradebook) -> Iterator[None]:
    """Nobody else posts from this folder meanwhile; the lock ends with its holder, however that ends.

    Raises:
        NotObservedError: somebody else does.
    """
    folder = book.file.path.absolute().parent
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise NotObservedError(f"{show_path(folder)}: another grader is at work here; wait for it") from None
    finally:
        os.close(handle)
