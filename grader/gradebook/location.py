"""Opening a gradebook's database by its location: a file, or a URL."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from grader.errors import UsageError
from grader.gradebook.database import Database
from grader.gradebook.sqlite import SqliteFile


def open_database(location: str | Path, *, create: bool = False) -> Database:
    """Open a file or a URL; see `Database` for errors.

    Raises:
        UsageError: no gradebook can be in a database of this kind.
    """
    if isinstance(location, Path) or "://" not in location:
        return SqliteFile(Path(location), create=create)
    try:
        url = make_url(location)
    except (ArgumentError, ValueError):
        raise UsageError("the gradebook's address is no URL; write postgresql://HOST/NAME") from None
    if url.get_backend_name() == "sqlite" and url.database:
        return SqliteFile(Path(url.database), create=create)
    if url.get_backend_name() == "postgresql":
        from grader.gradebook.postgresql import PostgresqlDatabase

        return PostgresqlDatabase(url, create=create)
    raise UsageError(f"{url}: cannot hold a gradebook; name a file or postgresql://HOST/NAME")
