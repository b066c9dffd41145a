"""Judgements written into the gradebook: each with its score and its audit line, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, insert, select

from grader.config.points_file import PointsGiven
from grader.gradebook.attempts import current_scores
from grader.gradebook.book import add_score
from grader.gradebook.judgements import (
    Judgement,
    add_judgement,
    before,
    judgements_of,
    latest,
    lay_over,
)
from grader.gradebook.origin import account, now
from grader.gradebook.rescore import items_to_run
from grader.gradebook.rows import card_text, join, read_card, revive
from grader.gradebook.tables import ATTEMPTS, AUDIT, EVIDENCE, SCORES, SUBMISSIONS
from grader.model.submission import Submission
from grader.review.labels import label
from grader.review.people import Reviewer
from grader.scoring.score import UNSEEN

if TYPE_CHECKING:
    from grader.gradebook.book import Gradebook
    from grader.review.class_index import GradedEntry
    from grader.review.desk import Desk


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """A judgement that is in the gradebook."""

    number: int
    """The number of its row."""
    counts: bool = True
    """Whether there is a score with it; otherwise it counts after the next run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Somebody else's judgement that came first; nothing was written."""

    other: Judgement


def clock() -> str:
    """Return the time of a judgement: ISO 8601, UTC, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def add_audit(connection: Connection, assignment: str, person: Reviewer, action: str, about: str) -> None:
    """Add a line to the audit in the transaction of the change."""
    row = {"assignment": assignment, "by": person.name, "role": person.role, "action": action}
    connection.execute(insert(AUDIT), {**row, "about": about, "account": account(), "at": now(connection)})


class Judging:
    """Writes judgements of one assignment."""

    def __init__(self, book: Gradebook, desk: Desk) -> None:
        self._book = book
        self._desk = desk

    def give(
        self, entry: GradedEntry, record: PointsGiven, person: Reviewer, *, after: int
    ) -> Saved | Conflict:
        """Add a judgement by somebody who has seen row `after` of this item, 0 for none."""

        def add(connection: Connection) -> Saved | Conflict:
            newest = latest(judgements_of(connection, entry.submission)).get(record.item)
            if newest is not None and newest.number != after:
                if _same(newest.record, record):
                    return Saved(number=newest.number)
                return Conflict(other=newest)
            given = replace(record, at=_not_before(newest, record.at))
            number = add_judgement(connection, entry.number, given)
            about = (
                f"{record.item} of submission {label(entry.number)}: {record.points:g} of {record.possible:g}"
            )
            add_audit(connection, self._desk.assignment, person, "points", about)
            return Saved(number=number, counts=self._score(connection, entry))

        return self._book.database.write(add)

    def give_many(
        self,
        records: Sequence[tuple[GradedEntry, PointsGiven, int]],
        person: Reviewer,
        action: str,
        about: str,
    ) -> list[Conflict]:
        """Add judgements in one transaction, or none if somebody changed one of them meanwhile."""

        def add(connection: Connection) -> list[Conflict]:
            conflicts, later = [], []
            for entry, record, after in records:
                newest = latest(judgements_of(connection, entry.submission)).get(record.item)
                if newest is not None and newest.number != after:
                    conflicts.append(Conflict(other=newest))
                later.append((entry, replace(record, at=_not_before(newest, record.at))))
            if conflicts:
                return conflicts
            for entry, record in later:
                add_judgement(connection, entry.number, record)
            for entry in {entry.number: entry for entry, _, _ in records}.values():
                self._score(connection, entry)
            add_audit(connection, self._desk.assignment, person, action, about)
            return []

        return self._book.database.write(add)

    def undo(self, judgement: Judgement, entry: GradedEntry, person: Reviewer) -> Saved | Conflict:
        """Take a judgement back: what counted before it counts again, or the item waits again."""
        item = judgement.record.item

        def add(connection: Connection) -> Saved | Conflict:
            judgements = judgements_of(connection, entry.submission)
            newest = latest(judgements)[item]
            if newest.number != judgement.number and newest.record.by != person.name:
                return Conflict(other=newest)
            earlier, at = before(judgements, judgement), _not_before(newest, clock())
            if earlier is None:
                record = replace(
                    judgement.record,
                    withdrawn=True,
                    comment="",
                    reason="taken back",
                    by=person.name,
                    at=at,
                )
            else:
                record = replace(earlier.record, by=person.name, at=at)
            number = add_judgement(connection, entry.number, record, undoes=judgement.number)
            about = f"{item} of submission {label(entry.number)}: {judgement.record.points:g} taken back"
            add_audit(connection, self._desk.assignment, person, "undo", about)
            return Saved(number=number, counts=self._score(connection, entry))

        return self._book.database.write(add)

    def _score(self, connection: Connection, entry: GradedEntry) -> bool:
        """Score a submission with its judgements, and return whether its evidence allows that."""
        current = current_scores(self._desk.assignment, *entry.submission.students)
        rows = (
            select(current.c.student, SCORES.c.id, SCORES.c.attempt, SCORES.c.card)
            .add_columns(EVIDENCE.c.judged, EVIDENCE.c.shown, SUBMISSIONS.c.body)
            .join(SCORES, SCORES.c.id == current.c.score)
            .join(ATTEMPTS, ATTEMPTS.c.id == SCORES.c.attempt)
            .join(EVIDENCE, EVIDENCE.c.attempt == ATTEMPTS.c.id)
            .join(SUBMISSIONS, SUBMISSIONS.c.id == ATTEMPTS.c.submission)
            .where(
                SUBMISSIONS.c.student == entry.submission.student,
                SUBMISSIONS.c.digest == entry.submission.digest,
            )
        )
        by_attempt: dict[int, tuple[Any, list[str]]] = {}
        for row in connection.execute(rows):
            by_attempt.setdefault(row.attempt, (row, []))[1].append(row.student)
        records = [each.record for each in latest(judgements_of(connection, entry.submission)).values()]
        judge = self._desk.judge
        for attempt, (row, students) in by_attempt.items():
            stored = join(row.judged, row.shown if judge.needs_texts else None)
            card = judge.card(revive(Submission, row.body), lay_over(stored, records))
            unseen = {line.item for line in read_card(row.card).lines if line.outcome in UNSEEN}
            if not unseen.issuperset(items_to_run(judge.rubric, card)):
                return False  # scored now, it would lose points until it has run again
            text = card_text(card)
            if text != row.card:
                add_score(connection, attempt, text, "review", card, students)
        return True


def _not_before(newest: Judgement | None, at: str) -> str:
    """Return the time of points that replace others knowingly, whose clock may have been ahead."""
    return at if newest is None else max(at, newest.record.at)


def _same(first: PointsGiven, second: PointsGiven) -> bool:
    names = ("points", "possible", "comment", "criteria", "withdrawn")
    return all(getattr(first, name) == getattr(second, name) for name in names)
