"""The shape of the file, in numbered steps: a book of an earlier grader is led up to the present one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One change of the shape; once released it is never edited, the next change is a step of its own."""

    about: str
    statements: tuple[str, ...]
    """SQL as SQLite speaks it."""


def only_added_to(*tables: str) -> tuple[str, ...]:
    """Triggers by which rows of these tables can neither be changed nor taken out, whoever tries."""
    return tuple(
        f"CREATE TRIGGER {table}_no_{action.lower()} BEFORE {action} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{table}: rows are only added'); END"
        for table in tables
        for action in ("UPDATE", "DELETE")
    )


STEPS = (
    Step(
        about="the first shape",
        statements=(
            """CREATE TABLE submissions (
                id INTEGER PRIMARY KEY,
                assignment TEXT NOT NULL,
                student TEXT NOT NULL,
                digest TEXT NOT NULL,
                body TEXT NOT NULL,
                at TEXT NOT NULL
            )""",
            "CREATE INDEX submissions_of ON submissions (assignment, student)",
            """CREATE TABLE attempts (
                id INTEGER PRIMARY KEY,
                submission INTEGER NOT NULL REFERENCES submissions (id),
                exam TEXT NOT NULL,
                began TEXT NOT NULL,
                exams TEXT NOT NULL,
                at TEXT NOT NULL
            )""",
            "CREATE INDEX attempts_at ON attempts (submission)",
            """CREATE TABLE evidence (
                attempt INTEGER PRIMARY KEY REFERENCES attempts (id),
                judged BLOB NOT NULL,
                shown BLOB NOT NULL
            )""",
            """CREATE TABLE scores (
                id INTEGER PRIMARY KEY,
                attempt INTEGER NOT NULL REFERENCES attempts (id),
                card TEXT NOT NULL,
                how TEXT NOT NULL,
                grader TEXT NOT NULL,
                at TEXT NOT NULL
            )""",
            "CREATE INDEX scores_of ON scores (attempt)",
            """CREATE TABLE totals (
                score INTEGER NOT NULL REFERENCES scores (id),
                assignment TEXT NOT NULL,
                student TEXT NOT NULL,
                adjusted REAL NOT NULL,
                final REAL,
                PRIMARY KEY (score, student)
            )""",
            "CREATE INDEX totals_of ON totals (assignment, student, score)",
            "CREATE INDEX totals_by ON totals (student, score)",
            """CREATE TABLE points (
                id INTEGER PRIMARY KEY,
                submission INTEGER NOT NULL REFERENCES submissions (id),
                item TEXT NOT NULL,
                points REAL NOT NULL,
                possible REAL NOT NULL,
                "by" TEXT NOT NULL,
                given_at TEXT NOT NULL,
                comment TEXT NOT NULL,
                at TEXT NOT NULL
            )""",
            "CREATE INDEX points_of ON points (submission)",
            """CREATE TABLE posts (
                id INTEGER PRIMARY KEY,
                score INTEGER NOT NULL REFERENCES scores (id),
                student TEXT NOT NULL,
                platform TEXT NOT NULL,
                "key" TEXT NOT NULL,
                points REAL,
                outcome TEXT NOT NULL,
                said TEXT NOT NULL,
                at TEXT NOT NULL
            )""",
            "CREATE INDEX posts_of ON posts (score)",
            *only_added_to(
                "submissions", "attempts", "evidence", "scores", "totals", "points", "posts", "steps"
            ),
        ),
    ),
)
"""All of them, the oldest first; a book's number is how many it has been led through."""

TABLE_OF_STEPS = """CREATE TABLE steps (
    number INTEGER PRIMARY KEY,
    about TEXT NOT NULL,
    grader TEXT NOT NULL,
    at TEXT NOT NULL
)"""
"""What makes a file a gradebook; made with the first step."""
