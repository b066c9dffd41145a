"""The file of a gradebook: opened, led up to the present shape, written whole or not at all, copied."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, func, insert, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool

from grader import __version__
from grader.config.problem import show_path
from grader.errors import GraderError, NotObservedError, UsageError
from grader.files import obstacle, replacing
from grader.gradebook import tables
from grader.gradebook.steps import STEPS, TABLE_OF_STEPS, Step

WAIT_S = 30.0
"""How long somebody else may be writing."""
_WRITING = "writing"
_TROUBLE = (
    ("not a database", UsageError, "is no gradebook; name another file"),
    ("unable to open", UsageError, "cannot be opened; see who may enter and write there"),
    ("readonly", UsageError, "cannot be written, and has to be also for reading; see who may write there"),
    ("malformed", NotObservedError, "is damaged; go back to a backup"),
    ("locked", NotObservedError, "somebody else has been writing into it for too long; try again"),
)
"""What SQLite says, and what we say then."""


class BookFile:
    """An SQLite file; several programs may have it open, and one at a time writes."""

    def __init__(self, path: Path, *, create: bool = False, steps: Sequence[Step] = STEPS) -> None:
        """Open it, if need be after leading it up to the last of `steps`.

        Raises:
            UsageError: it is not there and shall not be created, or cannot be, or it is no gradebook.
            NotObservedError: a newer grader has led it further, or it cannot be read or written.
        """
        self.path = path
        self.kept_as: Path | None = None
        """The copy that was made before an older book was led up; None if nothing was to be done."""
        if not path.exists():
            if not create:
                raise UsageError(
                    f"{show_path(path)}: there is no gradebook; fill one with grader record, or name another"
                )
            self._make()
        if not path.is_file():
            raise UsageError(f"{show_path(path)}: is no regular file, and so no gradebook; name another")
        self.engine = _engine(path)
        try:
            with self.told():
                self._lead_up(steps)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of it; whoever does so last leaves one file."""
        self.engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """See it as it is now, whoever writes meanwhile."""
        with self.told(), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Write alone; all of it is kept, or nothing if an exception leaves this, or we are ended."""
        with (
            self.told(),
            self.engine.connect().execution_options(**{_WRITING: True}) as connection,
            connection.begin(),
        ):
            yield connection

    def backup(self, to: Path) -> None:
        """Copy it as it is now into one file, whole or not at all; it may be in use.

        Raises:
            UsageError: no copy can be there.
            NotObservedError: it cannot be written; the disk is full, for example.
        """
        if to.exists() and not (to.is_file() or to.is_dir()):
            raise UsageError(f"{show_path(to)}: is no regular file; name another place")
        try:
            with replacing(to) as beside:
                os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
                with (
                    closing(sqlite3.connect(self.path)) as source,
                    closing(sqlite3.connect(beside)) as target,
                ):
                    source.backup(target)
        except OSError as error:
            raise obstacle(show_path(to), error) from None
        except sqlite3.Error as error:
            raise NotObservedError(
                f"{show_path(to)}: cannot be written ({error}); make room, or name another place"
            ) from None

    @contextmanager
    def told(self) -> Iterator[None]:
        """Say in a line what SQLite complains of."""
        try:
            yield
        except DBAPIError as error:
            raise self._trouble(error.orig) from None

    def _make(self) -> None:
        try:  # it holds marks: not for everybody on the machine
            os.close(os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o600))
        except OSError as error:
            raise obstacle(show_path(self.path), error) from None

    def _trouble(self, said: Any) -> GraderError:
        for part, kind, message in _TROUBLE:
            if part in str(said):
                return kind(f"{show_path(self.path)}: {message}")
        return NotObservedError(
            f"{show_path(self.path)}: cannot be used ({said}); check the file, its folder and its disk"
        )

    def _lead_up(self, steps: Sequence[Step]) -> None:
        with self.engine.connect() as connection, connection.begin():
            number = self._number(connection, steps)
        if number == len(steps):
            return
        if number:
            self.kept_as = self.path.with_name(f"{self.path.name}.before-step-{len(steps)}")
            self.backup(self.kept_as)
        with self.writing() as connection:
            number = self._number(connection, steps)  # somebody else may have been quicker
            if not number:
                connection.exec_driver_sql(TABLE_OF_STEPS)
            for new, step in enumerate(steps[number:], start=number + 1):
                for statement in step.statements:
                    connection.exec_driver_sql(statement)
                row = {"number": new, "about": step.about, "grader": __version__, "at": now()}
                connection.execute(insert(tables.STEPS), row)

    def _number(self, connection: Connection, steps: Sequence[Step]) -> int:
        """How many steps it has been led through; 0 if it is empty."""
        listed = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'")
        names = set(listed.scalars())
        if not names:
            return 0
        if tables.STEPS.name not in names:
            raise UsageError(f"{show_path(self.path)}: is no gradebook; name another file")
        number = connection.scalar(select(func.max(tables.STEPS.c.number))) or 0
        if number > len(steps):
            last = select(tables.STEPS.c.grader).where(tables.STEPS.c.number == number)
            raise NotObservedError(
                f"{show_path(self.path)}: grader {connection.scalar(last)} has led it to step {number}, and "
                f"this one ({__version__}) knows {len(steps)}; update grader"
            )
        return number


def now() -> str:
    """The time of a row: ISO 8601, UTC, whole seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _engine(path: Path) -> Engine:
    def connect() -> sqlite3.Connection:
        # we say ourselves where a transaction begins: the driver would begin none before reading
        connection = sqlite3.connect(path, timeout=WAIT_S, isolation_level=None, check_same_thread=False)
        for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {setting}")
        return connection

    # of a bare address SQLAlchemy thinks that it is memory, and would share one connection
    engine = create_engine("sqlite://", creator=connect, poolclass=QueuePool)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writing = connection.get_execution_options().get(_WRITING)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    return engine
