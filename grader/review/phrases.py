"""Comments that are kept for other students, by question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Connection, insert, select

from grader.gradebook.origin import now
from grader.gradebook.tables import PHRASES
from grader.review.judging import add_audit
from grader.review.people import Reviewer

if TYPE_CHECKING:
    from grader.gradebook.book import Gradebook


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """A kept comment."""

    number: int
    text: str
    by: str


def phrases_of(book: Gradebook, assignment: str, item: str) -> tuple[Phrase, ...]:
    """Return the kept comments of a question, the oldest first."""
    with book.database.reading() as connection:
        return _phrases(connection, assignment, item)


def _phrases(connection: Connection, assignment: str, item: str) -> tuple[Phrase, ...]:
    rows = select(PHRASES).where(PHRASES.c.assignment == assignment, PHRASES.c.item == item)
    all_rows = connection.execute(rows.order_by(PHRASES.c.id)).all()
    retired = {row.retires for row in all_rows}
    return tuple(
        Phrase(number=row.id, text=row.text, by=row.by)
        for row in all_rows
        if row.retires is None and row.id not in retired
    )


def add_phrase(book: Gradebook, assignment: str, item: str, text: str, person: Reviewer) -> None:
    """Keep a comment, unless there is the same one already."""
    row = {"assignment": assignment, "item": item, "text": text, "by": person.name}

    def add(connection: Connection) -> None:
        if all(phrase.text != text for phrase in _phrases(connection, assignment, item)):
            connection.execute(insert(PHRASES), {**row, "at": now(connection)})
            add_audit(connection, assignment, person, "comment kept", item)

    book.database.write(add)


def retire_phrase(book: Gradebook, assignment: str, item: str, number: int, person: Reviewer) -> None:
    """Take a comment off the list; judgements that used it keep it."""
    row = {"assignment": assignment, "item": item, "text": "", "by": person.name, "retires": number}

    def add(connection: Connection) -> None:
        if any(phrase.number == number for phrase in _phrases(connection, assignment, item)):
            connection.execute(insert(PHRASES), {**row, "at": now(connection)})
            add_audit(connection, assignment, person, "comment retired", f"{item}: comment {number}")

    book.database.write(add)
