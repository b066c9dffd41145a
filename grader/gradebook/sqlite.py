"""A gradebook in an SQLite file, with a write-ahead log."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import ClassVar

from sqlalchemy import Connection, create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool

from grader.errors import GraderError, NotObservedError, UsageError
from grader.files import obstacle, replacing, show_path
from grader.gradebook.database import WRITING, Database, Troubles, missing
from grader.gradebook.filesystem import network_filesystem
from grader.gradebook.migrations import MIGRATIONS, Migration
from grader.gradebook.tables import MIGRATIONS as APPLIED

WAIT_S = 30.0
"""Seconds to wait for another writer."""


_ROOM = 64 * 1024
"""Bytes that the memory beside the write-ahead log needs, and some: with less, SQLite knows no reason."""
_FULL = NotObservedError, "its disk is full; make room there, and try again"
_READ_ONLY = (
    UsageError,
    "its disk may only be read, and reading needs a log beside it; copy it to another disk, "
    "and name the copy",
)


class SqliteFile(Database):
    """An SQLite file that its owner alone may read."""

    begin_reading: ClassVar[Sequence[str]] = ("BEGIN",)
    begin_writing: ClassVar[Sequence[str]] = ("BEGIN IMMEDIATE",)
    may_be_empty: ClassVar[bool] = True
    troubles: ClassVar[Troubles] = {
        "not a database": (UsageError, "is no gradebook; name another"),
        "unable to open": (UsageError, "cannot be opened; see who may enter and write there"),
        "readonly": (
            UsageError,
            "cannot be written, which reading needs too; see who may write there",
        ),
        "malformed": (NotObservedError, "is damaged; go back to a backup"),
        "locked": (NotObservedError, "another program has been writing into it for too long; try again"),
        "disk is full": _FULL,
    }

    def __init__(
        self, path: Path, *, create: bool = False, migrations: Sequence[Migration] = MIGRATIONS
    ) -> None:
        """Open a file; see `Database` for errors."""
        self._path, name = path, show_path(path)
        self._network = network_filesystem(path)
        self._is_open = False
        if create:
            self._refuse_network(name)
        if not path.exists():
            if not create:
                raise missing(name)
            try:  # it holds grades: not for everybody on the machine
                os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
            except OSError as error:
                raise obstacle(name, error) from None
        if not path.is_file():
            raise UsageError(f"{name}: is no regular file, and so no gradebook; name another")
        # of a bare address SQLAlchemy thinks that it is memory, and would share one connection
        engine = create_engine("sqlite://", creator=self._connect, poolclass=QueuePool)
        super().__init__(name, engine, create=create, migrations=migrations)
        self._inode = _inode(path)  # now: an overlay file system changes it when a file is opened for writing
        self._is_open = True

    def _begin(self, connection: Connection) -> None:
        self._refuse_moved()
        if self._is_open and connection.get_execution_options().get(WRITING):
            self._refuse_network(self.name)  # reading and migrating stay possible, so that it can be copied
        super()._begin(connection)

    def _refuse_network(self, name: str) -> None:
        """Refuse to write where the memory that the write-ahead log shares is of one machine alone."""
        if self._network:
            raise UsageError(
                f"{name}: is on a network file system ({self._network}), where SQLite loses rows of two "
                "machines; keep it on a local disk (grader export backup copies it there), or use "
                "PostgreSQL (docs/how-to/team-gradebook.md)"
            )

    def _before_commit(self) -> None:
        self._refuse_moved()

    def _refuse_moved(self) -> None:
        """Refuse to go on once another file, or none, has the path.

        SQLite would write on into the log beside the old path, which belongs to no file then: the rows are
        lost once this process is killed.
        """
        if self._is_open and _inode(self._path) != self._inode:
            raise NotObservedError(
                f"{self.name}: was moved, deleted or replaced while it was open, and nothing was written; "
                "put it back with its -wal file, or start again with the other one"
            )

    def _trouble(self, error: DBAPIError) -> tuple[type[GraderError], str]:
        words = str(error.orig)
        with suppress(OSError):
            disk = os.statvfs(self._path.absolute().parent)
            if disk.f_flag & os.ST_RDONLY and ("unable to open" in words or "readonly" in words):
                return _READ_ONLY
            if disk.f_bavail * disk.f_frsize < _ROOM and "I/O error" in words:
                return _FULL
        return super()._trouble(error)

    def backup(self, to: Path) -> None:
        """Copy the file by SQLite's backup API, which waits for no writer."""
        with (
            new_file(to) as beside,
            closing(sqlite3.connect(self._path)) as source,
            closing(sqlite3.connect(beside)) as target,
        ):
            source.backup(target)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Lock the file's folder by flock."""
        folder = self._path.absolute().parent
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError:
            raise NotObservedError(
                f"{show_path(folder)}: another grader is at work here; wait for it"
            ) from None
        finally:
            os.close(handle)

    def _connect(self) -> sqlite3.Connection:
        # transactions begin by statements of ours: the driver would begin none before reading
        connection = sqlite3.connect(
            self._path, timeout=WAIT_S, isolation_level=None, check_same_thread=False
        )
        for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {setting}")
        return connection

    def _keep(self, _connection: Connection, number: int) -> str:
        """Copy the file beside itself: another connection still sees it as it was."""
        copy = self._path.with_name(f"{self._path.name}.before-migration-{number}")
        self.backup(copy)
        return show_path(copy)


def _inode(path: Path) -> tuple[int, int] | None:
    """Return device and inode of the file that a path leads to; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _is_gradebook(path: Path) -> bool:
    """Tell whether a file has the table of a gradebook's migrations, without a log or lock beside it."""
    address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            connection.execute(f"SELECT 1 FROM {APPLIED.name} LIMIT 1")  # noqa: S608 - a constant
    except sqlite3.Error:
        return False
    return True


@contextmanager
def new_file(to: Path) -> Iterator[Path]:
    """Yield an empty file that takes the place of `to` in the end, readable by its owner alone.

    Raises:
        UsageError: no file can be there, or one is that is neither empty nor a gradebook.
        NotObservedError: it cannot be written; the disk is full, for example.
    """
    if to.exists() and not (to.is_file() or to.is_dir()):
        raise UsageError(f"{show_path(to)}: is no regular file; name another place")
    if to.is_file() and to.stat().st_size and not _is_gradebook(to):
        raise UsageError(f"{show_path(to)}: is there, and no gradebook; name another file for the copy")
    try:
        with replacing(to) as beside:
            os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            yield beside
    except OSError as error:
        raise obstacle(show_path(to), error) from None
    except sqlite3.Error as error:
        raise NotObservedError(
            f"{show_path(to)}: cannot be written ({error}); make room, or name another place"
        ) from None
