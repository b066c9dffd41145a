"""Numbered migrations of a gradebook's tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, insert, inspect, select

from grader import __version__
from grader.errors import NotObservedError, UsageError
from grader.gradebook.origin import now
from grader.gradebook.tables import METADATA, OUTDATED, REVIEW_TABLES, refuse_replacing
from grader.gradebook.tables import MIGRATIONS as APPLIED


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One change of the tables; once released it is never edited: the next change is another migration."""

    about: str
    apply: Callable[[Connection], object]
    """Statements that lead from the tables of the migration before to these."""


def create(connection: Connection) -> None:
    """Create the tables in their present form."""
    METADATA.create_all(connection, checkfirst=False)


def review(connection: Connection) -> None:
    """Give points their reason, criteria and suggestion, and create the tables of `grader review`."""
    for column in (
        "reason VARCHAR NOT NULL DEFAULT ''",
        "criteria VARCHAR NOT NULL DEFAULT ''",
        "suggested FLOAT",
        "withdrawn INTEGER NOT NULL DEFAULT 0",
        "undoes INTEGER",
    ):
        connection.exec_driver_sql(f"ALTER TABLE points ADD COLUMN {column}")
    METADATA.create_all(connection, tables=REVIEW_TABLES, checkfirst=False)


def team(connection: Connection) -> None:
    """Give rows the account that added them, and create the table of scores that came too late to count."""
    for table in ("scores", "points", "posts", "audit"):
        columns = {column["name"] for column in inspect(connection).get_columns(table)}
        if "account" not in columns:  # the migration before may have created the table in its present form
            connection.exec_driver_sql(f"ALTER TABLE {table} ADD COLUMN account VARCHAR NOT NULL DEFAULT ''")
    METADATA.create_all(connection, tables=(OUTDATED,), checkfirst=False)


def replacing(connection: Connection) -> None:
    """Refuse rows that replace others, on SQLite; the triggers of PostgreSQL refuse them already."""
    names = inspect(connection).get_table_names()  # tables of later migrations come with their triggers
    refuse_replacing(connection, [table for table in METADATA.sorted_tables if table.name in names])


MIGRATIONS = (
    Migration(about="create the tables", apply=create),
    Migration(about="points with criteria, and the tables of grader review", apply=review),
    Migration(about="accounts that add rows, and scores that came too late to count", apply=team),
    Migration(about="no row is replaced", apply=replacing),
)
"""All of them, the oldest first; a new gradebook runs the first one alone, which makes the present form."""


def version(connection: Connection, name: str, migrations: Sequence[Migration]) -> int:
    """Return the number of the last migration of a gradebook that messages call `name`; 0 without tables.

    Raises:
        UsageError: there are other tables than a gradebook's.
        NotObservedError: a newer grader has migrated it.
    """
    tables = inspect(connection).get_table_names()
    if not tables:
        return 0
    if APPLIED.name not in tables:
        raise UsageError(f"{name}: is no gradebook; name another")
    number = connection.scalar(select(func.max(APPLIED.c.number))) or 0
    if number > len(migrations):
        newer = connection.scalar(select(APPLIED.c.grader).where(APPLIED.c.number == number))
        raise NotObservedError(
            f"{name}: grader {newer} has migrated it to version {number}, and this one ({__version__}) "
            f"knows {len(migrations)}; update grader"
        )
    return number


def migrate(connection: Connection, number: int, migrations: Sequence[Migration]) -> None:
    """Apply the migrations after `number`."""
    for new, migration in enumerate(migrations[number:], start=number + 1):
        if number or new == 1:
            migration.apply(connection)
        row = {"number": new, "about": migration.about, "grader": __version__, "at": now(connection)}
        connection.execute(insert(APPLIED), row)
