"""Whom a student's process becomes: an ordinary user that nobody else on the machine is at the time."""

from __future__ import annotations

import socket
from functools import cache
from pathlib import Path

from grader.errors import NotObservedError

UIDS = range(60578, 60706)
"""No distribution gives these to anybody, and they exist in the usual maps of containers."""

_SETGID, _SETUID, _SYS_ADMIN = 6, 7, 21


def may_mount() -> bool:
    """Whether we may mount and make namespaces as we are; who is root in a container often may not."""
    return _have(_SYS_ADMIN)


def student_uid() -> int | None:
    """A uid that this process has for itself until it ends; None for who can only stay who he is.

    The kernel counts processes per user: two examiners that shared one would share the limit.

    Raises:
        NotObservedError: all of them are taken.
    """
    return _lease() if _have(_SETUID) and _have(_SETGID) and _mapped() else None


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
        f"sandbox: all users from {UIDS[0]} to {UIDS[-1]} are taken by other examiners; try again later"
    )


@cache
def _have(capability: int) -> bool:
    lines = Path("/proc/self/status").read_text().splitlines()
    effective = next(line.split()[1] for line in lines if line.startswith("CapEff:"))
    return bool(int(effective, 16) >> capability & 1)


@cache
def _mapped() -> bool:
    """Whether these users exist in the user namespace that we are in."""
    spans = [list(map(int, line.split())) for line in Path("/proc/self/uid_map").read_text().splitlines()]
    return any(first <= UIDS[0] and UIDS[-1] < first + count for first, _, count in spans)
