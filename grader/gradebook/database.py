"""The database of a gradebook: opened and migrated, written in transactions, copied into one file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import ClassVar, TypeAlias

from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import DBAPIError

from grader.errors import GraderError, NotObservedError, UsageError
from grader.gradebook.migrations import MIGRATIONS, Migration, migrate, version

WRITING = "writing"
"""Execution option of a connection whose transaction writes."""
Troubles: TypeAlias = Mapping[str, tuple[type[GraderError], str]]


class Database(ABC):
    """A database that several programs may have open, and one at a time writes."""

    begin_reading: ClassVar[Sequence[str]]
    """Statements after which a transaction sees the rows as they are now, whoever writes meanwhile."""
    begin_writing: ClassVar[Sequence[str]]
    """Statements after which nobody else writes until the transaction ends."""
    troubles: ClassVar[Troubles]
    """By a part of the database's message, the error and the words of ours."""
    may_be_empty: ClassVar[bool]
    """Whether one without tables is what a process left that was killed while it created them."""

    def __init__(
        self, name: str, engine: Engine, *, create: bool, migrations: Sequence[Migration] = MIGRATIONS
    ) -> None:
        """Open what messages call `name`, and apply the `migrations` that it lacks.

        Raises:
            UsageError: it does not exist and is not to be created, cannot be created, or is no gradebook.
            NotObservedError: a newer grader has migrated it, or it cannot be read or written.
        """
        self.name = name
        self.engine = engine
        self.copy_before_migration = ""
        """Where the tables are as they were before this object migrated them; empty if it did not."""
        event.listen(engine, "begin", self._begin)
        try:
            self._migrate(migrations, create=create)
        except BaseException:
            self.close()
            raise

    @abstractmethod
    def backup(self, to: Path) -> None:
        """Copy it as it is now into one SQLite file, whole or not at all; it may be in use.

        Raises:
            UsageError: no copy can be there.
            NotObservedError: the copy cannot be written; the disk is full, for example.
        """

    @abstractmethod
    def alone(self) -> AbstractContextManager[None]:
        """Keep others from posting meanwhile; the lock ends with its process.

        Raises:
            NotObservedError: another process posts.
        """

    @abstractmethod
    def _keep(self, connection: Connection, number: int) -> str:
        """Copy the tables before they are migrated to version `number`; return where the copy is."""

    def close(self) -> None:
        """Close all connections; the last process to do so leaves a single SQLite file."""
        self.engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Connect in a transaction that sees the rows as they are now."""
        with self.errors(), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Connect as the only writer; all is committed, or nothing if an exception or a signal ends this."""
        with (
            self.errors(),
            self.engine.connect().execution_options(**{WRITING: True}) as connection,
            connection.begin(),
        ):
            yield connection

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn the database's errors into one line."""
        try:
            yield
        except DBAPIError as error:
            code = getattr(error.orig, "sqlstate", None) or ""
            cause = " ".join(f"{code} {error.orig}".split())
            for part, (kind, words) in self.troubles.items():
                if part in cause:
                    raise kind(f"{self.name}: {words}") from None
            raise NotObservedError(f"{self.name}: cannot be used ({cause}); check it and its disk") from None

    def _begin(self, connection: Connection) -> None:
        writing = connection.get_execution_options().get(WRITING)
        for statement in self.begin_writing if writing else self.begin_reading:
            connection.exec_driver_sql(statement)

    def _migrate(self, migrations: Sequence[Migration], *, create: bool) -> None:
        with self.reading() as connection:
            number = version(connection, self.name, migrations)
        if number == len(migrations):
            return
        if not (number or create or self.may_be_empty):
            raise missing(self.name)
        with self.writing() as connection:
            number = version(connection, self.name, migrations)  # another process may have been first
            if 0 < number < len(migrations):
                self.copy_before_migration = self._keep(connection, len(migrations))
            migrate(connection, number, migrations)


def missing(name: str) -> UsageError:
    """Return the error for a gradebook that does not exist."""
    return UsageError(f"{name}: there is no gradebook; fill one with grader record, or name another")
