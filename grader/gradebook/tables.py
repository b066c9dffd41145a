"""The tables as they are after the last step, for queries to name."""

from __future__ import annotations

from sqlalchemy import Column, Float, Integer, LargeBinary, MetaData, String, Table

METADATA = MetaData()


def _key() -> Column[int]:
    return Column("id", Integer, primary_key=True)


def _text(*names: str) -> tuple[Column[str], ...]:
    return tuple(Column(name, String, nullable=False) for name in names)


def _of(name: str) -> Column[int]:
    return Column(name, Integer, nullable=False)


STEPS = Table("steps", METADATA, Column("number", Integer, primary_key=True), *_text("about", "grader", "at"))

SUBMISSIONS = Table("submissions", METADATA, _key(), *_text("assignment", "student", "digest", "body", "at"))
"""What was handed in: `student` is the student or the team, `body` the `Submission` as JSON."""

ATTEMPTS = Table("attempts", METADATA, _key(), _of("submission"), *_text("exam", "began", "exams", "at"))
"""What was observed of it so far: the last exam, when that began (empty if there was none), all as JSON."""

EVIDENCE = Table(
    "evidence",
    METADATA,
    Column("attempt", Integer, primary_key=True),
    Column("judged", LargeBinary, nullable=False),
    Column("shown", LargeBinary, nullable=False),
)
"""The observations of an attempt; see `grader.gradebook.rows`."""

SCORES = Table("scores", METADATA, _key(), _of("attempt"), *_text("card", "how", "grader", "at"))
"""What a rubric made of it: the `Scorecard` as JSON; `how` it came is `run`, `record` or `rescore`."""

TOTALS = Table(
    "totals",
    METADATA,
    Column("score", Integer, primary_key=True),
    *_text("assignment"),
    Column("student", String, primary_key=True),
    Column("adjusted", Float, nullable=False),
    Column("final", Float),
)
"""A row for each student of a score, so that a member of a team is found as well."""

POINTS = Table(
    "points",
    METADATA,
    _key(),
    _of("submission"),
    *_text("item"),
    Column("points", Float, nullable=False),
    Column("possible", Float, nullable=False),
    *_text("by", "given_at", "comment", "at"),
)
"""What people gave; the evidence has the latest in it already."""

POSTS = Table(
    "posts",
    METADATA,
    _key(),
    _of("score"),
    *_text("student", "platform", "key"),
    Column("points", Float),
    *_text("outcome", "said", "at"),
)
"""What a learning platform was told; `key` marks a message, so that it is recognised and never sent twice."""
