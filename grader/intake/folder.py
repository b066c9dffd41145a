"""Reads an upload that is a plain folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from grader.errors import UsageError
from grader.intake.entry import KINDS_BY_MODE, Member, MemberKind, Read
from grader.intake.junk import junk_part


def members(top: Path) -> Iterator[Member]:
    """Yield each file and folder below `top`, sorted, parents first; links and junk are not entered.

    Raises:
        UsageError: something in it cannot be read.
    """
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            names = sorted(path.name for path in (top / folder).iterdir())
        except OSError as error:
            raise _unreadable(top / folder, error) from None
        for name in names:
            member = _member(top, f"{folder}{name}")
            yield member
            if member.kind is MemberKind.FOLDER and not junk_part(member.name):
                waiting.append(member.name)


def _member(top: Path, name: str) -> Member:
    try:
        kind = KINDS_BY_MODE.get(stat.S_IFMT(os.lstat(top / name).st_mode), MemberKind.UNKNOWN)
        target = str(Path.readlink(top / name)) if kind is MemberKind.SYMBOLIC_LINK else ""
    except OSError as error:
        raise _unreadable(top / name, error) from None
    if kind is MemberKind.FOLDER:
        return Member(name=f"{name}/", kind=kind)
    return Member(name=name, kind=kind, target=target, read=reading(top / name))


def reading(path: Path) -> Read:
    """Return a reader that opens the file for each piece (O_NOFOLLOW), so that few descriptors are open.

    The reader raises `UsageError` if the file cannot be read.
    """
    at = 0

    def read(size: int) -> bytes:
        nonlocal at
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                data = os.pread(descriptor, size, at)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise _unreadable(path, error) from None
        at += len(data)
        return data

    return read


def _unreadable(path: Path, error: OSError) -> UsageError:
    return UsageError(f"{path}: cannot be read ({error.strerror}); see to it that it can")
