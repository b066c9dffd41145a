"""A gradebook in a database of PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

from sqlalchemy import URL, Connection, create_engine, func, insert, inspect, select
from sqlalchemy.pool import NullPool

from grader.errors import NotObservedError, UsageError
from grader.extras import install_command
from grader.gradebook.database import Database, Troubles
from grader.gradebook.migrations import MIGRATIONS, Migration
from grader.gradebook.sqlite import WAIT_S, SqliteFile, new_file
from grader.gradebook.tables import METADATA
from grader.gradebook.tables import MIGRATIONS as APPLIED

_WRITING, _POSTING = 7_270_301, 7_270_302
"""Keys of advisory locks, which are of one database."""
_CHUNK = 200
"""Rows that are copied at once."""


class PostgresqlDatabase(Database):
    """A database that holds nothing but a gradebook; the password is in ~/.pgpass or PGPASSWORD."""

    begin_reading: ClassVar[Sequence[str]] = ("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",)
    begin_writing: ClassVar[Sequence[str]] = (
        f"SET LOCAL lock_timeout = {int(WAIT_S * 1000)}",
        f"SELECT pg_advisory_xact_lock({_WRITING})",
    )
    may_be_empty: ClassVar[bool] = False
    troubles: ClassVar[Troubles] = {
        "55P03": (NotObservedError, "another program has been writing into it for too long; try again"),
        "42501": (UsageError, "the account may not read or write there; see its privileges"),
        "53100": (NotObservedError, "the server's disk is full; make room there"),
        "password": (UsageError, "the server does not accept the account; see ~/.pgpass or PGPASSWORD"),
        "does not exist": (UsageError, "there is no such database or account; create it on the server first"),
        "connection": (NotObservedError, "the server cannot be reached; see whether it runs"),
    }

    def __init__(
        self, url: URL, *, create: bool = False, migrations: Sequence[Migration] = MIGRATIONS
    ) -> None:
        """Open a database; UsageError also means that the driver is missing, or the URL has a password."""
        name = str(url.set(password=None, query={}))
        if url.password or "password" in url.query:
            raise UsageError(f"{name}: has a password in it; put that into ~/.pgpass or PGPASSWORD")
        if find_spec("psycopg") is None:
            raise UsageError(f"{name}: needs psycopg; {install_command('psycopg')}")
        self._url = url.set(drivername="postgresql+psycopg")
        super().__init__(name, create_engine(self._url), create=create, migrations=migrations)

    def backup(self, to: Path) -> None:
        """Copy all rows, as one transaction sees them, into a gradebook in an SQLite file."""
        with (
            new_file(to) as beside,
            closing(SqliteFile(beside)) as copy,
            self.reading() as source,
            copy.writing() as target,
        ):
            # the copy has its own row of each migration
            for table in (table for table in METADATA.sorted_tables if table is not APPLIED):
                rows = source.execution_options(yield_per=_CHUNK).execute(select(table)).mappings()
                for chunk in rows.partitions():
                    target.execute(insert(table), [dict(row) for row in chunk])

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Take an advisory lock for as long as a connection of its own lasts."""
        engine = create_engine(self._url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
        with self.errors(), engine.connect() as connection:
            if not connection.scalar(select(func.pg_try_advisory_lock(_POSTING))):
                raise NotObservedError(f"{self.name}: another grader posts from here; wait for it")
            yield

    def _keep(self, connection: Connection, number: int) -> str:
        """Copy the tables into a schema of the same database, in the transaction that migrates them."""
        schema = f"before_migration_{number}"
        connection.exec_driver_sql(f"CREATE SCHEMA {schema}")
        for table in inspect(connection).get_table_names():
            connection.exec_driver_sql(f"CREATE TABLE {schema}.{table} AS TABLE {table}")
        return f"schema {schema}"
