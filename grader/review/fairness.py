"""Fairness of points: suggestions that people overrule, points over time, second readers."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from sqlalchemy import Connection, insert, select

from grader.config.codec import dumps
from grader.gradebook.judgements import Judgement
from grader.gradebook.origin import now
from grader.gradebook.tables import READINGS, SUBMISSIONS
from grader.review.judging import add_audit
from grader.review.labels import label

if TYPE_CHECKING:
    from grader.config.points_file import PointsGiven
    from grader.gradebook.book import Gradebook
    from grader.review.class_index import ClassIndex, GradedEntry
    from grader.review.people import Reviewer

ONE_OF = 10
"""One of so many judgements is for a second reader."""
FEW = 5
"""Fewer judgements than these say nothing about a question."""
BLOCK = 10
"""Judgements of one point in the drawing over time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overruled:
    """How people decided where a program suggested points for a question."""

    item: str
    total: int
    changed: int
    difference: float
    """The mean of what people gave above the suggestion, in points."""

    @property
    def too_few(self) -> bool:
        """Whether a share of so few says nothing."""
        return self.total < FEW

    @property
    def share(self) -> float:
        """The share of suggestions that were not taken."""
        return self.changed / self.total


def overruled(judgements: Iterable[Judgement]) -> list[Overruled]:
    """Compare current judgements with what was suggested then, the most overruled first, too few last."""
    by_item: dict[str, list[Judgement]] = {}
    for each in judgements:
        if each.record.suggested is not None and not each.record.withdrawn:
            by_item.setdefault(each.record.item, []).append(each)
    rows = [
        Overruled(
            item=item,
            total=len(all_of_it),
            changed=sum(abs(each.record.points - (each.record.suggested or 0)) > 1e-9 for each in all_of_it),
            difference=fmean(each.record.points - (each.record.suggested or 0) for each in all_of_it),
        )
        for item, all_of_it in by_item.items()
    ]
    return sorted(rows, key=lambda row: (row.too_few, -row.share, row.item))


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgementBlock:
    """Some judgements of one person after each other."""

    began: str
    count: int
    share: float
    """The mean of points given, as a share of those possible."""
    usual: float
    """The mean of what everybody gave for the same questions, as such a share."""


def drift(judgements: Iterable[Judgement], by: str) -> list[JudgementBlock]:
    """Return the generosity of one person over time, in blocks of judgements that count."""
    counted = [each for each in judgements if each.record.possible and not each.record.withdrawn]
    by_item: dict[str, list[float]] = {}
    for each in counted:
        by_item.setdefault(each.record.item, []).append(each.record.points / each.record.possible)
    usual = {item: fmean(shares) for item, shares in by_item.items()}
    mine = sorted((each for each in counted if each.record.by == by), key=lambda each: each.record.at)
    blocks = (mine[start : start + BLOCK] for start in range(0, len(mine), BLOCK))
    return [
        JudgementBlock(
            began=block[0].record.at,
            count=len(block),
            share=fmean(each.record.points / each.record.possible for each in block),
            usual=fmean(usual[each.record.item] for each in block),
        )
        for block in blocks
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondReading:
    """Points that a second reader would give."""

    number: int
    student: str
    digest: str
    item: str
    points: float
    possible: float
    by: str
    comment: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """A judgement and what a second reader would have given."""

    entry: GradedEntry
    first: Judgement
    second: SecondReading


def readings_of(book: Gradebook, assignment: str) -> list[SecondReading]:
    """Return all second readings, the oldest first."""
    rows = (
        select(READINGS, SUBMISSIONS.c.student, SUBMISSIONS.c.digest)
        .join(SUBMISSIONS, SUBMISSIONS.c.id == READINGS.c.submission)
        .where(SUBMISSIONS.c.assignment == assignment)
        .order_by(READINGS.c.id)
    )
    with book.database.reading() as connection:
        return [
            SecondReading(
                number=row.id,
                student=row.student,
                digest=row.digest,
                item=row.item,
                points=row.points,
                possible=row.possible,
                by=row.by,
                comment=row.comment,
                at=row.at,
            )
            for row in connection.execute(rows)
        ]


def add_reading(
    book: Gradebook, assignment: str, entry: GradedEntry, record: PointsGiven, person: Reviewer
) -> None:
    """Record what a second reader would give; it does not count."""
    row = {
        "submission": entry.number,
        "item": record.item,
        "points": record.points,
        "possible": record.possible,
        "criteria": dumps(record.criteria or ()),
        "by": record.by,
        "comment": record.comment,
    }

    def add(connection: Connection) -> None:
        connection.execute(insert(READINGS), {**row, "at": now(connection)})
        about = f"{record.item} of submission {label(entry.number)}"
        add_audit(connection, assignment, person, "second reading", about)

    book.database.write(add)


def for_second_reader(
    index: ClassIndex, readings: Sequence[SecondReading], reader: str, items: Iterable[str]
) -> list[tuple[str, GradedEntry]]:
    """Return answers of the sample that others have judged and nobody has read a second time."""
    read = {(reading.student, reading.digest, reading.item) for reading in readings}
    sample = []
    for item in items:
        for entry in index.entries:
            submission = entry.submission
            judgement = index.judgement(entry, item)
            if judgement is None or judgement.record.by == reader:
                continue
            if (submission.student, submission.digest, item) not in read and in_sample(
                item, submission.student
            ):
                sample.append((item, entry))
    return sample


def in_sample(item: str, student: str) -> bool:
    """Tell whether an answer is for a second reader: the same answers for everybody, and nobody's choice."""
    return hashlib.sha256(f"second\0{item}\0{student}".encode()).digest()[0] % ONE_OF == 0


def disagreements(index: ClassIndex, readings: Iterable[SecondReading]) -> tuple[int, list[Disagreement]]:
    """Return how many answers were read twice, and where the readers differ, the largest difference first."""
    entries = {(entry.submission.student, entry.submission.digest): entry for entry in index.entries}
    pairs = []
    for reading in readings:
        entry = entries.get((reading.student, reading.digest))
        first = index.judgement(entry, reading.item) if entry else None
        if entry and first:
            pairs.append(Disagreement(entry=entry, first=first, second=reading))
    differing = [pair for pair in pairs if abs(pair.first.record.points - pair.second.points) > 1e-9]
    differing.sort(key=lambda pair: -abs(pair.first.record.points - pair.second.points))
    return len(pairs), differing
