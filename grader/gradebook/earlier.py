"""Facts about the files of a submission from before: their number, their time, and points by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import Connection, ScalarSelect, func, select

from grader.config.points_file import PointsGiven
from grader.gradebook.judgements import judgements_of
from grader.gradebook.rows import revive
from grader.gradebook.tables import SUBMISSIONS
from grader.model.evidence import Evidence
from grader.model.submission import Submission

if TYPE_CHECKING:
    from grader.gradebook.book import Gradebook


_FILES = ("assignment", "student", "digest")
"""Columns that say whose files a row of submissions is of; another time of submission makes another row."""


def first_number() -> ScalarSelect[int]:
    """Select the number of the first row with the same files as a row of submissions, which stays."""
    first = SUBMISSIONS.alias()
    same = (first.c[name] == SUBMISSIONS.c[name] for name in _FILES)
    return select(func.min(first.c.id)).where(*same).correlate(SUBMISSIONS).scalar_subquery()


def with_time(connection: Connection, evidence: Evidence) -> Evidence:
    """Return evidence with the time at which its files were handed in, if it has none and the rows have."""
    submission = evidence.submission
    if submission.submitted_at is not None:
        return evidence
    time = _time(connection, submission)
    return evidence if time is None else replace(evidence, submission=replace(submission, submitted_at=time))


def submitted_at(book: Gradebook, submission: Submission) -> datetime | None:
    """Return when the files of a submission were handed in, as last recorded; None if nobody said."""
    with book.database.reading() as connection:
        return _time(connection, submission)


def points_given(book: Gradebook, submission: Submission) -> Sequence[PointsGiven]:
    """Return all points that people gave for the files of a submission, the oldest first."""
    with book.database.reading() as connection:
        return tuple(each.record for each in judgements_of(connection, submission))


def _time(connection: Connection, submission: Submission) -> datetime | None:
    same = (SUBMISSIONS.c[name] == getattr(submission, name) for name in _FILES)
    rows = select(SUBMISSIONS.c.body).where(*same).order_by(SUBMISSIONS.c.id.desc())
    recorded = (revive(Submission, body) for body in connection.scalars(rows))
    return next((each.submitted_at for each in recorded if each.submitted_at and not each.in_future), None)
