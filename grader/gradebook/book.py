"""The gradebook: a mark is recorded with the evidence it rests on, and found again."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from sqlalchemy import Connection, Select, Subquery, func, insert, select

from grader import __version__
from grader.config.codec import dumps, loads
from grader.config.problem import show_path
from grader.errors import NotObservedError
from grader.gradebook.file import BookFile, now
from grader.gradebook.rows import card_text, join, read_card, revive, split
from grader.gradebook.tables import ATTEMPTS, EVIDENCE, POINTS, POSTS, SCORES, SUBMISSIONS, TOTALS
from grader.model.evidence import Evidence, Exam
from grader.model.score import Scorecard
from grader.model.submission import Submission

How = Literal["run", "record", "rescore"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One student's mark in one assignment, and where it comes from."""

    student: str
    """One student, also of a team."""
    score: int
    """The number of the row."""
    submission: Submission
    card: Scorecard
    how: str
    """`run`, `record` or `rescore`."""
    at: str
    """When it was scored: ISO 8601, UTC."""
    grader: str
    """The version that scored it."""
    exam: str
    """The id of the last exam of its evidence; empty if nothing had to be observed."""
    began: str
    """When that exam began: ISO 8601, UTC."""
    attempt: int
    """The number of the row that its evidence belongs to."""


class Gradebook:
    """The marks of a class; see `grader.gradebook.file.BookFile` for what opening it may raise.

    All methods raise NotObservedError if the file cannot be read or written.
    """

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.file = BookFile(path, create=create)

    def close(self) -> None:
        """Let go of the file."""
        self.file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def record(self, evidence: Evidence, card: Scorecard, *, how: How) -> bool:
        """Keep a mark with its evidence, all of it or nothing; whether there was anything new.

        Raises:
            NotObservedError: the evidence of a later exam is there already: whoever comes late is kept out.
        """
        with self.file.writing() as connection:
            _keep_late_ones_out(connection, evidence, self.file.path)
            submission = _submission(connection, evidence.submission)
            attempt = _attempt(connection, submission, evidence)
            _points(connection, submission, evidence)
            text = card_text(card)
            newest = select(SCORES.c.card).where(SCORES.c.attempt == attempt)
            if connection.scalar(newest.order_by(SCORES.c.id.desc()).limit(1)) == text:
                return False
            score = {"attempt": attempt, "card": text, "how": how, "grader": __version__, "at": now()}
            number = _insert(connection, SCORES, score)
            connection.execute(insert(TOTALS), totals_of(card, number, evidence.submission.students))
            return True

    def entries(self, *, assignment: str | None = None, student: str | None = None) -> Iterator[Entry]:
        """The marks that hold now, by assignment and student; read as they are asked for."""
        holding = held(assignment, *(() if student is None else (student,)))
        wanted = entry_rows().join(
            holding, (holding.c.score == TOTALS.c.score) & (holding.c.student == TOTALS.c.student)
        )
        with self.file.reading() as connection:
            rows = connection.execution_options(yield_per=100).execute(
                wanted.order_by(TOTALS.c.assignment, TOTALS.c.student)
            )
            yield from map(entry, rows)

    def students(self) -> tuple[str, ...]:
        """Everyone who has a mark."""
        with self.file.reading() as connection:
            return tuple(connection.scalars(select(TOTALS.c.student).distinct().order_by(TOTALS.c.student)))

    def evidence(self, attempt: int) -> Evidence:
        """What an attempt's mark rests on, whole."""
        rows = (
            select(SUBMISSIONS.c.body, ATTEMPTS.c.exams, EVIDENCE.c.judged, EVIDENCE.c.shown)
            .join(ATTEMPTS, ATTEMPTS.c.submission == SUBMISSIONS.c.id)
            .join(EVIDENCE, EVIDENCE.c.attempt == ATTEMPTS.c.id)
            .where(ATTEMPTS.c.id == attempt)
        )
        with self.file.reading() as connection:
            row = connection.execute(rows).one()
        return Evidence(
            submission=revive(Submission, loads(row.body)),
            exams=tuple(revive(Exam, exam) for exam in loads(row.exams)),
            observations=join(row.judged, row.shown),
        )

    def post(self, score: int, student: str, said: Mapping[str, Any]) -> None:
        """Note what a learning platform was told of a score.

        It is `platform`, `key`, `points`, `outcome` and what was `said`; see the table `posts`.
        """
        with self.file.writing() as connection:
            connection.execute(insert(POSTS), {"score": score, "student": student, "at": now(), **said})


def held(assignment: str | None = None, *students: str) -> Subquery:
    """Which score holds of each student in each assignment: the newest; of a team not always the same."""
    newest = select(TOTALS.c.assignment, TOTALS.c.student, func.max(TOTALS.c.score).label("score"))
    if assignment is not None:
        newest = newest.where(TOTALS.c.assignment == assignment)
    if students:
        newest = newest.where(TOTALS.c.student.in_(students))
    return newest.group_by(TOTALS.c.assignment, TOTALS.c.student).subquery()


def totals_of(card: Scorecard, score: int, students: Collection[str]) -> list[dict[str, Any]]:
    """The rows of `totals` for the score of this number, of those students for whom it shall hold."""
    return [
        {
            "score": score,
            "assignment": card.assignment,
            "student": total.student,
            "adjusted": total.adjusted,
            "final": total.final,
        }
        for total in card.totals
        if total.student in students
    ]


def entry_rows() -> Select[Any]:
    """Scores with what they come from, a row for each student; `entry` reads one."""
    return (
        select(
            TOTALS.c.student,
            SCORES.c.id.label("score"),
            SUBMISSIONS.c.body,
            *(SCORES.c[name] for name in ("card", "how", "at", "grader", "attempt")),
            *(ATTEMPTS.c[name] for name in ("exam", "began")),
        )
        .join(SCORES, SCORES.c.id == TOTALS.c.score)
        .join(ATTEMPTS, ATTEMPTS.c.id == SCORES.c.attempt)
        .join(SUBMISSIONS, SUBMISSIONS.c.id == ATTEMPTS.c.submission)
    )


def entry(row: Any) -> Entry:
    """A row of `entry_rows`."""
    return Entry(
        student=row.student,
        score=row.score,
        submission=revive(Submission, loads(row.body)),
        card=read_card(row.card),
        how=row.how,
        at=row.at,
        grader=row.grader,
        exam=row.exam,
        began=row.began,
        attempt=row.attempt,
    )


def _keep_late_ones_out(connection: Connection, evidence: Evidence, path: Path) -> None:
    """Compare the times at which exams began: whoever was suspended, or slow, has begun earlier."""
    submission, began = evidence.submission, _began(evidence)
    if not began:  # nothing was observed: only people judge
        return
    holding = held(submission.assignment, *submission.students)
    newest = (
        select(func.max(ATTEMPTS.c.began))
        .join(SCORES, SCORES.c.attempt == ATTEMPTS.c.id)
        .join(holding, holding.c.score == SCORES.c.id)
    )
    there = connection.scalar(newest) or ""
    if there > began:
        raise NotObservedError(
            f"{show_path(path)}: {submission.student}, {submission.assignment}: a later exam is recorded "
            f"already (begun {there}, this one {began}); run it with --fresh to make it count"
        )


def _began(evidence: Evidence) -> str:
    """When its last exam began, in the one form in which texts sort as times do; empty if there was none."""
    if not evidence.exams:
        return ""
    began = datetime.fromisoformat(evidence.exams[-1].started_at)
    return began.astimezone(UTC).isoformat(timespec="seconds")


def _insert(connection: Connection, table: Any, row: Mapping[str, Any]) -> int:
    """Add a row; its number."""
    key: Any = connection.execute(insert(table), row).inserted_primary_key
    return int(key[0])


def _submission(connection: Connection, submission: Submission) -> int:
    """The row that says exactly this of the hand-in; a new one if something else is said now."""
    row = {"assignment": submission.assignment, "student": submission.student, "body": dumps(submission)}
    same = select(SUBMISSIONS.c.id).where(*(SUBMISSIONS.c[name] == value for name, value in row.items()))
    found = connection.scalar(same)
    return found or _insert(connection, SUBMISSIONS, {**row, "digest": submission.digest, "at": now()})


def _attempt(connection: Connection, submission: int, evidence: Evidence) -> int:
    """The attempt that holds, if it has exactly this evidence; otherwise a new one."""
    judged, shown = split(evidence.observations)
    exams = dumps(evidence.exams)
    holding = held(evidence.submission.assignment, *evidence.submission.students)
    newest = (
        select(ATTEMPTS.c.id, ATTEMPTS.c.submission, ATTEMPTS.c.exams, EVIDENCE.c.judged, EVIDENCE.c.shown)
        .join(EVIDENCE, EVIDENCE.c.attempt == ATTEMPTS.c.id)
        .join(SCORES, SCORES.c.attempt == ATTEMPTS.c.id)
        .join(holding, holding.c.score == SCORES.c.id)
        .distinct()
    )
    there = connection.execute(newest).all()
    if len(there) == 1 and tuple(there[0])[1:] == (submission, exams, judged, shown):
        return int(there[0].id)
    row = {
        "submission": submission,
        "exam": evidence.exams[-1].id if evidence.exams else "",
        "began": _began(evidence),
        "exams": exams,
        "at": now(),
    }
    attempt = _insert(connection, ATTEMPTS, row)
    packed = {"attempt": attempt, "judged": judged, "shown": shown}
    connection.execute(insert(EVIDENCE), packed)
    return attempt


def _points(connection: Connection, submission: int, evidence: Evidence) -> None:
    """Add what people gave and the book does not know yet."""
    names = ("item", "points", "possible", "by", "given_at", "comment")
    there = select(*(POINTS.c[name] for name in names)).where(POINTS.c.submission == submission)
    known = {tuple(row) for row in connection.execute(there)}
    for given in _given(evidence):
        if given not in known:
            row = dict(zip(names, given, strict=True))
            connection.execute(insert(POINTS), {"submission": submission, "at": now(), **row})


def _given(evidence: Evidence) -> Iterator[tuple[Any, ...]]:
    for name, seen in evidence.observations.items():
        points, possible = (seen.quantities.get(key) for key in ("points_given", "points_possible"))
        if points is not None and possible is not None:
            facts = (seen.facts.get("given_at", ""), seen.facts.get("comment", ""))
            yield (name, points.value, possible.value, points.taken_by, *facts)
