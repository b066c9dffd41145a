"""The database of a gradebook: opened and migrated, written in transactions, copied into one file."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import ClassVar, TypeAlias, TypeVar

from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import DBAPIError

from grader.errors import GraderError, NotObservedError, UsageError
from grader.gradebook.migrations import MIGRATIONS, Migration, migrate, version

WRITING = "writing"
"""Execution option of a connection whose transaction writes."""
RETRY_AFTER_S = (0.1, 0.5, 2.0, 5.0, 10.0, 15.0)
"""Seconds to wait before each further try: together a server may take half a minute to start again."""
WHILE_OPENING = 3
"""So many tries at most while it is opened: who named a server that is not there waits three seconds."""
T = TypeVar("T")
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
        self._patient = True
        self._tries = WHILE_OPENING
        event.listen(engine, "begin", self._begin)
        try:
            self._migrate(migrations, create=create)
        except BaseException:
            self.close()
            raise
        self._tries = len(RETRY_AFTER_S)

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
        """Connect in a transaction that sees the rows as they are now; a server that starts is waited for."""
        with self.errors(), ExitStack() as resources:
            yield self._persistently(partial(self._begun, resources))

    def read(self, work: Callable[[Connection], T]) -> T:
        """Call `work` in such a transaction and return its result; again after a lost connection."""

        def once() -> T:
            with self.engine.connect() as connection, connection.begin():
                return work(connection)

        return self._persistently(once)

    def _begun(self, resources: ExitStack) -> Connection:
        """Begin a transaction that reads, which ends with `resources`."""
        with ExitStack() as entered:
            connection = entered.enter_context(self.engine.connect())
            entered.enter_context(connection.begin())
            resources.push(entered.pop_all())
            return connection

    def write(self, work: Callable[[Connection], T]) -> T:
        """Call `work` as the only writer, in a transaction that is committed afterwards; return its result.

        After what passes, as a lost connection, it is called again. Where the connection was lost while the
        transaction was committed, the server says first whether it was: nothing is written twice.
        """
        uncertain: list[tuple[str, T]] = []
        return self._persistently(lambda: self._write_once(work, uncertain))

    def _persistently(self, call: Callable[[], T]) -> T:
        """Call it until it returns, or fails for good, or half a minute is over."""
        delays_s = list(RETRY_AFTER_S[: self._tries] if self._patient else ())
        with self.errors():
            while True:
                try:
                    result = call()
                except DBAPIError as error:
                    if not self._passes(error):
                        raise
                    self._patient = bool(delays_s)  # a class does not wait anew for each grade
                    if not delays_s:
                        raise
                    time.sleep(delays_s.pop(0))
                else:
                    self._patient = True
                    return result

    def _write_once(self, work: Callable[[Connection], T], uncertain: list[tuple[str, T]]) -> T:
        """Call `work` in one transaction, unless one in `uncertain`, which is extended, was committed."""
        with (
            self.engine.connect().execution_options(**{WRITING: True}) as connection,
            connection.begin(),
        ):
            for transaction, result in uncertain:
                if self._has_committed(connection, transaction):
                    return result
            transaction = self._transaction(connection)
            result = work(connection)
            self._before_commit()
            uncertain.append((transaction, result))
            return result

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Connect as the only writer; all is committed, or nothing if an exception or a signal ends this."""
        with (
            self.errors(),
            self.engine.connect().execution_options(**{WRITING: True}) as connection,
            connection.begin(),
        ):
            yield connection
            self._before_commit()

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn the database's errors into one line."""
        try:
            yield
        except DBAPIError as error:
            kind, words = self._trouble(error)
            raise kind(f"{self.name}: {words}") from None

    def _trouble(self, error: DBAPIError) -> tuple[type[GraderError], str]:
        """Return the error and the words of ours for one of the database."""
        cause = " ".join(f"{sqlstate(error)} {error.orig}".split())
        for part, trouble in self.troubles.items():
            if part in cause:
                return trouble
        return NotObservedError, f"cannot be used ({cause}); check it and its disk"

    def _passes(self, _error: DBAPIError) -> bool:
        """Tell whether the same transaction may succeed a little later."""
        return False

    def _transaction(self, _connection: Connection) -> str:
        """Return the name by which the server knows a transaction later."""
        return ""

    def _has_committed(self, _connection: Connection, _transaction: str) -> bool:
        """Tell whether a transaction whose connection was lost was committed."""
        return False

    @abstractmethod
    def _before_commit(self) -> None:
        """Raise if what was written would be lost, although it is committed."""

    def _begin(self, connection: Connection) -> None:
        writing = connection.get_execution_options().get(WRITING)
        for statement in self.begin_writing if writing else self.begin_reading:
            connection.exec_driver_sql(statement)

    def _migrate(self, migrations: Sequence[Migration], *, create: bool) -> None:
        number = self.read(lambda connection: version(connection, self.name, migrations))
        if number == len(migrations):
            return
        if not (number or create or self.may_be_empty):
            raise missing(self.name)
        with self.writing() as connection:
            number = version(connection, self.name, migrations)  # another process may have been first
            self._apply(connection, number, migrations)

    def _apply(self, connection: Connection, number: int, migrations: Sequence[Migration]) -> None:
        """Apply the migrations after `number`, with a copy of the tables as they were."""
        if 0 < number < len(migrations):
            self.copy_before_migration = self._keep(connection, len(migrations))
        migrate(connection, number, migrations)


def sqlstate(error: DBAPIError) -> str:
    """Return the five characters by which SQL calls an error; empty where the server had no part in it."""
    return getattr(error.orig, "sqlstate", None) or ""


def missing(name: str) -> UsageError:
    """Return the error for a gradebook that does not exist."""
    return UsageError(f"{name}: there is no gradebook; fill one with grader record, or name another")
