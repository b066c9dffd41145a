"""Members and files that readers of archives and folders yield, and the exception for refusals."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

Read = Callable[[int], bytes]
"""Reads up to that many bytes, fewer at the end, then none."""


class SubmissionRefused(Exception):
    """A submission is refused: one line with the cause and advice, without the archive's name."""


class MemberKind(StrEnum):
    """The type of an archive member, as refusals name it."""

    FILE = "a file"
    FOLDER = "a folder"
    SYMBOLIC_LINK = "a symbolic link"
    HARD_LINK = "a hard link"
    DEVICE = "a device"
    PIPE = "a named pipe"
    SOCKET = "a socket"
    SPARSE = "a sparse file"
    ENCRYPTED = "an encrypted file"
    ODDLY_PACKED = "a file that is packed in an unusual way"
    UNKNOWN = "something that is no file"


KINDS_BY_MODE = {
    stat.S_IFREG: MemberKind.FILE,
    stat.S_IFDIR: MemberKind.FOLDER,
    stat.S_IFLNK: MemberKind.SYMBOLIC_LINK,
    stat.S_IFBLK: MemberKind.DEVICE,
    stat.S_IFCHR: MemberKind.DEVICE,
    stat.S_IFIFO: MemberKind.PIPE,
    stat.S_IFSOCK: MemberKind.SOCKET,
}
"""By the file type of a mode (stat(2))."""


def nothing(_size: int) -> bytes:
    """Read from something without contents."""
    return b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One member of an archive, unchecked."""

    name: str
    """As written; bytes that are not UTF-8 are surrogates."""
    kind: MemberKind
    read: Read = nothing
    target: str = ""
    """The target of a link."""


def counted(members: Iterable[Member], count: Callable[[bytes], bytes]) -> Iterator[Member]:
    """Yield the members with their data passed through `count`."""
    for member in members:
        yield replace(member, read=_passed(member.read, count))


def _passed(read: Read, count: Callable[[bytes], bytes]) -> Read:
    return lambda size: count(read(size))


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveFile:
    """One file of a submission, with a path that is safe below any folder."""

    path: str
    """Relative, `/` between its parts, in Unicode's composed form (NFC)."""
    read: Read
    """Valid until the next file is yielded."""
    junk: str = ""
    """The part of `path` to list if the file is junk, such as `hw1/.git/`; empty otherwise."""
