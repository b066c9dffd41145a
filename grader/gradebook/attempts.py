"""Rows of submissions and of attempts, which are evidence at one time, and those whose scores are current."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Subquery, func, insert, select

from grader.config.codec import dumps
from grader.gradebook.judgements import with_judgements
from grader.gradebook.origin import now
from grader.gradebook.rows import join, revive, split
from grader.gradebook.tables import ATTEMPTS, EVIDENCE, SCORES, SUBMISSIONS, TOTALS
from grader.model.evidence import Evidence, WorkerRun
from grader.model.submission import Submission


def current_scores(assignment: str | None = None, *students: str) -> Subquery:
    """Select the newest score of each student in each assignment; members of a team may differ."""
    newest = select(TOTALS.c.assignment, TOTALS.c.student, func.max(TOTALS.c.score).label("score"))
    if assignment is not None:
        newest = newest.where(TOTALS.c.assignment == assignment)
    if students:
        newest = newest.where(TOTALS.c.student.in_(students))
    return newest.group_by(TOTALS.c.assignment, TOTALS.c.student).subquery()


def current_digests(connection: Connection, of: Submission) -> set[str]:
    """Return the digests of the files whose grades are current for the students of a submission."""
    current = current_scores(of.assignment, *of.students)
    digests = (
        select(SUBMISSIONS.c.digest)
        .join(ATTEMPTS, ATTEMPTS.c.submission == SUBMISSIONS.c.id)
        .join(SCORES, SCORES.c.attempt == ATTEMPTS.c.id)
        .join(current, current.c.score == SCORES.c.id)
    )
    return {*connection.scalars(digests)}


def current_attempts(connection: Connection, of: Submission) -> dict[tuple[int, str], list[str]]:
    """Return the students of a submission whose grade is of just these files, by attempt and card as text."""
    current = current_scores(of.assignment, *of.students)
    rows = (
        select(SCORES.c.attempt, SCORES.c.card, current.c.student)
        .join(current, current.c.score == SCORES.c.id)
        .join(ATTEMPTS, ATTEMPTS.c.id == SCORES.c.attempt)
        .join(SUBMISSIONS, SUBMISSIONS.c.id == ATTEMPTS.c.submission)
        .where(SUBMISSIONS.c.student == of.student, SUBMISSIONS.c.digest == of.digest)
        .order_by(SCORES.c.id)
    )
    students: dict[tuple[int, str], list[str]] = {}
    for attempt, text, student in connection.execute(rows):
        students.setdefault((attempt, text), []).append(student)
    return students


def submission_row(connection: Connection, submission: Submission) -> int:
    """Return the number of the row with exactly this submission; add one if none has it."""
    row = {"assignment": submission.assignment, "student": submission.student, "body": dumps(submission)}
    same = select(SUBMISSIONS.c.id).where(*(SUBMISSIONS.c[name] == value for name, value in row.items()))
    return connection.scalar(same) or insert_row(
        connection, SUBMISSIONS, {**row, "digest": submission.digest, "at": now(connection)}
    )


def attempt_row(connection: Connection, submission: int, evidence: Evidence) -> int:
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
    return add_attempt(connection, submission, evidence)


def add_attempt(connection: Connection, submission: int, evidence: Evidence) -> int:
    """Add an attempt with its evidence; return its number."""
    judged, shown = split(evidence.observations)
    row = {
        "submission": submission,
        "run": evidence.runs[-1].id if evidence.runs else "",
        "began": began_at(evidence),
        "runs": dumps(evidence.runs),
        "at": now(connection),
    }
    attempt = insert_row(connection, ATTEMPTS, row)
    packed = {"attempt": attempt, "judged": judged, "shown": shown}
    connection.execute(insert(EVIDENCE), packed)
    return attempt


def is_recorded(connection: Connection, submission: int, runs: str) -> bool:
    """Tell whether there is an attempt of exactly these runs."""
    same = select(ATTEMPTS.c.id).where(ATTEMPTS.c.submission == submission, ATTEMPTS.c.runs == runs)
    return connection.scalar(same.limit(1)) is not None


def evidence_of(connection: Connection, attempt: int) -> Evidence:
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


def began_at(evidence: Evidence) -> str:
    """Return when its last run began, in UTC, so that texts sort as times; empty without a run."""
    if not evidence.runs:
        return ""
    began = datetime.fromisoformat(evidence.runs[-1].started_at)
    return began.astimezone(UTC).isoformat(timespec="seconds")


def insert_row(connection: Connection, table: Any, row: Mapping[str, Any]) -> int:
    """Add a row; return its number."""
    key: Any = connection.execute(insert(table), row).inserted_primary_key
    return int(key[0])
