"""Archives that no program would write, and what receiving them must not do."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fuzz_case import Finding, check_line, mutated, remove

from grader.errors import SubmissionError, UsageError
from grader.intake.receive import receive
from grader.model.assignment import Assignment

COURSE = {
    "hw1": Assignment(name="hw1", title="", accepts=("*.py", "report.pdf")),
    "hw2": Assignment(name="hw2", title="", accepts=("src/*.cu", "*/*/*.h")),
}

GOOD = (
    *("utils.py", "src", "main.cu", "a.py", "x.h", "report.pdf", "hw1", "notes.txt", "b.cu", "README"),
    *("__MACOSX", ".git", "._utils.py", "old.zip", "conftest.py", "x.pth", "\N{PILE OF POO}.py", "utils.py."),
)
BAD = (
    *("..", ".", "", "/", "\\", "~", "C:", "\0", "\n", "\x1b[2J", "\udcff", "a" * 256, "\u2028", "-rf"),
    *("e\u0301", "é", "Utils.py", "SRC", "con", "/etc", "utils.py/", "\u202e"),
)
TYPES = (*b"0000000123456789ALKSVDMNXxg", 0, 255)
UNPACKED_TO: tuple[tuple[str, Callable[[bytes], bytes]], ...] = (
    (".tar", lambda data: data),
    (".tar", lambda data: data),
    (".tar.gz", lambda data: gzip.compress(data, 1, mtime=0)),
    (".tgz", lambda data: gzip.compress(data, 1, mtime=0)),
    (".tar.bz2", lambda data: bz2.compress(data, 1)),
    (".tar.xz", lambda data: lzma.compress(data, preset=0)),
)
FIELDS = (  # of a tar header: where and how long
    *((0, 100), (100, 8), (108, 8), (116, 8), (124, 12), (136, 12), (148, 8), (156, 1), (157, 100)),
    *((257, 6), (263, 2), (265, 32), (329, 8), (337, 8), (345, 155), (482, 1)),
)
NUMBERS = (
    b"0",
    b"-1",
    b"7777777777",
    b"\x80" + bytes(6) + b"\xff" * 4,
    b"\xff" * 12,
    b"9",
    b"1_0",
    b" 12 ",
    b"",
)
ZIP_MARKS = (b"PK\3\4", b"PK\1\2", b"PK\5\6")


def make_archive(rng: random.Random) -> tuple[str, bytes]:
    """An archive that nobody's program would write."""
    ending, data = _packed(rng)
    if rng.random() < 0.6:
        data = mutated(data, rng, _packed(rng)[1] if rng.random() < 0.3 else b"")
    if rng.random() < 0.05:
        ending = rng.choice((".zip", ".tar.gz", ".tar", ".tar.xz", ".rar", "", ".tar-2.gz"))
    student = rng.choice(
        ("alice",) * 8 + ("a+b", "doejane_LATE_12_34_hw1-2", "Jane Doe_7_assignsubmission_file_x")
    )
    return f"{student}{ending}", data


def _packed(rng: random.Random) -> tuple[str, bytes]:
    if rng.random() < 0.35:
        return ".zip", _zip(rng)
    data = _tar(rng)
    if rng.random() < 0.3:
        data = _edited_headers(data, rng)
    if rng.random() < 0.1:
        data = mutated(data, rng)
    ending, pack = rng.choice(UNPACKED_TO)
    return ending, pack(data)


def _files(rng: random.Random) -> list[tuple[str, bytes]]:
    files = [
        ("utils.py", b"x = 1\n" * rng.randrange(200)),
        ("hw1/main.py", rng.randbytes(rng.randrange(2000))),
    ]
    odd = rng.choice((0, 0, 0, 0.1, 0.5))
    for _ in range(rng.choice((0, 1, 2, 5, 30))):
        names = [
            rng.choice(BAD if rng.random() < odd else GOOD)
            for _ in range(rng.choice((1, 1, 2, 2, 3, 25 if odd else 4)))
        ]
        name = rng.choice(("/", "/", "/", "\\")).join(names)
        if name not in dict(files) or rng.random() < odd:
            files.append((name, rng.choice((b"", rng.randbytes(700), bytes(rng.choice((0, 5000, 3 << 20)))))))
    if rng.random() < 0.1:
        files.append((f"inner/{rng.choice(GOOD)}.zip", _zip(rng)))
    if rng.random() < 0.03:
        files *= 2
    rng.shuffle(files)
    return files


def _tar(rng: random.Random) -> bytes:
    packed = io.BytesIO()
    form = rng.choice((tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT))
    with tarfile.open(fileobj=packed, mode="w", format=form, errors="surrogateescape") as archive:
        for name, data in _files(rng):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            if rng.random() < 0.05:
                info.type = bytes([rng.choice(TYPES)])
                info.linkname = rng.choice(("/etc/passwd", "../../x", "utils.py", ".", "\n"))
            if rng.random() < 0.05 and form == tarfile.PAX_FORMAT:
                key = rng.choice(
                    ("path", "size", "linkpath", "GNU.sparse.major", "GNU.sparse.name", "comment", "mtime")
                )
                info.pax_headers = {
                    key: rng.choice(("", "-1", "99999999999", "../x", "a\nb", "x" * 5000, "3"))
                }
            try:
                archive.addfile(info, io.BytesIO(data))
            except (ValueError, UnicodeError):  # this form cannot hold the name
                continue
    return packed.getvalue()


def _edited_headers(data: bytes, rng: random.Random) -> bytes:
    """Some fields of some headers changed, in most cases with the sum made right."""
    changed = bytearray(data)
    headers = [at for at in range(0, len(data) - 511, 512) if data[at + 257 : at + 262] == b"ustar"]
    for at in rng.sample(headers, k=min(len(headers), rng.choice((1, 1, 2)))):
        start, length = rng.choice(FIELDS)
        value = rng.choice(
            (*NUMBERS, rng.randbytes(length), bytes([rng.choice(TYPES)]) * length, b"../" * 60)
        )
        changed[at + start : at + start + length] = value.ljust(length, b"\0")[:length]
        if rng.random() < 0.8:
            changed[at + 148 : at + 156] = b" " * 8
            changed[at + 148 : at + 156] = b"%06o\0 " % sum(changed[at : at + 512])
    return bytes(changed)


def _zip(rng: random.Random) -> bytes:
    packed = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(packed, "w") as archive:
        warnings.simplefilter("ignore")
        for name, data in [("utils.py", b"x = 1\n")] if rng.random() < 0.2 else _files(rng):
            info = zipfile.ZipInfo(name.encode("utf-8", "replace").decode() or "x")
            info.compress_type = rng.choice((0, 8, 8, 8, 12, 14)) if rng.random() < 0.1 else 8
            if rng.random() < 0.1:
                info.external_attr = rng.randrange(1 << 32)
            if rng.random() < 0.05:
                info.extra = rng.choice(
                    (b"\1\0\x10\0" + b"\xff" * 16, b"\1\0\0\0", rng.randbytes(12), b"up\5\0abcde")
                )
            archive.writestr(info, data)
    changed = bytearray(packed.getvalue())
    if rng.random() < 0.4:
        mark = rng.choice(ZIP_MARKS)
        places = [at for at in range(len(changed)) if changed.startswith(mark, at)]
        at = rng.choice(places) + rng.randrange(4, 46)
        length = rng.choice((1, 2, 4))
        changed[at : at + length] = rng.choice((bytes(length), b"\xff" * length, rng.randbytes(length)))
    return bytes(changed)


def probe_archive(source: Path, take: Callable[..., Any] = receive) -> str:
    """Receive it; what it left in the workspace is looked at and removed."""
    workspace = source.parent / "out" / "workspace"
    try:
        got = take(source, assignments=COURSE, workspace=workspace)
    except (SubmissionError, UsageError) as error:
        for line in error.problems:
            check_line(line)
        if len(error.problems) != 1:
            raise Finding(f"refused with {len(error.problems)} lines: {error.problems}") from None
        return type(error).__name__
    found = sorted(path for path in workspace.rglob("*") if not path.is_dir())
    if any(path.is_symlink() or not path.is_file() for path in found):
        raise Finding(f"something that is no plain file: {found}")
    if tuple(str(path.relative_to(workspace)) for path in found) != tuple(sorted(got.files)):
        raise Finding(f"holds {found}, says {got.files}")
    if "/" in got.student or got.student.startswith("."):
        raise Finding(f"a student called {got.student!r}")
    remove(workspace)
    workspace.parent.rmdir()
    return "accepted"
