"""The gradebook: records grades with their evidence, and reads the current ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Connection, RowMapping, Select, Subquery, Table, func, insert, select

from grader import __version__
from grader.config.codec import dumps
from grader.errors import NotObservedError, OutdatedError
from grader.gradebook.earlier import with_time
from grader.gradebook.judgements import add_points, with_judgements
from grader.gradebook.location import open_database
from grader.gradebook.origin import account, now
from grader.gradebook.rows import card_text, join, read_card, revive, split
from grader.gradebook.tables import ATTEMPTS, EVIDENCE, MIGRATIONS, OUTDATED, SCORES, SUBMISSIONS, TOTALS
from grader.model.evidence import Evidence, WorkerRun
from grader.model.magnitude import number
from grader.model.score import Scorecard
from grader.model.submission import Submission
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
    ) -> bool:
        """Add a grade with its evidence, all of it or nothing; return whether there was anything new.

        Points that people gave in this gradebook count, whatever the evidence has of them, and so does the
        time of submission of the same files where it has none; `judge` scores it with both. Points are given
        to the files: those that come with an earlier run of them count as well.

        Raises:
            OutdatedError: the evidence of a later run is recorded already; this one is in the history alone,
                and has no points that are new and count.
            NotObservedError: it lacks points by hand that are recorded, and there is no `judge`.
        """

        def add(connection: Connection) -> tuple[bool, str, bool]:
            timed = with_time(connection, evidence) if judge else evidence
            submission = _submission(connection, timed.submission)
            newer = _newer(connection, submission, timed)
            has_new_points = add_points(connection, submission, timed)
            merged = with_judgements(connection, timed)
            judged = card
            if merged is not evidence and not (newer and judge is None):
                judged = self._judged(merged, judge)
            if newer:
                counts = has_new_points and judge and _count_points(connection, timed.submission, judge, how)
                added = _add_outdated(connection, submission, merged, judged, how)
                of_same_files = _current_digests(connection, timed.submission) == {timed.submission.digest}
                return bool(counts or added), "" if counts else newer, of_same_files
            attempt = _attempt(connection, submission, merged)
            text = card_text(judged)
            newest = select(SCORES.c.card).where(SCORES.c.attempt == attempt)
            if connection.scalar(newest.order_by(SCORES.c.id.desc()).limit(1)) == text:
                return False, "", True
            add_score(connection, attempt, text, how, judged, evidence.submission.students)
            return True, "", True

        is_new, newer, same_files = self.database.write(add)
        if newer:
            of, began = evidence.submission, _began(evidence)
            grades = [g for who in of.students for g in self.grades(assignment=of.assignment, student=who)]
            latest = max(grades, key=lambda grade: grade.began)
            counts = f"with {_points(latest.card, latest.student)}"
            own = _points(card, latest.student)
            times = (
                f"begun {newer}, {counts}; this one {began}, with {own}"
                if newer != began
                else f"both begun {began}; {counts}, this one {own}"
            )
            raise OutdatedError(
                f"{self.database.name}: {of.student}, {of.assignment}: a later run is recorded "
                f"already ({times}), and this one stands in the history alone; run it with --fresh to "
                "make it count",
                same_files=same_files,
            )
        return is_new

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
            return _evidence(connection, attempt)


def current_scores(assignment: str | None = None, *students: str) -> Subquery:
    """Select the newest score of each student in each assignment; members of a team may differ."""
    newest = select(TOTALS.c.assignment, TOTALS.c.student, func.max(TOTALS.c.score).label("score"))
    if assignment is not None:
        newest = newest.where(TOTALS.c.assignment == assignment)
    if students:
        newest = newest.where(TOTALS.c.student.in_(students))
    return newest.group_by(TOTALS.c.assignment, TOTALS.c.student).subquery()


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
    number = _insert(connection, SCORES, score)
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


def _newer(connection: Connection, submission: int, evidence: Evidence) -> str:
    """Return when a later run began whose score is current; empty for none.

    A process that was suspended may finish late, and so may a slower one of two hosts. Of runs of one second
    the one recorded last is later, or two results folders recorded again and again would take turns.
    """
    of, began, runs = evidence.submission, _began(evidence), dumps(evidence.runs)
    if not began:  # nothing was observed: only people judge
        return ""
    current = current_scores(of.assignment, *of.students)
    counting = select(ATTEMPTS.c.began, ATTEMPTS.c.runs).join(SCORES, SCORES.c.attempt == ATTEMPTS.c.id)
    attempts = connection.execute(counting.join(current, current.c.score == SCORES.c.id)).all()
    recorded = max((attempt.began for attempt in attempts), default="")
    if recorded == began and all(attempt.runs != runs for attempt in attempts):
        return recorded if _is_recorded(connection, submission, runs) else ""
    return recorded if recorded > began else ""


def _current_digests(connection: Connection, of: Submission) -> set[str]:
    """Return the digests of the files whose grades are current for the students of a submission."""
    current = current_scores(of.assignment, *of.students)
    digests = (
        select(SUBMISSIONS.c.digest)
        .join(ATTEMPTS, ATTEMPTS.c.submission == SUBMISSIONS.c.id)
        .join(SCORES, SCORES.c.attempt == ATTEMPTS.c.id)
        .join(current, current.c.score == SCORES.c.id)
    )
    return {*connection.scalars(digests)}


def _is_recorded(connection: Connection, submission: int, runs: str) -> bool:
    """Tell whether there is an attempt of exactly these runs."""
    same = select(ATTEMPTS.c.id).where(ATTEMPTS.c.submission == submission, ATTEMPTS.c.runs == runs)
    return connection.scalar(same.limit(1)) is not None


def _count_points(
    connection: Connection, of: Submission, judge: Callable[[Evidence], Scorecard], how: How
) -> bool:
    """Score the evidence that counts for the files of a submission, with the points that people gave.

    Returns whether there is any, and the rubric asks for no more than was observed: scored by it, the grade
    would lose points until it has run again.
    """
    current = current_scores(of.assignment, *of.students)
    rows = (
        select(SCORES.c.attempt, SCORES.c.card, current.c.student)
        .join(current, current.c.score == SCORES.c.id)
        .join(ATTEMPTS, ATTEMPTS.c.id == SCORES.c.attempt)
        .join(SUBMISSIONS, SUBMISSIONS.c.id == ATTEMPTS.c.submission)
        .where(SUBMISSIONS.c.student == of.student, SUBMISSIONS.c.digest == of.digest)
    )
    students: dict[tuple[int, str], list[str]] = {}
    for attempt, text, student in connection.execute(rows):
        students.setdefault((attempt, text), []).append(student)
    cards = {attempt: judge(_evidence(connection, attempt)) for attempt, _ in students}
    if not all(_unseen(cards[attempt]) <= _unseen(read_card(text)) for attempt, text in students):
        return False
    for (attempt, _), current_for in students.items():
        add_score(connection, attempt, card_text(cards[attempt]), how, cards[attempt], current_for)
    return bool(students)


def _unseen(card: Scorecard) -> frozenset[str]:
    return frozenset(line.item for line in card.lines if line.outcome in UNSEEN)


def _evidence(connection: Connection, attempt: int) -> Evidence:
    """Read the evidence of an attempt, with the points that count now."""
    rows = (
        select(SUBMISSIONS.c.body, ATTEMPTS.c.runs, EVIDENCE.c.judged, EVIDENCE.c.shown)
        .join(ATTEMPTS, ATTEMPTS.c.submission == SUBMISSIONS.c.id)
        .join(EVIDENCE, EVIDENCE.c.attempt == ATTEMPTS.c.id)
        .where(ATTEMPTS.c.id == attempt)
    )
    row = connection.execute(rows).one()
    stored = Evidence(
        submission=revive(Submission, row.body),
        runs=revive(tuple[WorkerRun, ...], row.runs),
        observations=join(row.judged, row.shown),
    )
    return with_judgements(connection, stored)


def _add_outdated(
    connection: Connection, submission: int, evidence: Evidence, card: Scorecard, how: How
) -> bool:
    """Add evidence and score to the history, without totals that count, unless its runs are there already."""
    if _is_recorded(connection, submission, dumps(evidence.runs)):
        return False
    attempt = _add_attempt(connection, submission, evidence)
    students = evidence.submission.students
    add_score(connection, attempt, card_text(card), how, card, students, totals=OUTDATED)
    return True


def _began(evidence: Evidence) -> str:
    """Return when its last run began, in UTC, so that texts sort as times; empty without a run."""
    if not evidence.runs:
        return ""
    began = datetime.fromisoformat(evidence.runs[-1].started_at)
    return began.astimezone(UTC).isoformat(timespec="seconds")


def _insert(connection: Connection, table: Any, row: Mapping[str, Any]) -> int:
    """Add a row; return its number."""
    key: Any = connection.execute(insert(table), row).inserted_primary_key
    return int(key[0])


def _submission(connection: Connection, submission: Submission) -> int:
    """Return the number of the row with exactly this submission; add one if none has it."""
    row = {"assignment": submission.assignment, "student": submission.student, "body": dumps(submission)}
    same = select(SUBMISSIONS.c.id).where(*(SUBMISSIONS.c[name] == value for name, value in row.items()))
    return connection.scalar(same) or _insert(
        connection, SUBMISSIONS, {**row, "digest": submission.digest, "at": now(connection)}
    )


def _attempt(connection: Connection, submission: int, evidence: Evidence) -> int:
    """Return the current attempt's number if it has exactly this evidence; otherwise add one."""
    judged, shown = split(evidence.observations)
    runs = dumps(evidence.runs)
    current = current_scores(evidence.submission.assignment, *evidence.submission.students)
    newest = (
        select(ATTEMPTS.c.id, ATTEMPTS.c.submission, ATTEMPTS.c.runs, EVIDENCE.c.judged, EVIDENCE.c.shown)
        .join(EVIDENCE, EVIDENCE.c.attempt == ATTEMPTS.c.id)
        .join(SCORES, SCORES.c.attempt == ATTEMPTS.c.id)
        .join(current, current.c.score == SCORES.c.id)
        .distinct()
    )
    attempts = connection.execute(newest).all()
    if len(attempts) == 1 and tuple(attempts[0])[1:3] == (submission, runs):
        stored = attempts[0]
        if (stored.judged, stored.shown) == (judged, shown):
            return int(stored.id)
        observations = join(stored.judged, stored.shown)
        with_points = with_judgements(connection, replace(evidence, observations=observations))
        if split(with_points.observations) == (judged, shown):
            return int(stored.id)
    return _add_attempt(connection, submission, evidence)


def _add_attempt(connection: Connection, submission: int, evidence: Evidence) -> int:
    """Add an attempt with its evidence; return its number."""
    judged, shown = split(evidence.observations)
    row = {
        "submission": submission,
        "run": evidence.runs[-1].id if evidence.runs else "",
        "began": _began(evidence),
        "runs": dumps(evidence.runs),
        "at": now(connection),
    }
    attempt = _insert(connection, ATTEMPTS, row)
    packed = {"attempt": attempt, "judged": judged, "shown": shown}
    connection.execute(insert(EVIDENCE), packed)
    return attempt
