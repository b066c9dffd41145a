"""A gradebook in a database of PostgreSQL."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

from sqlalchemy import URL, Connection, create_engine, func, insert, inspect, select, text
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.pool import NullPool

from grader.errors import GraderError, NotObservedError, UsageError
from grader.extras import install_command
from grader.gradebook.database import Database, Troubles, sqlstate
from grader.gradebook.migrations import MIGRATIONS, Migration
from grader.gradebook.origin import account
from grader.gradebook.sqlite import WAIT_S, SqliteFile, new_file
from grader.gradebook.tables import METADATA
from grader.gradebook.tables import MIGRATIONS as APPLIED

_WRITING, _POSTING = 7_270_301, 7_270_302
"""Keys of advisory locks, which are of one database."""
_CHUNK = 200
"""Rows that are copied at once."""


_PASSING = frozenset({"40001", "40P01", "53300", "57P01", "57P02", "57P03"})
"""Conflicts of transactions, too many connections, a server that stops, crashed or starts."""
_NO_RIGHTS = "42501"
_FOREIGN = frozenset({"42P01", "42703", "42883"})
"""A table, a column or a function that is missing."""
_CLOCK_S = 60.0
"""Seconds by which the clock of a machine that grades may differ from the server's."""
_CONNECTING: Mapping[str, object] = {
    "client_encoding": "utf8",  # whatever PGCLIENTENCODING says: names of students
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
}
"""Keys of libpq, unless the URL has others: a firewall that forgets a connection is noticed in a minute."""
_WRITER = text(
    "SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' "
    "AND granted AND objid = :key AND database = (SELECT oid FROM pg_database WHERE datname = "
    "current_database())"
)


class PostgresqlDatabase(Database):
    """A database that holds nothing but a gradebook; the password is in ~/.pgpass or PGPASSWORD."""

    begin_reading: ClassVar[Sequence[str]] = ("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",)
    begin_writing: ClassVar[Sequence[str]] = (
        f"SET LOCAL lock_timeout = {int(WAIT_S * 1000)}",
        # whatever the server's default: a snapshot from before the lock would miss what others wrote
        "SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE",
        # a host that lost its power holds the lock until the server asks for it
        "SET LOCAL tcp_keepalives_idle = 30",
        "SET LOCAL tcp_keepalives_interval = 10",
        "SET LOCAL tcp_keepalives_count = 3",
        f"SELECT pg_advisory_xact_lock({_WRITING})",
    )
    may_be_empty: ClassVar[bool] = False
    troubles: ClassVar[Troubles] = {
        _NO_RIGHTS: (
            UsageError,
            "the account may not read or write there; docs/how-to/team-gradebook.md lists its rights",
        ),
        "53100": (NotObservedError, "the server's disk is full; make room there"),
        "53300": (NotObservedError, "the server has no connection left; end some, or raise max_connections"),
        "too many": (
            NotObservedError,
            "the server has no connection left; end some, or raise max_connections",
        ),
        "40001": (NotObservedError, "another program changed the same rows; try again"),
        "40P01": (NotObservedError, "another program changed the same tables; try again"),
        "57014": (NotObservedError, "the server ended the statement (statement_timeout); raise that there"),
        "starting up": (NotObservedError, "the server is just starting; try again"),
        "shutting down": (NotObservedError, "the server is just stopping; try again"),
        "in recovery mode": (NotObservedError, "the server is recovering from a crash; try again"),
        "during recovery": (UsageError, "the server is a standby, which cannot be written; name the primary"),
        "not currently accepting": (
            NotObservedError,
            "the database takes no connections (ALLOW_CONNECTIONS); ask who runs the server",
        ),
        "invalid connection option": (
            UsageError,
            "the address has an unknown option ({cause}); leave it out",
        ),
        "invalid sslmode": (UsageError, "the address has an unknown value ({cause}); correct it"),
        "bad value for": (UsageError, "the address has a wrong value ({cause}); correct it"),
        "pg_hba.conf": (
            UsageError,
            "the server does not let this account in from here ({cause}); correct the address if it names "
            "another account or database, or see pg_hba.conf there",
        ),
        "SSL": (
            UsageError,
            "the connection is not as safe as sslmode demands ({cause}); switch SSL on there, or name its "
            "certificates by sslrootcert",
        ),
        "password": (UsageError, "the server does not accept the account; see ~/.pgpass or PGPASSWORD"),
        "definition of service": (UsageError, "there is no such service; see ~/.pg_service.conf"),
        "does not exist": (UsageError, "there is no such database or account; create it on the server first"),
        "resolve host": (NotObservedError, "no machine has this name; check the name, or the network"),
        "translate host": (NotObservedError, "no machine has this name; check the name, or the network"),
        "connection": (
            NotObservedError,
            "the server cannot be reached ({cause}); see whether it runs, and whether the address is right",
        ),
    }

    def __init__(
        self, url: URL, *, create: bool = False, migrations: Sequence[Migration] = MIGRATIONS
    ) -> None:
        """Open a database; UsageError also means that the driver is missing, or the URL has a password."""
        service = url.query.get("service")
        name = str(url.set(password=None, query={"service": service} if service else {}))
        if find_spec("psycopg") is None:
            raise UsageError(f"{name}: needs psycopg; {install_command('psycopg')}")
        self._url = url.set(drivername="postgresql+psycopg")
        engine = create_engine(self._url, pool_pre_ping=True, connect_args=self._connecting())
        super().__init__(name, engine, create=create, migrations=migrations)
        try:
            if create:
                self._compare_clocks()
        except BaseException:
            self.close()
            raise

    def _connecting(self) -> dict[str, object]:
        keys = {**_CONNECTING, "application_name": f"grader {account()}"[:63]}
        return {name: value for name, value in keys.items() if name not in self._url.query}

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
        engine = create_engine(
            self._url, poolclass=NullPool, isolation_level="AUTOCOMMIT", connect_args=self._connecting()
        )
        with self.errors(), engine.connect() as connection:
            if not connection.scalar(select(func.pg_try_advisory_lock(_POSTING))):
                raise NotObservedError(f"{self.name}: {self._holder(_POSTING)} posts from here; wait for it")
            yield

    def _migrate(self, migrations: Sequence[Migration], *, create: bool) -> None:
        encoding = self.read(lambda connection: connection.scalar(text("SHOW server_encoding")))
        if encoding != "UTF8":
            raise UsageError(
                f"{self.name}: keeps text as {encoding}, which cannot hold every name; "
                "make it by createdb -E UTF8 -T template0"
            )
        super()._migrate(migrations, create=create)

    def _apply(self, connection: Connection, number: int, migrations: Sequence[Migration]) -> None:
        try:
            super()._apply(connection, number, migrations)
        except DBAPIError as error:
            if sqlstate(error) != _NO_RIGHTS:
                raise
            raise UsageError(
                f"{self.name}: its tables are {'of an older grader' if number else 'not made yet'}, and this "
                f"account may not {'migrate' if number else 'make'} them; have their owner run grader record "
                "once, with this version"
            ) from None

    def _compare_clocks(self) -> None:
        """Refuse a machine with a wrong clock: the times of runs decide which grade counts."""
        seconds = self.read(lambda connection: connection.scalar(text("SELECT extract(epoch FROM now())")))
        ahead_s = time.time() - float(seconds or 0)
        if abs(ahead_s) > _CLOCK_S:
            side = "ahead of" if ahead_s > 0 else "behind"
            raise NotObservedError(
                f"{self.name}: this machine's clock is {abs(ahead_s):.0f} s {side} the server's; set it "
                "(timedatectl set-ntp true), for the times of runs decide which grade counts"
            )

    def _trouble(self, error: DBAPIError) -> tuple[type[GraderError], str]:
        if sqlstate(error) == "55P03":
            return NotObservedError, (
                f"{self._holder(_WRITING)} has been writing into it for too long; try again"
            )
        if sqlstate(error) in _FOREIGN:
            return (
                NotObservedError,
                f"its tables are not as grader made them ({sqlstate(error)}); see its owner",
            )
        kind, words = super()._trouble(error)
        return kind, words.replace("{cause}", _cause(error))

    def _holder(self, key: int) -> str:
        """Name the account whose program has an advisory lock."""
        with suppress(DBAPIError), self.engine.connect() as connection, connection.begin():
            name = connection.scalar(_WRITER, {"key": key})
            if name and name.startswith("grader "):
                return str(name.removeprefix("grader "))
        return "another program"

    def _before_commit(self) -> None:
        """Let it be committed: what a server has committed is kept."""

    def _passes(self, error: DBAPIError) -> bool:
        code = sqlstate(error)
        if code:
            return code in _PASSING or code.startswith("08")
        return isinstance(error, OperationalError) and self._trouble(error)[0] is not UsageError

    def _transaction(self, connection: Connection) -> str:
        return str(connection.scalar(text("SELECT txid_current()")))

    def _has_committed(self, connection: Connection, transaction: str) -> bool:
        # the lock is ours now, so the transaction has ended
        status = text("SELECT txid_status(CAST(:transaction AS bigint))")
        return bool(connection.scalar(status, {"transaction": transaction}) == "committed")

    def _keep(self, connection: Connection, number: int) -> str:
        """Copy the tables into a schema of the same database, in the transaction that migrates them."""
        schema = f"before_migration_{number}"
        connection.exec_driver_sql(f"CREATE SCHEMA {schema}")
        for table in inspect(connection).get_table_names():
            connection.exec_driver_sql(f"CREATE TABLE {schema}.{table} AS TABLE {table}")
        return f"schema {schema}"


def _cause(error: DBAPIError) -> str:
    """Return the part of libpq's message on a connection that says what went wrong."""
    first = str(error.orig).strip().partition("\n")[0]
    cause = first.rpartition("failed: ")[2].removeprefix("connection is bad: ")
    return cause.removeprefix("FATAL:").lstrip()
