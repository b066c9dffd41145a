"""The files of a folder that is handed in as it lies."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from grader.errors import UsageError
from grader.intake.entry import Kind, Member, Read
from grader.intake.junk import junk_part

_KINDS = {
    stat.S_IFREG: Kind.FILE,
    stat.S_IFDIR: Kind.FOLDER,
    stat.S_IFLNK: Kind.SYMBOLIC_LINK,
    stat.S_IFBLK: Kind.DEVICE,
    stat.S_IFCHR: Kind.DEVICE,
    stat.S_IFIFO: Kind.PIPE,
    stat.S_IFSOCK: Kind.SOCKET,
}


def members(top: Path) -> Iterator[Member]:
    """Each file and folder below, sorted, parents first; no link is followed, junk is not looked into.

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
            if member.kind is Kind.FOLDER and not junk_part(member.name):
                waiting.append(member.name)


def _member(top: Path, name: str) -> Member:
    try:
        kind = _KINDS.get(stat.S_IFMT(os.lstat(top / name).st_mode), Kind.UNKNOWN)
        target = str(Path.readlink(top / name)) if kind is Kind.SYMBOLIC_LINK else ""
    except OSError as error:
        raise _unreadable(top / name, error) from None
    if kind is Kind.FOLDER:
        return Member(name=f"{name}/", kind=kind)
    return Member(name=name, kind=kind, target=target, read=reading(top / name))


def reading(path: Path) -> Read:
    """Reads a file piece by piece, holds it open for no longer than one piece, and follows no link.

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
