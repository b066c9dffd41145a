"""The gradebook: records grades with their evidence, and reads the current ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, tzinfo
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Connection, RowMapping, Select, Table, insert, select

from grader import __version__
from grader.config.codec import dumps
from grader.errors import NotObservedError, OutdatedError
from grader.gradebook.attempts import (
    add_attempt,
    attempt_row,
    began_at,
    current_attempts,
    current_digests,
    current_scores,
    evidence_of,
    insert_row,
    is_recorded,
    submission_row,
)
from grader.gradebook.earlier import with_decided, with_time
from grader.gradebook.judgements import add_points, with_judgements
from grader.gradebook.location import open_database
from grader.gradebook.origin import account, now
from grader.gradebook.rows import card_text, read_card, revive
from grader.gradebook.tables import ATTEMPTS, MIGRATIONS, OUTDATED, SCORES, SUBMISSIONS, TOTALS
from grader.model.evidence import Evidence
from grader.model.magnitude import number
from grader.model.score import Scorecard
from grader.model.submission import Submission
from grader.reports.words import local_time
from grader.scoring.score import UNSEEN

How = Literal["run", "record", "rescore", "review"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedGrade:
    """One student's grade in one assignment, and where it comes from."""

    student: str
    """One student, also of a team."""
    score: int
    """The number of the row."""
    submission: Submission
    card: Scorecard
    how: str
    """`run`, `record`, `rescore` or `review`."""
    at: str
    """When it was scored: ISO 8601, UTC."""
    grader: str
    """The version that scored it."""
    account: str
    """Who added it, from which machine; empty in rows of before that was recorded."""
    run: str
    """The id of the last run of its evidence; empty if nothing had to be observed."""
    began: str
    """When that run began: ISO 8601, UTC."""
    attempt: int
    """The number of the row that its evidence belongs to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Added:
    """The result of adding a grade."""

    is_new: bool
    newer: str = ""
    """When the recorded run began that counts in its place; empty if none does."""
    same_files: bool = True
    """Whether that run is of the same files."""
    remark: str = ""
    """A line on points that stay as they are recorded."""


class Gradebook(AbstractContextManager["Gradebook"]):
    """The grades of a class; see `Database` and `open_database` for the errors of opening it.

    All methods, and the functions of this package that take one, raise NotObservedError if the database
    cannot be read or written.
    """

    def __init__(self, location: str | Path, *, create: bool = False) -> None:
        self.database = open_database(location, create=create)

    @cached_property
    def created(self) -> str:
        """When this gradebook was created: ISO 8601, UTC."""
        with self.database.reading() as connection:
            return str(connection.scalar(select(MIGRATIONS.c.at).order_by(MIGRATIONS.c.number).limit(1)))

    def close(self) -> None:
        """Close the database."""
        self.database.close()

    def __exit__(self, *_: object) -> None:
        self.close()

    def record(
        self,
        evidence: Evidence,
        card: Scorecard,
        *,
        how: How,
        judge: Callable[[Evidence], Scorecard] | None = None,
        tell: Callable[[str], None] | None = None,
        zone: tzinfo = UTC,
    ) -> bool:
        """Add a grade with its evidence, all of it or nothing; return whether there was anything new.

        Points that people gave in this gradebook count, whatever the evidence has of them, and so does the
        time of submission of the same files where it has none; `judge` scores it with both. Points are given
        to the files: those that come with an earlier run of them count as well.

        What the recorded grade of the same files decides stays, where this evidence cannot decide it
        (`with_decided`); `tell` gets a line on that. Errors tell times in `zone`.

        Raises:
            OutdatedError: the evidence of a later run is recorded already; this one is in the history alone,
                and has no points that are new and count.
            NotObservedError: it lacks points by hand that are recorded, and there is no `judge`.
        """

        def add(connection: Connection) -> _Added:
            timed = with_time(connection, evidence) if judge else evidence
            submission = submission_row(connection, timed.submission)
            newer = _newer(connection, submission, timed)
            has_new_points = add_points(connection, submission, timed)
            merged = with_judgements(connection, timed)
            judged = card
            if merged is not evidence and not (newer and judge is None):
                judged = self._judged(merged, judge)
            decided = None if newer else with_decided(connection, merged, judged, judge)
            if newer or (decided and (decided.lacks or decided.to_run)):
                counts = has_new_points and judge and _count_points(connection, timed.submission, judge, how)
                added = _add_outdated(connection, submission, merged, judged, how)
                return _Added(
                    is_new=bool(counts or added),
                    newer="" if counts else newer,
                    same_files=current_digests(connection, timed.submission) == {timed.submission.digest},
                    remark=decided.remark if decided and not (counts and decided.to_run) else "",
                )
            if decided:
                merged, judged = decided.evidence, decided.card
            attempt = attempt_row(connection, submission, merged)
            text = card_text(judged)
            newest = select(SCORES.c.card).where(SCORES.c.attempt == attempt)
            is_new = connection.scalar(newest.order_by(SCORES.c.id.desc()).limit(1)) != text
            if is_new:
                add_score(connection, attempt, text, how, judged, evidence.submission.students)
            return _Added(is_new=is_new, remark=decided.remark if decided else "")

        added = self.database.write(add)
        if added.remark and tell:
            tell(added.remark)
        if newer := added.newer:
            of, began = evidence.submission, began_at(evidence)
            grades = [g for who in of.students for g in self.grades(assignment=of.assignment, student=who)]
            latest = max(grades, key=lambda grade: grade.began)
            counts = f"with {_points(latest.card, latest.student)}"
            earned_here = _points(card, latest.student)
            time = partial(local_time, zone=zone, seconds=_minute(newer) == _minute(began))
            times = (
                f"begun {time(newer)}, {counts}; this one {time(began)}, with {earned_here}"
                if newer != began
                else f"both begun {time(began)}; {counts}, this one {earned_here}"
            )
            raise OutdatedError(
                f"{self.database.name}: {of.student}, {of.assignment}: a later run is recorded "
                f"already ({times}), and this one stands in the history alone; run it with --fresh to "
                "make it count",
                same_files=added.same_files,
            )
        return added.is_new

    def _judged(self, evidence: Evidence, judge: Callable[[Evidence], Scorecard] | None) -> Scorecard:
        if judge is None:
            of = f"{evidence.submission.student}, {evidence.submission.assignment}"
            raise NotObservedError(
                f"{self.database.name}: {of}: has points by hand that the results folder lacks; "
                "record that folder with its course"
            )
        return judge(evidence)

    def grades(self, *, assignment: str | None = None, student: str | None = None) -> Iterator[RecordedGrade]:
        """Yield the current grades by assignment and student, read some rows at a time."""
        current = current_scores(assignment, *(() if student is None else (student,)))
        rows = grade_rows().join(
            current, (current.c.score == TOTALS.c.score) & (current.c.student == TOTALS.c.student)
        )
        with self.database.reading() as connection:
            rows = rows.order_by(TOTALS.c.assignment, TOTALS.c.student)
            result = connection.execution_options(yield_per=100).execute(rows)
            yield from map(read_grade, result.mappings())

    def students(self) -> tuple[str, ...]:
        """Return everyone who has a grade."""
        with self.database.reading() as connection:
            return tuple(connection.scalars(select(TOTALS.c.student).distinct().order_by(TOTALS.c.student)))

    def evidence(self, attempt: int) -> Evidence:
        """Return the whole evidence of an attempt, with the points that count now."""
        with self.database.reading() as connection:
            return evidence_of(connection, attempt)


def add_score(
    connection: Connection,
    attempt: int,
    text: str,
    how: How,
    card: Scorecard,
    students: Collection[str],
    *,
    totals: Table = TOTALS,
) -> None:
    """Add a score, with the card also as text, and to the table `totals` those of these students alone."""
    score = {
        "attempt": attempt,
        "card": text,
        "how": how,
        "grader": __version__,
        "account": account(),
        "at": now(connection),
    }
    number = insert_row(connection, SCORES, score)
    rows = [
        {
            "score": number,
            "assignment": card.assignment,
            "student": total.student,
            "adjusted": total.adjusted,
            "final": total.final,
        }
        for total in card.totals
        if total.student in students
    ]
    connection.execute(insert(totals), rows)


def grade_rows(totals: Table = TOTALS) -> Select[Any]:
    """Select scores with their submissions and attempts, a row for each student; see `read_grade`."""
    return (
        select(
            totals.c.student,
            SCORES.c.id.label("score"),
            SUBMISSIONS.c.body,
            *(SCORES.c[name] for name in ("card", "how", "at", "grader", "attempt", "account")),
            *(ATTEMPTS.c[name] for name in ("run", "began")),
        )
        .join(SCORES, SCORES.c.id == totals.c.score)
        .join(ATTEMPTS, ATTEMPTS.c.id == SCORES.c.attempt)
        .join(SUBMISSIONS, SUBMISSIONS.c.id == ATTEMPTS.c.submission)
    )


def read_grade(row: RowMapping) -> RecordedGrade:
    """Read a row of `grade_rows`."""
    rest = {name: value for name, value in row.items() if name not in {"body", "card"}}
    return RecordedGrade(submission=revive(Submission, row["body"]), card=read_card(row["card"]), **rest)


def _points(card: Scorecard, student: str) -> str:
    """Return `7 / 12`, after lateness."""
    adjusted = next(total.adjusted for total in card.totals if total.student == student)
    return f"{number(adjusted)} / {number(card.points.possible)}"


def _minute(began: str) -> str:
    """Return the minute of a time of `began_at`: ISO 8601, UTC."""
    return began[: len("2026-11-20T22:00")]


def _newer(connection: Connection, submission: int, evidence: Evidence) -> str:
    """Return when a later run began whose score is current; empty for none.

    A process that was suspended may finish late, and so may a slower one of two hosts. Of runs of one second
    the one recorded last is later, or two results folders recorded again and again would take turns.
    """
    of, began, runs = evidence.submission, began_at(evidence), dumps(evidence.runs)
    if not began:  # nothing was observed: only people judge
        return ""
    current = current_scores(of.assignment, *of.students)
    counting = select(ATTEMPTS.c.began, ATTEMPTS.c.runs).join(SCORES, SCORES.c.attempt == ATTEMPTS.c.id)
    attempts = connection.execute(counting.join(current, current.c.score == SCORES.c.id)).all()
    recorded = max((attempt.began for attempt in attempts), default="")
    if recorded == began and all(attempt.runs != runs for attempt in attempts):
        return recorded if is_recorded(connection, submission, runs) else ""
    return recorded if recorded > began else ""


def _count_points(
    connection: Connection, of: Submission, judge: Callable[[Evidence], Scorecard], how: How
) -> bool:
    """Score the evidence that counts for the files of a submission, with the points that people gave.

    Returns whether there is any, and the rubric asks for no more than was observed: scored by it, the grade
    would lose points until it has run again.
    """
    students = current_attempts(connection, of)
    cards = {attempt: judge(evidence_of(connection, attempt)) for attempt, _ in students}
    if not all(_unseen(cards[attempt]) <= _unseen(read_card(text)) for attempt, text in students):
        return False
    for (attempt, _), current_for in students.items():
        add_score(connection, attempt, card_text(cards[attempt]), how, cards[attempt], current_for)
    return bool(students)


def _unseen(card: Scorecard) -> frozenset[str]:
    return frozenset(line.item for line in card.lines if line.outcome in UNSEEN)


def _add_outdated(
    connection: Connection, submission: int, evidence: Evidence, card: Scorecard, how: How
) -> bool:
    """Add evidence and score to the history, without totals that count, unless its runs are there already."""
    if is_recorded(connection, submission, dumps(evidence.runs)):
        return False
    attempt = add_attempt(connection, submission, evidence)
    students = evidence.submission.students
    add_score(connection, attempt, card_text(card), how, card, students, totals=OUTDATED)
    return True
