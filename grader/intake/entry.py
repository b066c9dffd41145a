"""What the readers of archives and folders yield, and how they say no."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

Read = Callable[[int], bytes]
"""Up to that many bytes, fewer at the end, then none."""


class Refused(Exception):
    """Why a hand-in is not taken and what to do about it, in one line without the archive's name."""


class Kind(StrEnum):
    """What a member of an archive is, in the words of a refusal."""

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


def nothing(_size: int) -> bytes:
    """Read from something without contents."""
    return b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One member as a reader found it: nothing of it has been checked."""

    name: str
    """As written; bytes that are not UTF-8 are surrogates."""
    kind: Kind
    read: Read = nothing
    target: str = ""
    """Where a link points."""


def counted(members: Iterable[Member], count: Callable[[bytes], bytes]) -> Iterator[Member]:
    """The same members, with what is read of them passed through `count`."""
    for member in members:
        yield replace(member, read=_passed(member.read, count))


def _passed(read: Read, count: Callable[[bytes], bytes]) -> Read:
    return lambda size: count(read(size))


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One file of a hand-in, with a path that is safe below any folder."""

    path: str
    """Relative, `/` between its parts, in Unicode's composed form (NFC)."""
    read: Read
    """Only until the next entry is asked for."""
    junk: str = ""
    """For what is nobody's work: the part of `path` to list, such as `hw1/.git/`."""
