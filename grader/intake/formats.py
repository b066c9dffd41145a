"""Supported archive formats, recognised by content and then checked against the file name."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from io import BufferedIOBase
from typing import IO

from grader.intake.entry import Member, Read, SubmissionRefused, counted
from grader.intake.limits import UnpackMeter
from grader.intake.tar import BLOCK, CUT_OFF, is_tar
from grader.intake.tar import members as tar_members

CHUNK = 1 << 16

Unpack = Callable[[IO[bytes]], tuple[BufferedIOBase, type[Exception]]]
"""Returns the decompressor, and the exception beside OSError and EOFError that damaged data raises."""


def _gzip(file: IO[bytes]) -> tuple[BufferedIOBase, type[Exception]]:
    from gzip import GzipFile

    return GzipFile(fileobj=file, mode="rb"), zlib.error


def _bz2(file: IO[bytes]) -> tuple[BufferedIOBase, type[Exception]]:
    from bz2 import BZ2File

    return BZ2File(file), EOFError


def _xz(file: IO[bytes]) -> tuple[BufferedIOBase, type[Exception]]:
    from lzma import LZMAError

    from grader.intake.xz import XzFile

    return XzFile(file), LZMAError


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One archive format, recognised by its first bytes."""

    endings: tuple[str, ...]
    """Endings of its file names; messages recommend the first."""
    magic: tuple[bytes, ...] = ()
    unpack: Unpack | None = None


ZIP = Format(endings=(".zip",), magic=(b"PK\3\4", b"PK\5\6"))
TAR = Format(endings=(".tar",))
FORMATS = (
    Format(endings=(".tar.gz", ".tgz"), magic=(b"\x1f\x8b",), unpack=_gzip),
    ZIP,
    Format(endings=(".tar.bz2",), magic=(b"BZh",), unpack=_bz2),
    Format(endings=(".tar.xz",), magic=(b"\xfd7zXZ\0",), unpack=_xz),
    TAR,
)
ENDINGS = tuple(ending for form in FORMATS for ending in form.endings)
_NUMBERED = re.compile(r"(\.tar)(-[0-9]+)(\.[^.]+)$", re.IGNORECASE)
_TAKEN = "pack the files as .tar.gz or .zip"

_STRANGERS = {
    b"Rar!": "a RAR archive",
    b"7z\xbc\xaf\x27\x1c": "a 7-Zip archive",
    b"\x28\xb5\x2f\xfd": "packed with zstd",
}


def split_ending(name: str) -> tuple[str, str]:
    """Split a file name into stem and archive ending, which is empty if it has none.

    Canvas numbers files of one name before their ending, which it took to be `.gz`: `hw1.tar-2.gz` is
    `hw1-2` and `.tar.gz`.
    """
    name = _NUMBERED.sub(r"\2\1\3", name)
    ending = next((ending for ending in ENDINGS if name.lower().endswith(ending)), "")
    return name[: len(name) - len(ending)], ending


def members(file: IO[bytes], name: str, meter: UnpackMeter, stack: ExitStack) -> Iterator[Member]:
    """Yield the members of an archive of any format; `stack` closes the files opened for it.

    Raises:
        SubmissionRefused: it is no archive, or unsound, or not what its name says.
    """
    form, read = _recognised(file, name, meter, stack)
    if split_ending(name)[1] not in form.endings:
        packed_as = form.endings[0]
        raise SubmissionRefused(f"is a {packed_as} archive by another name; let its name end in {packed_as}")
    if form is ZIP:
        from grader.intake.zip import members as zip_members

        yield from counted(zip_members(file), meter.count)
        return
    yield from tar_members(read)
    # What follows the last member is read as well: only at its end does gzip tell that all is sound.
    while read(CHUNK):
        pass


def _recognised(file: IO[bytes], name: str, meter: UnpackMeter, stack: ExitStack) -> tuple[Format, Read]:
    """Recognise the format by content; return it with a reader of its tar stream."""
    start = file.read(BLOCK)
    file.seek(0)
    if not start:
        raise SubmissionRefused("is empty (0 bytes); upload the file again")
    # First, because a tar begins with the name of its first file, which may be anything.
    if is_tar(start):
        return TAR, lambda size: meter.count(file.read(size))
    for form in FORMATS:
        if start.startswith(form.magic):
            if form.unpack is None:
                return form, file.read
            read = _unpacked(form.unpack, file, meter, stack)
            if is_tar(first := read(BLOCK)):
                return form, _after(first, read)
            raise SubmissionRefused(f"is compressed but holds no tar archive; {_TAKEN}")
    what = next((what for magic, what in _STRANGERS.items() if start.startswith(magic)), "no archive")
    despite = ", whatever its name says" if split_ending(name)[1] else ""
    raise SubmissionRefused(f"is {what}{despite}; {_TAKEN}")


def _unpacked(unpack: Unpack, file: IO[bytes], meter: UnpackMeter, stack: ExitStack) -> Read:
    unpacked, damage = unpack(file)
    stack.enter_context(unpacked)

    def read(size: int) -> bytes:
        try:
            return meter.count(unpacked.read(size))
        except EOFError:
            raise SubmissionRefused(CUT_OFF) from None
        except (OSError, damage, MemoryError) as error:
            # An error number is the disk's; the decompressors raise OSError without one.
            if getattr(error, "errno", None) is not None:
                raise
            raise SubmissionRefused("is damaged; pack the files again") from None

    return read


def _after(first: bytes, read: Read) -> Read:
    """Reads `first`, one block, and then the rest."""
    waiting = [first]
    return lambda size: waiting.pop() if waiting else read(size)
