"""Allocates an unprivileged uid that no other grader process is using."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from grader.errors import NotObservedError, RootError

UIDS = range(60578, 60706)
"""Uids that no distribution assigns, and that exist in the usual uid maps of containers."""

_SETGID, _SETUID, _SYS_ADMIN = 6, 7, 21
_OR = "run grader as an ordinary user"


def may_mount() -> bool:
    """Tell whether we may mount and make namespaces (CAP_SYS_ADMIN); root in a container often may not."""
    return _have(_SYS_ADMIN)


def is_root() -> bool:
    """Tell whether we are root outside of user namespaces."""
    return os.geteuid() == 0 and _spans()[0][:2] == (0, 0)


def student_uid(folders: Iterable[str] = ()) -> int | None:
    """Lease a uid for this process until it ends; None for an ordinary user, who keeps its own.

    `folders` are what that user must be able to read. The kernel counts processes per user: two workers
    that shared one would share the limit.

    Raises:
        RootError: we are root and there is nobody else to become.
        NotObservedError: all of them are taken.
    """
    why = _why_nobody(folders)
    if not why:
        return _lease()
    if is_root():
        raise RootError(f"a program of a student would run as root here: {why}")
    return None


def _why_nobody(folders: Iterable[str]) -> str:
    """Return why we cannot become one of these users, with advice; empty if we can."""
    if not (_have(_SETUID) and _have(_SETGID)):
        return f"root may not become another user (CAP_SETUID, CAP_SETGID); allow it, or {_OR}"
    if not _mapped():
        return f"the users from {UIDS[0]} to {UIDS[-1]} do not exist in this container; map them, or {_OR}"
    for folder in folders:
        if closed := _closed(folder):
            return (
                f"no other user can read {folder}, because of {closed}; put it where all may read, "
                f"such as below /opt or /srv, or {_OR}"
            )
    return ""


def _closed(folder: str) -> str:
    """Return the first parent folder that is not open to all; empty if any user may read the folder."""
    path = Path(folder).resolve()
    for above in reversed(path.parents):
        if not above.stat().st_mode & stat.S_IXOTH:
            return str(above)
    return "" if path.stat().st_mode & 0o005 == 0o005 else str(path)


@cache
def _lease() -> int:
    for uid in UIDS:
        lease = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            lease.bind(f"\0grader-student-{uid}")
        except OSError:
            lease.close()
            continue
        lease.detach()  # the name is free again when this process has ended, however it ends
        return uid
    raise NotObservedError(
        f"sandbox: all users from {UIDS[0]} to {UIDS[-1]} are taken by other workers; try again later"
    )


@cache
def _have(capability: int) -> bool:
    lines = Path("/proc/self/status").read_text().splitlines()
    effective = next(line.split()[1] for line in lines if line.startswith("CapEff:"))
    return bool(int(effective, 16) >> capability & 1)


def _mapped() -> bool:
    """Tell whether these uids are mapped in our user namespace."""
    return any(first <= UIDS[0] and UIDS[-1] < first + count for first, _, count in _spans())


def _spans() -> list[tuple[int, int, int]]:
    """Read the uid map of our user namespace: first uid inside, first uid outside, and count of each span."""
    lines = Path("/proc/self/uid_map").read_text().splitlines()
    return sorted((int(first), int(outside), int(count)) for first, outside, count in map(str.split, lines))
