"""Hand-outs: what students get of an assignment, collected from its page, its starter and its given files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from posixpath import normpath
from urllib.parse import unquote

from grader.errors import CourseError
from grader.files import is_file, obstacle, show_path
from grader.text import one_line

PAGE = "handout.md"
STARTER = "starter"
"""The folder of an assignment with what students begin with."""
GIVEN = "given"
_LINK = re.compile(r"\]\(\s*([^)\s#]+)")
"""The path of an inline link of Markdown, without its fragment and title."""
_FILE = re.compile(r"(?!/)[\w ./-]+\.\w{1,5}")
"""A path of a file; `[&](int i)` of C++ is none, nor is an address."""


def handout_files(folder: Path, *, with_given: bool = False) -> dict[str, bytes]:
    """Collect the files of a hand-out: content by path below one folder with the assignment's name.

    `handout.md` and the files of `starter/`, and of `given/` if that is wanted, lie side by side there, as a
    program finds them when it is graded. Nothing else of the assignment is looked at. Hidden files, and what
    Python and editors leave behind, are left out.

    Raises:
        CourseError: there is neither a page nor a starter; a file cannot be read, or is a link, which may
            lead to a solution; two files of one path differ; or the page shows a file of the assignment that
            would not be in it.
    """
    files: dict[str, bytes] = {}
    places: dict[str, Path] = {}
    problems: list[str] = []
    for name, path in _sources(folder, with_given=with_given):
        if path.is_symlink():
            problems.append(f"{show_path(path)}: is a link, which may lead to a solution; put a copy there")
        elif path.is_file():
            content = _read(path)
            if files.setdefault(name, content) != content:
                other = f"{show_path(path)}: differs from {show_path(places[name])}"
                problems.append(f"{other}, and would lie in its place; make them equal, or remove one")
            places.setdefault(name, path)
    problems += _missing_links(folder, files)
    if not files and not problems:
        problems.append(f"{show_path(folder)}: has neither {PAGE} nor {STARTER}/; write what students get")
    if problems:
        raise CourseError(*problems)
    return {f"{folder.name}/{name}": files[name] for name in sorted(files)}


def _sources(folder: Path, *, with_given: bool) -> Iterator[tuple[str, Path]]:
    """Yield the page, and whatever lies below the folders, each with its path in the hand-out."""
    if (folder / PAGE).exists():
        yield PAGE, folder / PAGE
    for part in (STARTER, *([GIVEN] if with_given else [])):
        for path in [folder / part, *sorted((folder / part).rglob("*"))]:
            name = path.relative_to(folder / part)
            if not any(map(_is_left_behind, name.parts)):
                yield name.as_posix(), path


def _missing_links(folder: Path, files: Mapping[str, bytes]) -> Iterator[str]:
    """Yield the files to which the page links, such as figures, and that nobody gets."""
    page = files.get(PAGE, b"").decode(errors="replace")
    for target in dict.fromkeys(map(unquote, _LINK.findall(page))):
        name = normpath(target)
        is_there = is_file(folder / name)
        if name in files or not (is_there or _FILE.fullmatch(name)):
            continue
        beside = name.removeprefix(f"{STARTER}/")
        what = "remove" if is_there else "correct"
        advice = f"write {beside}" if beside in files else f"put it into {STARTER}/, or {what} the link"
        lacks = "is not in the zip" if is_there else "is not there"
        yield f"{show_path(folder / PAGE)}: links to {one_line(target)}, which {lacks}; {advice}"


def _is_left_behind(name: str) -> bool:
    return name == "__pycache__" or name.startswith(".") or name.endswith("~")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise obstacle(show_path(path), error, "read", kind=CourseError) from None
