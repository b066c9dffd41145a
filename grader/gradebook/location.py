"""Opening a gradebook's database by its location: a file, or a URL."""

from __future__ import annotations

import re
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from grader.errors import UsageError
from grader.gradebook.database import Database
from grader.gradebook.sqlite import SqliteFile

_SECRET = re.compile(r"pass|secret|token", re.IGNORECASE)
_CONNINFO = re.compile(r"(?:^|\s)(?:host|hostaddr|dbname|user|password|passfile|service)\s*=", re.IGNORECASE)
"""The keys of a connection string of libpq, which is no URL."""
_ALMOST_URL = re.compile(r"postgres\w*:|[^/\s:@]+:[^\s@]*@", re.IGNORECASE)
"""A URL without its `//`, or without what stands before that: `postgresql:/…`, `ada:…@host/grades`."""
_WRITE = "write postgresql://HOST/NAME, and the password into ~/.pgpass or PGPASSWORD"


def open_database(location: str | Path, *, create: bool = False) -> Database:
    """Open a file or a URL; see `Database` for errors.

    Raises:
        UsageError: no gradebook can be in a database of this kind, or a password is in the URL, which
            everybody on the machine can read in the list of processes; no message repeats it.
    """
    if "://" not in str(location) and _CONNINFO.search(str(location)):
        raise UsageError(f"the gradebook's address is a connection string of libpq; {_WRITE}")
    if "://" not in str(location) and _ALMOST_URL.match(str(location).lstrip("/")):
        raise UsageError(f"the gradebook's address is no URL; {_WRITE}")
    if isinstance(location, Path) or "://" not in location:
        return SqliteFile(Path(location), create=create)
    try:
        url = make_url(location)
    except (ArgumentError, ValueError):
        raise UsageError(f"the gradebook's address is no URL; {_WRITE}") from None
    if _has_secret(url):
        raise UsageError(f"the gradebook's address has a password in it; {_WRITE}")
    if url.get_backend_name() == "sqlite" and url.database:
        return SqliteFile(Path(url.database), create=create)
    if url.get_backend_name() == "postgresql":
        from grader.gradebook.postgresql import PostgresqlDatabase

        return PostgresqlDatabase(url, create=create)
    raise UsageError(f"{url}: cannot hold a gradebook; name a file or postgresql://HOST/NAME")


def _has_secret(url: URL) -> bool:
    """Tell whether a URL has a password, or a part of one that was taken for the host or the database."""
    names = (name for name in url.query if name != "passfile")
    parts = (url.host or "", url.database or "")
    return bool(url.password) or any("@" in part for part in parts) or any(map(_SECRET.search, names))
