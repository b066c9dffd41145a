"""The members of a zip archive."""

from __future__ import annotations

import errno
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from struct import error as StructError
from typing import IO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from grader.intake.entry import KINDS_BY_MODE, Member, MemberKind, SubmissionRefused

_DAMAGED = "is damaged or cut off; pack the files again and upload the whole file"
_DIRECTORY_BYTES = 4 << 20
"""The longest table of contents that is read: for 10 000 paths of 255 bytes, and 35 MB of memory at most."""
_TARGET_BYTES = 255
_ENCRYPTED = 0x1

_KINDS = {0: MemberKind.FILE, **KINDS_BY_MODE}


def members(file: IO[bytes]) -> Iterator[Member]:
    """Yield each member in turn, in the order of the table of contents.

    Raises:
        SubmissionRefused: the archive is damaged or cut off, or its table of contents is absurdly long.
    """
    with _damage_refused():
        archive = ZipFile(_Bounded(file))
    with archive:
        for info in archive.infolist():
            yield _member(archive, info)


def _member(archive: ZipFile, info: ZipInfo) -> Member:
    # `filename` is cut at a NUL; `orig_filename` is what the archive says.
    name, kind = info.orig_filename, _kind(info)
    contents = _Contents(archive, info)
    if kind is MemberKind.SYMBOLIC_LINK:
        target = contents.read(_TARGET_BYTES).decode("utf-8", "replace")
        return Member(name=name, kind=kind, target=target)
    return Member(name=name, kind=kind, read=contents.read)


def _kind(info: ZipInfo) -> MemberKind:
    if info.orig_filename.endswith(("/", "\\")):
        return MemberKind.FOLDER
    if info.flag_bits & _ENCRYPTED:
        return MemberKind.ENCRYPTED
    # The other methods unpack without a bound on memory in one step.
    if info.compress_type not in {ZIP_STORED, ZIP_DEFLATED}:
        return MemberKind.ODDLY_PACKED
    return _KINDS.get(stat.S_IFMT(info.external_attr >> 16), MemberKind.UNKNOWN)


@contextmanager
def _damage_refused() -> Iterator[None]:
    """Translate what the standard library's reader raises over bytes that are no sound archive."""
    try:
        yield
    except (BadZipFile, StructError, zlib.error, EOFError, ValueError, NotImplementedError, OverflowError):
        raise SubmissionRefused(_DAMAGED) from None
    except OSError as error:
        # A position before the start of the file; anything else is the disk's trouble.
        if error.errno != errno.EINVAL:
            raise
        raise SubmissionRefused(_DAMAGED) from None


class _Contents:
    """One member's data, opened when it is first read."""

    def __init__(self, archive: ZipFile, info: ZipInfo) -> None:
        self._archive = archive
        self._info = info
        self._file: IO[bytes] | None = None

    def read(self, size: int) -> bytes:
        with _damage_refused():
            if self._file is None:
                self._file = self._archive.open(self._info)
            return self._file.read(size)


class _Bounded:
    """A file that gives no more at once than a reasonable table of contents needs."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.seek = file.seek
        self.tell = file.tell
        self.seekable = file.seekable

    def read(self, size: int = -1) -> bytes:
        if size > _DIRECTORY_BYTES:
            raise SubmissionRefused(
                "has a table of contents longer than any homework's; hand in the source files only"
            )
        return self._file.read(size)
