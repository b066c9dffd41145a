"""The tables of a gradebook, described once for every database: columns, indexes and append-only triggers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import sqlalchemy as sa
from sqlalchemy.event import listens_for

METADATA = sa.MetaData()


def _key() -> sa.Column[int]:
    return sa.Column("id", sa.Integer, primary_key=True)


def _text(*names: str, default: str | None = None) -> tuple[sa.Column[str], ...]:
    return tuple(sa.Column(name, sa.String, nullable=False, server_default=default) for name in names)


def _account() -> sa.Column[str]:
    """Describe the column of `grader.gradebook.origin.account`; rows of before it have an empty one."""
    return sa.Column("account", sa.String, nullable=False, server_default="")


def _of(table: str, *, key: bool = False) -> sa.Column[int]:
    """Reference a row of another table, by a column that is called as one of its rows."""
    return sa.Column(
        table.removesuffix("s"), sa.Integer, sa.ForeignKey(f"{table}.id"), primary_key=key, nullable=False
    )


MIGRATIONS = sa.Table(
    "migrations",
    METADATA,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    *_text("about", "grader", "at"),
)
"""The migrations that were applied; this table makes a database a gradebook."""

SUBMISSIONS = sa.Table(
    "submissions",
    METADATA,
    _key(),
    *_text("assignment", "student", "digest", "body", "at"),
    sa.Index("submissions_of", "assignment", "student"),
)
"""Submissions: `student` is the student or the team, `body` the `Submission` as JSON."""

ATTEMPTS = sa.Table(
    "attempts",
    METADATA,
    _key(),
    _of("submissions"),
    *_text("run", "began", "runs", "at"),
    sa.Index("attempts_of", "submission"),
)
"""Runs of a submission so far: the last one, when it began (empty without one), and all as JSON."""

EVIDENCE = sa.Table(
    "evidence",
    METADATA,
    _of("attempts", key=True),
    sa.Column("judged", sa.LargeBinary, nullable=False),
    sa.Column("shown", sa.LargeBinary, nullable=False),
)
"""The observations of an attempt; see `grader.gradebook.rows`."""

SCORES = sa.Table(
    "scores",
    METADATA,
    _key(),
    _of("attempts"),
    *_text("card", "how", "grader", "at"),
    _account(),
    sa.Index("scores_of", "attempt"),
)
"""The `Scorecard` of an attempt as JSON; `how` it came is `run`, `record`, `rescore` or `review`."""

TOTALS = sa.Table(
    "totals",
    METADATA,
    _of("scores", key=True),
    *_text("assignment"),
    sa.Column("student", sa.String, primary_key=True),
    sa.Column("adjusted", sa.Float, nullable=False),
    sa.Column("final", sa.Float),
    sa.Index("totals_of", "assignment", "student", "score"),
    sa.Index("totals_by", "student", "score"),
)
"""A row for each student of a score, so that a member of a team is found as well."""

OUTDATED = sa.Table(
    "outdated",
    METADATA,
    _of("scores", key=True),
    *_text("assignment"),
    sa.Column("student", sa.String, primary_key=True),
    sa.Column("adjusted", sa.Float, nullable=False),
    sa.Column("final", sa.Float),
    sa.Index("outdated_by", "student", "score"),
)
"""As `totals`, of scores whose run began before that of the current score: history, which never counts."""

POINTS = sa.Table(
    "points",
    METADATA,
    _key(),
    _of("submissions"),
    *_text("item"),
    sa.Column("points", sa.Float, nullable=False),
    sa.Column("possible", sa.Float, nullable=False),
    *_text("by", "given_at", "comment", "at"),
    *_text("reason", "criteria", default=""),
    sa.Column("suggested", sa.Float),
    sa.Column("withdrawn", sa.Integer, nullable=False, server_default="0"),
    sa.Column("undoes", sa.Integer),
    _account(),
    sa.Index("points_of", "submission"),
)
"""Points given by people, of which the last row of an item counts, whatever the evidence has of earlier ones.

`criteria` is JSON, empty for none; `suggested` are the points that a program suggested then; a `withdrawn`
row takes points back without others in their place; `undoes` is the number of the row that is taken back.
"""

POSTS = sa.Table(
    "posts",
    METADATA,
    _key(),
    _of("scores"),
    *_text("student", "platform", "marker"),
    sa.Column("points", sa.Float),
    *_text("outcome", "message", "at"),
    _account(),
    sa.Index("posts_of", "score"),
)
"""Changes sent to learning platforms; `marker` is the idempotency key in the comment, empty without one."""

READINGS = sa.Table(
    "readings",
    METADATA,
    _key(),
    _of("submissions"),
    *_text("item"),
    sa.Column("points", sa.Float, nullable=False),
    sa.Column("possible", sa.Float, nullable=False),
    *_text("criteria", "by", "comment", "at"),
    sa.Index("readings_of", "submission"),
)
"""Points of second readers, which do not count."""

PHRASES = sa.Table(
    "phrases",
    METADATA,
    _key(),
    *_text("assignment", "item", "text", "by", "at"),
    sa.Column("retires", sa.Integer),
    sa.Index("phrases_of", "assignment", "item"),
)
"""Comments that are kept for other students; a row that `retires` another takes it off the list."""

REQUESTS = sa.Table(
    "requests",
    METADATA,
    _key(),
    _of("submissions"),
    *_text("item", "student", "text", "by", "at"),
    sa.Index("requests_of", "submission"),
)
"""Requests of students to look again, as somebody of the staff entered them."""

REPLIES = sa.Table(
    "replies",
    METADATA,
    _key(),
    _of("requests"),
    *_text("text", "by", "at"),
    sa.Column("judgement", sa.Integer),
    sa.Index("replies_of", "request"),
)
"""Answers to requests; `judgement` is the number of the row of points that came of it."""

PUBLICATIONS = sa.Table(
    "publications",
    METADATA,
    _key(),
    *_text("assignment"),
    sa.Column("published", sa.Integer, nullable=False),
    *_text("by", "at"),
)
"""Whether the grades of an assignment are published: its last row says so."""

AUDIT = sa.Table(
    "audit",
    METADATA,
    _key(),
    *_text("assignment", "by", "role", "action", "about", "at"),
    _account(),
)
"""A line for every change that was made in `grader review`, and for every look at names."""

REVIEW_TABLES = (READINGS, PHRASES, REQUESTS, REPLIES, PUBLICATIONS, AUDIT)


_REFUSAL = "BEGIN SELECT RAISE(ABORT, '{}: rows are only added'); END"


@listens_for(METADATA, "after_create")
def _make_append_only(
    _metadata: sa.MetaData, connection: sa.Connection, *, tables: Sequence[sa.Table], **_: object
) -> None:
    """Create triggers on new tables that refuse UPDATE, DELETE and REPLACE, whoever connects."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(
            "CREATE OR REPLACE FUNCTION rows_are_only_added() RETURNS trigger LANGUAGE plpgsql AS "
            "$$BEGIN RAISE EXCEPTION '%%: rows are only added', TG_TABLE_NAME; END$$"
        )
        # of statements, so that INSERT … ON CONFLICT DO UPDATE and MERGE are refused as well
        actions, refusal = ["UPDATE", "DELETE", "TRUNCATE"], "EXECUTE FUNCTION rows_are_only_added()"
    else:
        actions, refusal = ["UPDATE", "DELETE"], _REFUSAL
    for table, action in product([table.name for table in tables], actions):
        trigger = f"CREATE TRIGGER {table}_no_{action.lower()} BEFORE {action} ON {table}"
        connection.exec_driver_sql(f"{trigger} {refusal.format(table)}")
    refuse_replacing(connection, tables)


def refuse_replacing(connection: sa.Connection, tables: Sequence[sa.Table]) -> None:
    """Create triggers of SQLite that refuse a row whose key or number is there, unless they exist.

    REPLACE, in any statement, deletes the row that is in the way, and runs DELETE triggers only where the
    connection has set `recursive_triggers`.
    """
    if connection.dialect.name != "sqlite":
        return
    for table in tables:
        key = " AND ".join(f"{column.name} = NEW.{column.name}" for column in table.primary_key)
        is_there = f"EXISTS (SELECT 1 FROM {table.name} WHERE rowid = NEW.rowid OR ({key}))"  # noqa: S608
        connection.exec_driver_sql(
            f"CREATE TRIGGER IF NOT EXISTS {table.name}_no_replace BEFORE INSERT ON {table.name} "
            f"WHEN {is_there} {_REFUSAL.format(table.name)}"
        )
