"""Publishing: whether students see what waits for it, and what changes for whom."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import Connection, insert, select

from grader.checks.judged import JudgedOptions
from grader.gradebook.origin import now
from grader.gradebook.tables import PUBLICATIONS
from grader.model.evidence import Evidence
from grader.model.score import Standing
from grader.review.judging import add_audit
from grader.scoring.redact import closes, student_view

if TYPE_CHECKING:
    from grader.gradebook.book import Gradebook
    from grader.review.class_index import GradedEntry
    from grader.review.desk import Desk
    from grader.review.people import Reviewer


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The part of one submission's score that its students see."""

    points: float
    possible: float
    standing: str
    items: tuple[str, ...]
    """Titles of the items."""
    models: bool
    """Whether model answers are among it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishingChange:
    """The difference that publishing makes for one submission."""

    entry: GradedEntry
    before: Shown
    after: Shown

    @property
    def new_items(self) -> tuple[str, ...]:
        """Titles of the items that appear."""
        return tuple(title for title in self.after.items if title not in self.before.items)


def is_published(book: Gradebook, assignment: str) -> bool:
    """Tell whether the grades of an assignment are published."""
    return book.database.read(partial(_is_published, assignment=assignment))


def _is_published(connection: Connection, assignment: str) -> bool:
    rows = select(PUBLICATIONS.c.published).where(PUBLICATIONS.c.assignment == assignment)
    return bool(connection.scalar(rows.order_by(PUBLICATIONS.c.id.desc()).limit(1)))


def publish(book: Gradebook, assignment: str, person: Reviewer, *, published: bool) -> None:
    """Publish the grades of an assignment, or take that back; nothing if it is so already."""
    action = "published" if published else "publishing taken back"
    row = {"assignment": assignment, "published": int(published), "by": person.name}

    def add(connection: Connection) -> None:
        if _is_published(connection, assignment) != published:
            connection.execute(insert(PUBLICATIONS), {**row, "at": now(connection)})
            add_audit(connection, assignment, person, action, "")

    book.database.write(add)


def previews(desk: Desk, entries: Iterable[GradedEntry]) -> Iterator[PublishingChange]:
    """Yield the submissions whose students see something else after publishing than before."""
    waits = any(item.visible == "after_published" for item in desk.rubric.items)
    for entry in entries:
        if waits or entry.card.standing is Standing.FINAL:  # otherwise it is the same
            before, after = (_shown(desk, entry, published=published) for published in (False, True))
            if before != after:
                yield PublishingChange(entry=entry, before=before, after=after)


def _shown(desk: Desk, entry: GradedEntry, *, published: bool) -> Shown:
    rubric, course = desk.rubric, desk.course
    lines = tuple(line for line in entry.card.lines if line.item in desk.items)
    card = replace(entry.card, lines=lines)
    view = student_view(
        rubric,
        Evidence(submission=entry.submission, runs=(), observations={}),
        card,
        now=datetime.now(UTC),
        published=published,
        closes=closes(rubric, course.extensions_of(rubric.assignment), course.zone),
    )
    total = view.scorecard.totals[0]
    has_models = any(
        isinstance(item.options, JudgedOptions) and item.options.model for item in view.rubric.items
    )
    return Shown(
        points=total.adjusted,
        possible=view.scorecard.points.possible,
        standing=view.scorecard.standing.value,
        items=tuple(line.title for line in view.scorecard.lines),
        models=has_models and published and card.standing is Standing.FINAL,
    )
