"""A gradebook's location: a file, or the URL of a database."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from grader.errors import UsageError
from grader.gradebook.database import Backend
from grader.gradebook.sqlite import SqliteFile


def backend_of(location: str | Path) -> Backend:
    """Return what opens a file or a URL.

    Raises:
        UsageError: no gradebook can be in a database of this kind, or its driver is not installed.
    """
    if isinstance(location, Path) or "://" not in location:
        return SqliteFile(Path(location))
    try:
        url = make_url(location)
    except ArgumentError:
        raise UsageError("the gradebook's address is no URL; write postgresql://HOST/NAME") from None
    if url.get_backend_name() == "sqlite" and url.database:
        return SqliteFile(Path(url.database))
    if url.get_backend_name() == "postgresql":
        from grader.gradebook.postgresql import PostgresqlServer

        return PostgresqlServer(url)
    raise UsageError(f"{url}: cannot hold a gradebook; name a file or postgresql://HOST/NAME")
