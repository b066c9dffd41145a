"""The class in memory: current scorecards and the judgements that count, read on as rows are added."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlalchemy import Connection, func, select

from grader.gradebook.earlier import first_number
from grader.gradebook.judgements import Judgement, judgement_rows, read_judgement
from grader.gradebook.rows import read_card, revive
from grader.gradebook.tables import ATTEMPTS, POINTS, SCORES, SUBMISSIONS, TOTALS
from grader.model.observation import Outcome
from grader.model.rubric import MANUAL
from grader.model.score import Line, Scorecard, Standing
from grader.model.submission import Submission
from grader.review.desk import Desk, always_for_people, place_in_order

if TYPE_CHECKING:
    from grader.gradebook.book import Gradebook
    from grader.model.rubric import Item

_CHUNK = 500
_LARGEST = 2**31 - 1
"""The largest number of a row, on PostgreSQL; an address may have any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedEntry:
    """One submission with its current score."""

    number: int
    """The number of the first row with the same files: addresses stay when other runs are recorded."""
    score: int
    attempt: int
    submission: Submission
    students: tuple[str, ...]
    """The students whose current score this is."""
    card: Scorecard
    lines: Mapping[str, Line]
    """The lines of the card by item."""

    def line(self, item: str) -> Line | None:
        """Return the line of an item; None if the rubric had no such item then."""
        return self.lines.get(item)


class ClassIndex:
    """Current scores and judgements of one assignment."""

    def __init__(self, book: Gradebook, desk: Desk) -> None:
        self._book = book
        self._desk = desk
        self._assignment = desk.assignment
        self._lock = threading.Lock()
        self._last_score = self._last_points = 0
        self._score_of: dict[str, int] = {}
        self._entry_of: dict[int, GradedEntry] = {}
        self._entries: dict[int, GradedEntry] = {}
        self._judgements: list[Judgement] = []
        self._latest: dict[tuple[str, str, str], Judgement] = {}

    def refresh(self) -> ClassIndex:
        """Read the rows that were added since, by this program or another."""
        with self._lock, self._book.database.reading() as connection:
            newest = connection.execute(
                select(
                    select(func.max(SCORES.c.id)).scalar_subquery(),
                    select(func.max(POINTS.c.id)).scalar_subquery(),
                )
            ).one()
            last_score, last_points = (number or 0 for number in newest)
            if last_score > self._last_score:
                self._read_scores(connection)
                self._last_score = last_score
            if last_points > self._last_points:
                self._read_points(connection)
                self._last_points = last_points
        return self

    def _read_scores(self, connection: Connection) -> None:
        rows = select(TOTALS.c.student, TOTALS.c.score).where(
            TOTALS.c.assignment == self._assignment, TOTALS.c.score > self._last_score
        )
        for student, score in connection.execute(rows.order_by(TOTALS.c.score)):
            self._score_of[student] = score
        students: dict[int, list[str]] = {}
        for student, score in self._score_of.items():
            students.setdefault(score, []).append(student)
        missing = [score for score in students if score not in self._entry_of]
        entries = {score: entry for score, entry in self._entry_of.items() if score in students}
        for start in range(0, len(missing), _CHUNK):
            entries |= self._read_entries(connection, missing[start : start + _CHUNK], students)
        for score, entry in entries.items():
            if len(entry.students) != len(students[score]):
                entries[score] = replace(entry, students=tuple(students[score]))
        self._entry_of = entries
        by_number = {entry.number: entry for _, entry in sorted(entries.items())}
        self._entries = {number: by_number[number] for number in sorted(by_number)}

    def _read_entries(
        self, connection: Connection, scores: list[int], students: dict[int, list[str]]
    ) -> dict[int, GradedEntry]:
        rows = (
            select(SCORES.c.id, SCORES.c.attempt, SCORES.c.card, SUBMISSIONS.c.body)
            .add_columns(first_number().label("number"))
            .join(ATTEMPTS, ATTEMPTS.c.id == SCORES.c.attempt)
            .join(SUBMISSIONS, SUBMISSIONS.c.id == ATTEMPTS.c.submission)
            .where(SCORES.c.id.in_(scores))
        )
        entries = {}
        for row in connection.execute(rows):
            card = read_card(row.card)
            entries[row.id] = GradedEntry(
                number=row.number,
                score=row.id,
                attempt=row.attempt,
                submission=revive(Submission, row.body),
                students=tuple(students[row.id]),
                card=card,
                lines={line.item: line for line in card.lines},
            )
        return entries

    def _read_points(self, connection: Connection) -> None:
        rows = judgement_rows(self._assignment).where(POINTS.c.id > self._last_points)
        for judgement in map(read_judgement, connection.execute(rows).mappings()):
            self._judgements.append(judgement)
            record = judgement.record
            self._latest[judgement.student, record.submission, record.item] = judgement

    @property
    def entries(self) -> tuple[GradedEntry, ...]:
        """All submissions with a current score, by number."""
        return tuple(self._entries.values())

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        """All judgements, the oldest first."""
        return tuple(self._judgements)

    def entry(self, number: int) -> GradedEntry | None:
        """Return a submission by the number of any row with its files; None if it has no current score."""
        if number in self._entries:
            return self._entries[number]
        if number > _LARGEST:
            return None
        first = select(first_number()).where(SUBMISSIONS.c.id == number)
        with self._book.database.reading() as connection:
            return self._entries.get(connection.scalar(first) or 0)

    def newest(self, entry: GradedEntry, item: str) -> Judgement | None:
        """Return the last row of an item, also if it withdraws points; None if nobody judged it."""
        return self._latest.get((entry.submission.student, entry.submission.digest, item))

    def judgement(self, entry: GradedEntry, item: str) -> Judgement | None:
        """Return the judgement of an item that counts; None if nobody judged it, or took it back."""
        newest = self.newest(entry, item)
        return None if newest is None or newest.record.withdrawn else newest

    def waits(self, entry: GradedEntry, item: str) -> bool:
        """Tell whether an item of a submission waits for a person."""
        line = entry.line(item)
        if line is None or self.judgement(entry, item) is not None:
            return False
        if line.standing is not Standing.PROVISIONAL:
            return line.standing is Standing.HELD
        check = self._desk.items[item].check if item in self._desk.by_hand else ""
        if check == MANUAL:
            return True
        decides = line.outcome == Outcome.OBSERVED if line.for_person is None else line.for_person
        return bool(check) and decides

    def concerns(self, entry: GradedEntry, item: Item) -> bool:
        """Tell whether a person reads an item of a submission."""
        line = entry.line(item.id)
        if line is None:
            return False
        return (
            always_for_people(item)
            or bool(line.flags)
            or self.waits(entry, item.id)
            or self.judgement(entry, item.id) is not None
        )

    def only_flagged(self, entry: GradedEntry, item: str) -> bool:
        """Tell whether an item has a flag that holds nothing, and that no person has given points about."""
        line = entry.line(item)
        judged = self.judgement(entry, item) is not None
        return line is not None and bool(line.flags) and not judged and not self.waits(entry, item)

    def queue(self, item: Item) -> list[GradedEntry]:
        """Return the submissions whose part of an item a person reads, in the order of that item."""
        entries = (entry for entry in self._entries.values() if self.concerns(entry, item))
        return sorted(entries, key=lambda entry: place_in_order(item.id, entry.submission.student))

    def next_open(
        self, item: Item, after: int | None = None, taken: Collection[int] = ()
    ) -> GradedEntry | None:
        """Return the next submission of an item that waits, behind `after` if there is one.

        Those in `taken`, which others have open, come last.
        """
        queue = self.queue(item)
        numbers = [entry.number for entry in queue]
        start = numbers.index(after) + 1 if after in numbers else 0
        waiting = [e for e in _rotated(queue, start) if e.number != after and self.waits(e, item.id)]
        return min(waiting, key=lambda entry: entry.number in taken, default=None)


def in_shown_order(entries: Iterable[GradedEntry], *, names: bool) -> list[GradedEntry]:
    """Sort by name where names are shown, else at random, as rows are in the order of recording.

    That order hints at the alphabet, in which classes are often graded.
    """
    if names:
        return sorted(entries, key=lambda entry: entry.submission.student)
    return sorted(entries, key=lambda entry: place_in_order("", entry.submission.student))


def _rotated(queue: list[GradedEntry], start: int) -> Iterable[GradedEntry]:
    return (*queue[start:], *queue[:start])
