"""The members of a tar stream: ustar, pax, GNU and the old Unix form.

The standard library's `tarfile` is not used: an archive whose middle is damaged or cut off reads as a
shorter one without an error, and in Python 3.11.7 a hostile pax header of 80 kB keeps it busy for 6 s
(quadratic: 1 MB, 15 minutes).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from grader.intake.entry import Member, MemberKind, Read, SubmissionRefused

BLOCK = 512
_CHUNK = 1 << 16
_EXTENSION_BYTES = 1 << 20
"""The longest extended header; macOS stores file attributes of a few kB there."""
_EXTENSIONS_IN_A_ROW = 8
"""Extended headers before one member; honest ones have three, half a million take 10 s to read."""

_DAMAGED = "is damaged; pack the files again"
CUT_OFF = "is cut off; upload the whole file again"

_KINDS = {
    b"\0": MemberKind.FILE,
    b"0": MemberKind.FILE,
    b"7": MemberKind.FILE,
    b"1": MemberKind.HARD_LINK,
    b"2": MemberKind.SYMBOLIC_LINK,
    b"3": MemberKind.DEVICE,
    b"4": MemberKind.DEVICE,
    b"5": MemberKind.FOLDER,
    b"6": MemberKind.PIPE,
    b"S": MemberKind.SPARSE,
}
_WITHOUT_DATA = b"123456"
"""Types whose size field is not followed by that much data."""


def is_tar(start: bytes) -> bool:
    """Tell whether these first bytes are a tar header, or the end mark of an empty archive."""
    return len(start) >= BLOCK and (not any(start[:BLOCK]) or _sum_agrees(start[:BLOCK]))


def members(read: Read) -> Iterator[Member]:
    """Yield each member in turn; its data can be read until the next one is asked for.

    Raises:
        SubmissionRefused: the stream is damaged or ends early.
    """
    fields: dict[str, bytes] = {}
    extensions = 0
    while any(header := _exactly(read, BLOCK)):
        try:
            if not _sum_agrees(header):
                raise SubmissionRefused(_DAMAGED)
            size, flag = _number(header[124:136]), header[156:157]
            if parse := _EXTENSIONS.get(flag):
                extensions += 1
                if extensions > _EXTENSIONS_IN_A_ROW:
                    raise SubmissionRefused(_DAMAGED)
                fields |= parse(_extension(read, size))
                continue
            size = int(fields.get("size", size))
            if size < 0:
                raise SubmissionRefused(_DAMAGED)
        except ValueError:
            raise SubmissionRefused(_DAMAGED) from None
        name = fields.get("path", _name(header))
        kind = _KINDS.get(flag, MemberKind.UNKNOWN)
        if any(key.startswith("GNU.sparse") for key in fields):
            kind = MemberKind.SPARSE
        elif flag == b"\0" and name.endswith(b"/"):
            kind = MemberKind.FOLDER
        data = _Data(read, 0 if flag in _WITHOUT_DATA else size)
        target = fields.get("linkpath", _text(header[157:257]))
        yield Member(name=_decoded(name), kind=kind, read=data.read, target=_decoded(target))
        data.skip()
        fields, extensions = {}, 0


class _Data:
    """The data of one member, and the padding after it."""

    def __init__(self, read: Read, size: int) -> None:
        self._read = read
        self._left = size
        self._padding = -size % BLOCK

    def read(self, size: int) -> bytes:
        data = _exactly(self._read, min(size, self._left))
        self._left -= len(data)
        return data

    def skip(self) -> None:
        while self._left:
            self.read(_CHUNK)
        _exactly(self._read, self._padding)


def _exactly(read: Read, size: int) -> bytes:
    data = read(size) if size else b""
    if len(data) < size:
        raise SubmissionRefused(CUT_OFF)
    return data


def _extension(read: Read, size: int) -> bytes:
    if size > _EXTENSION_BYTES:
        raise SubmissionRefused(_DAMAGED)
    data = _exactly(read, size)
    _exactly(read, -size % BLOCK)
    return data


def _pax(data: bytes) -> dict[str, bytes]:
    """Parse the records of an extended header, each `<its own length> key=value` and a line end."""
    fields: dict[str, bytes] = {}
    at = 0
    while at < len(data) and data[at]:
        length = data[at : at + 20].partition(b" ")[0]
        start, at = at + len(length) + 1, at + int(length)
        key, equals, value = data[start:at].partition(b"=")
        if not (length.isdigit() and at <= len(data) and equals and value.endswith(b"\n")):
            raise SubmissionRefused(_DAMAGED)
        fields[key.decode(errors="replace")] = value[:-1]
    return fields


def _global_pax(data: bytes) -> dict[str, bytes]:
    """Accept a global header with comments, as git writes them; names or sizes have no honest use there."""
    if _pax(data).keys() & {"path", "linkpath", "size"}:
        raise SubmissionRefused(_DAMAGED)
    return {}


_EXTENSIONS: dict[bytes, Callable[[bytes], dict[str, bytes]]] = {
    b"x": _pax,
    b"X": _pax,
    b"g": _global_pax,
    b"L": lambda data: {"path": data.removesuffix(b"\0")},
    b"K": lambda data: {"linkpath": data.removesuffix(b"\0")},
}


def _name(header: bytes) -> bytes:
    name, prefix = _text(header[:100]), _text(header[345:500])
    # GNU's own form, with a blank in the magic, keeps times where POSIX keeps the prefix.
    return prefix + b"/" + name if prefix and header[257:263] == b"ustar\0" else name


def _text(field: bytes) -> bytes:
    return field.partition(b"\0")[0]


def _decoded(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


def _number(field: bytes) -> int:
    """Octal digits, or GNU's binary form for what they cannot hold.

    Raises:
        ValueError: it is neither.
    """
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    digits = _text(field).strip() or b"0"
    if not digits.isdigit():
        raise ValueError(field)
    return int(digits, 8)


def _sum_agrees(header: bytes) -> bool:
    try:
        return sum(header[:148]) + 8 * ord(" ") + sum(header[156:]) == _number(header[148:156])
    except ValueError:
        return False
