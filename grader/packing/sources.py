"""Source format of the course's own submissions, one folder each below `tests/submissions`.

The folder holds `expected.yaml` and, below `files/`, what the student hands in. In `expected.yaml`
`base: NAME` lays these files over those of another submission. Beside it may lie

* `NAME.txt`, a report that is handed in as NAME.pdf;
* `NAME.docx/`, the parts of a Word document, which are handed in as NAME.docx;
* `without.txt`, naming files of the base, one a line, that are not handed in, or `PATH -> PATH` elsewhere;
* `binaries.txt`, naming files, one a line, that are handed in as if a compiler had made them;
* `changes.yaml`, replacements in files of the base: for each file a list of `was` and `is`.
"""

from __future__ import annotations

import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from grader.config.problem import suggestion
from grader.config.yaml_source import read_yaml
from grader.errors import CourseError, UsageError
from grader.files import show_path
from grader.intake.names import SENDER_NAMES, sender_of
from grader.packing.archives import zip_file
from grader.packing.handouts import is_left_behind
from grader.packing.pdf import pdf

EXPECTED = "expected.yaml"
CHANGES = "changes.yaml"
LISTS = frozenset({"without.txt", "binaries.txt"})
BINARY = b"\x7fELF\x02\x01\x01" + bytes(57)
"""The head of a file in ELF, with nothing behind it: whoever loads it fails."""


def files_of(folder: Path) -> dict[str, bytes]:
    """Collect the files of one submission: content by path, sorted by path.

    Raises:
        CourseError: its name can be no student's and it is not to be refused, or it has no files, or names a
            base that is not there or has a base itself, or the base does not have what is to be left out or
            changed.
    """
    try:
        sender_of(f"{folder.name}.tar.gz")
    except UsageError:
        if not expected(folder).get("refused"):
            _wrong(folder, f"is called as nobody can be who hands in; rename it: {SENDER_NAMES}")
    files = _of_base(folder)
    files.update(dict.fromkeys(_lines(folder / "binaries.txt"), BINARY))
    for report in folder.glob("*.txt"):
        if report.name not in LISTS:
            files[f"{report.stem}.pdf"] = _report(report)
    for parts in folder.glob("*.docx"):
        # Not compressed, so that the bytes are the same whatever zlib builds them.
        files[parts.name] = zip_file(dict(sorted(_below(parts).items())), zipfile.ZIP_STORED)
    files.update(_below(folder / "files"))
    if not files:
        _wrong(folder, f"hands in nothing; put its files below {folder.name}/files")
    return dict(sorted(files.items()))


def not_packed(folder: Path) -> Iterator[str]:
    """Yield a line on each file or folder that lies beside `files/` and is nothing that is read there.

    Of what has neither `files/` nor a base something else is told: that it hands in nothing.
    """
    with suppress(CourseError):  # which is told by those who need what stands there
        if not (folder / "files").is_dir() and not expected(folder).get("base"):
            return
    for path in sorted(folder.iterdir()):
        parts = path.suffix == ".docx" and path.is_dir()
        is_read = path.name in {"files", EXPECTED, CHANGES} or path.suffix == ".txt" or parts
        if not is_read and not is_left_behind(path.name):
            advice = f"move it into {folder.name}/files, or remove it"
            yield f"{show_path(path)}: lies beside files/, so that it is not handed in; {advice}"


def expected(folder: Path) -> Mapping[str, Any]:
    """Read the keys of a submission's `expected.yaml`, unvalidated.

    Raises:
        CourseError: it cannot be read, or is no mapping.
    """
    return _mapping(folder / EXPECTED)


def _below(top: Path) -> dict[str, bytes]:
    return {
        path.relative_to(top).as_posix(): path.read_bytes()
        for path in top.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def _of_base(folder: Path) -> dict[str, bytes]:
    """Return the files of the base after removals, moves and replacements."""
    base = expected(folder).get("base")
    files: dict[str, bytes] = {}
    if base:
        below = folder.parent / str(base)
        if not (below / EXPECTED).is_file() or expected(below).get("base"):
            _wrong(folder / EXPECTED, f"base: {base}: name a submission that has no base itself")
        files.update(files_of(below))
    for line in _lines(folder / "without.txt"):
        path, _, elsewhere = line.partition(" -> ")
        if path not in files:
            _wrong_path(folder / "without.txt", path, base, files)
        content = files.pop(path)
        if elsewhere:
            files[elsewhere] = content
    list_of_changes = folder / CHANGES
    for path, changes in (_mapping(list_of_changes) if list_of_changes.exists() else {}).items():
        if path not in files:
            _wrong_path(list_of_changes, path, base, files)
        files[path] = _changed(files[path], changes, list_of_changes, path)
    return files


def _changed(content: bytes, changes: Any, list_of_changes: Path, path: str) -> bytes:
    text = content.decode()
    for change in changes if isinstance(changes, list) else [changes]:
        match change:
            case {"was": str(was), "is": str(now)}:
                if (count := text.count(was)) != 1:
                    held = f"{count} times" if count else "nowhere"
                    _wrong(list_of_changes, f"{path}: must hold once, and holds {held}: {was!r}")
                text = text.replace(was, now)
            case _:
                _wrong(list_of_changes, f"{path}: must be a list of mappings with the texts `was` and `is`")
    return text.encode()


def _report(file: Path) -> bytes:
    try:
        return pdf(file.read_text(encoding="ascii"))
    except UnicodeDecodeError as error:
        _wrong(file, f"byte {error.start}: a report is made of ASCII letters; write others without accents")


def _mapping(file: Path) -> Mapping[str, Any]:
    document = read_yaml(file)
    if document.problems:
        raise CourseError(*document.lines(document.problems))
    if not isinstance(document.data, Mapping | None):
        _wrong(file, "must be a mapping")
    return document.data or {}


def _lines(file: Path) -> list[str]:
    return [*filter(None, file.read_text(encoding="utf-8").split("\n"))] if file.exists() else []


def _wrong_path(file: Path, path: str, base: object, files: Collection[str]) -> NoReturn:
    if not base:
        _wrong(file, f"{path}: there is no base; name one in {EXPECTED}")
    alike = [other for other in files if path.endswith(f"/{other}")]  # as files/work.py, below the folder
    advice = f"did you mean {alike[0]}?" if alike else suggestion(path, files)
    _wrong(file, f"{path}: {base} hands in no such file; {advice}")


def _wrong(file: Path, message: str) -> NoReturn:
    raise CourseError(f"{show_path(file)}: {message}")
