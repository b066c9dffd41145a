"""The origin of a row: the account that adds it, and the time by the clock that all writers share."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from sqlalchemy import Connection, text

from grader.machine.notes import login

_SERVER_TIME = text(
    "SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS') || '+00:00'"
)


def account() -> str:
    """Return the login name and the machine of this process, as `ada@gpu3`; no variable can change it."""
    return f"{login()}@{host()}"


def host() -> str:
    """Return the name of this machine."""
    return os.uname().nodename


def now(connection: Connection) -> str:
    """Return the time of a row: ISO 8601, UTC, whole seconds.

    On a server it is the server's: hosts whose clocks differ would write a history out of order.
    """
    if connection.dialect.name == "postgresql":
        return str(connection.scalar(_SERVER_TIME))
    return local_time()


def local_time() -> str:
    """Return the time by the clock of this machine."""
    return datetime.now(UTC).isoformat(timespec="seconds")
