"""The database of a gradebook: opened and migrated, written in transactions, copied into one file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import ClassVar, Protocol

from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import DBAPIError

from grader.errors import GraderError, NotObservedError, UsageError
from grader.gradebook.migrations import MIGRATIONS, Migration, migrate, version

WRITING = "writing"
"""Execution option of a connection whose transaction writes."""
Troubles = Mapping[str, tuple[type[GraderError], str]]


class Backend(Protocol):
    """What differs between SQLite and a server."""

    name: str
    """What messages call the gradebook."""
    begin_reading: ClassVar[Sequence[str]]
    """Statements after which a transaction sees the rows as they are now, whoever writes meanwhile."""
    begin_writing: ClassVar[Sequence[str]]
    """Statements after which nobody else writes until the transaction ends."""
    troubles: ClassVar[Troubles]
    """By a part of the database's message, the error and the words of ours."""
    may_be_empty: ClassVar[bool]
    """Whether one without tables is what a process left that was killed while it created them."""

    def open(self, *, create: bool) -> Engine:
        """Return an engine; with `create` make what has to be there before anybody can connect.

        Raises:
            UsageError: it cannot be opened.
        """

    def keep(self, connection: Connection, number: int) -> str:
        """Copy the tables before they are migrated to version `number`; return where the copy is."""

    def backup(self, engine: Engine, to: Path) -> None:
        """Copy everything as it is now into an SQLite file, whole or not at all."""

    def alone(self, engine: Engine) -> AbstractContextManager[None]:
        """Keep others from posting meanwhile; the lock ends with its process.

        Raises:
            NotObservedError: another process has the lock.
        """


class Database:
    """A database that several programs may have open, and one at a time writes."""

    def __init__(
        self, backend: Backend, *, create: bool = False, migrations: Sequence[Migration] = MIGRATIONS
    ) -> None:
        """Open it, and apply the `migrations` that it lacks.

        Raises:
            UsageError: it does not exist and is not to be created, cannot be created, or is no gradebook.
            NotObservedError: a newer grader has migrated it, or it cannot be read or written.
        """
        self._backend = backend
        self.name = backend.name
        """What messages call it."""
        self.copy_before_migration = ""
        """Where the tables are as they were before this object migrated them; empty if it did not."""
        self.engine = backend.open(create=create)
        event.listen(self.engine, "begin", self._begin)
        try:
            self._migrate(migrations, create=create)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close all connections; the last process to do so leaves a single SQLite file."""
        self.engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Connect in a transaction that sees the rows as they are now."""
        with self._errors(), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Connect as the only writer; all is committed, or nothing if an exception or a signal ends this."""
        with (
            self._errors(),
            self.engine.connect().execution_options(**{WRITING: True}) as connection,
            connection.begin(),
        ):
            yield connection

    def backup(self, to: Path) -> None:
        """Copy it as it is now into one SQLite file, whole or not at all; it may be in use.

        Raises:
            UsageError: no copy can be there.
            NotObservedError: the copy cannot be written; the disk is full, for example.
        """
        with self._errors():
            self._backend.backup(self.engine, to)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep others from posting meanwhile; the lock ends with its process.

        Raises:
            NotObservedError: another process posts.
        """
        with self._errors(), self._backend.alone(self.engine):
            yield

    def _begin(self, connection: Connection) -> None:
        writing = connection.get_execution_options().get(WRITING)
        for statement in self._backend.begin_writing if writing else self._backend.begin_reading:
            connection.exec_driver_sql(statement)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn the database's errors into one line."""
        try:
            yield
        except DBAPIError as error:
            code = getattr(error.orig, "sqlstate", None) or ""
            message = f"{code} {error.orig}".strip()
            for part, (kind, words) in self._backend.troubles.items():
                if part in message:
                    raise kind(f"{self.name}: {words}") from None
            cause = " ".join(str(error.orig).split())
            raise NotObservedError(f"{self.name}: cannot be used ({cause}); check it and its disk") from None

    def _migrate(self, migrations: Sequence[Migration], *, create: bool) -> None:
        with self.reading() as connection:
            number = version(connection, self.name, migrations)
        if number == len(migrations):
            return
        if not (number or create or self._backend.may_be_empty):
            raise UsageError(
                f"{self.name}: there is no gradebook; fill one with grader record, or name another"
            )
        with self.writing() as connection:
            number = version(connection, self.name, migrations)  # another process may have been first
            if 0 < number < len(migrations):
                self.copy_before_migration = self._backend.keep(connection, len(migrations))
            migrate(connection, number, migrations)
