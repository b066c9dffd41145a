"""Comments that are kept for other students, by question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import insert, select

from grader.gradebook.migrations import now
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
    rows = select(PHRASES).where(PHRASES.c.assignment == assignment, PHRASES.c.item == item)
    with book.database.reading() as connection:
        all_rows = connection.execute(rows.order_by(PHRASES.c.id)).all()
    retired = {row.retires for row in all_rows}
    return tuple(
        Phrase(number=row.id, text=row.text, by=row.by)
        for row in all_rows
        if row.retires is None and row.id not in retired
    )


def add_phrase(book: Gradebook, assignment: str, item: str, text: str, person: Reviewer) -> None:
    """Keep a comment, unless there is the same one already."""
    if any(phrase.text == text for phrase in phrases_of(book, assignment, item)):
        return
    row = {"assignment": assignment, "item": item, "text": text, "by": person.name, "at": now()}
    with book.database.writing() as connection:
        connection.execute(insert(PHRASES), row)
        add_audit(connection, assignment, person, "comment kept", item)


def retire_phrase(book: Gradebook, assignment: str, item: str, number: int, person: Reviewer) -> None:
    """Take a comment off the list; judgements that used it keep it."""
    if all(phrase.number != number for phrase in phrases_of(book, assignment, item)):
        return
    row = {"assignment": assignment, "item": item, "text": "", "by": person.name, "at": now()}
    with book.database.writing() as connection:
        connection.execute(insert(PHRASES), {**row, "retires": number})
        add_audit(connection, assignment, person, "comment retired", f"{item}: comment {number}")
