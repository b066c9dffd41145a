"""Hand-outs: what students get of an assignment, collected from its page, its starter and its given files."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import takewhile
from pathlib import Path
from posixpath import dirname, normpath
from urllib.parse import unquote

from grader.config.problem import Problem
from grader.config.yaml_source import read_yaml
from grader.errors import CourseError
from grader.files import is_file, obstacle, show_path
from grader.model.magnitude import counted
from grader.subject.tools.diagnostics import SOURCES
from grader.text import one_line

PAGE = "handout.md"
STARTER = "starter"
"""The folder of an assignment with what students begin with."""
GIVEN = "given"
_LINK = re.compile(r"\]\(\s*([^)\s#]+)")
"""The path of an inline link of Markdown, without its fragment and title."""
_INCLUDE = re.compile(r'\s*#\s*include\s*"([^"]+)"')
_FILE = re.compile(r"(?!/)[\w ./-]+\.\w{1,5}")
"""A path of a file; `[&](int i)` of C++ is none, nor is an address."""
_HEADING = re.compile(r"\|.*\|\s*points\s*\|\s*", re.IGNORECASE)
"""The heading of a table of Markdown whose last column holds points."""
_POINTS = re.compile(r"\W*(?:(\d+) *[×x*] *)?(\d+(?:\.\d+)?)(?: .*|\W*)")  # noqa: RUF001 - as people write
"""Points in a cell: `4`, `**4**`, `3 x 4`, `4 (bonus)`."""
_ROUNDED = 0.05
"""What each row with decimals may be off by rounding, as 3.33 is for a third of ten."""


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


def handout_remarks(
    folder: Path,
    files: Collection[str],
    rubrics: Collection[Path],
    example: Collection[str],
    now: datetime,
) -> Iterator[str]:
    """Yield what a hand-out of these files may lack: a page, a starter, headers, its text and points, time.

    `rubrics` are those of the course, and `example` the lines of the page that `grader new` writes.
    """
    yield from _past_deadlines(rubrics, folder.name, now)
    names = {name.removeprefix(f"{folder.name}/") for name in files}
    if PAGE not in names:
        yield f"{show_path(folder)}: has no {PAGE}; students read nothing of what is asked"
    starter = folder / STARTER
    if not any(is_file(starter / name) for name in names):
        lacks = f"{show_path(starter)}: holds no files" if starter.is_dir() else ""
        yield f"{lacks or f'{show_path(folder)}: has no {STARTER}/'}; students have nothing to begin with"
    yield from _lacked_headers(folder, names)
    if PAGE not in names:
        return
    lines = (folder / PAGE).read_text(encoding="utf-8", errors="replace").splitlines()
    page = show_path(folder / PAGE)
    if {*example} <= {*lines}:
        line = min(lines.index(each) for each in example) + 1
        yield f"{page}:{line}: is the example of grader new still; say what is asked"
    yield from (f"{page}:{message}" for message in _other_points(lines, folder.name, rubrics))


def _lacked_headers(folder: Path, names: Collection[str]) -> Iterator[str]:
    """Yield the lines of a starter that include a file of `given/` which students do not get."""
    for name in sorted(name for name in names if name.endswith(SOURCES) and is_file(folder / STARTER / name)):
        path = folder / STARTER / name
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1):
            if included := _INCLUDE.match(line):
                places = {normpath(included[1]), normpath(f"{dirname(name)}/{included[1]}").lstrip("/")}
                if places.isdisjoint(names) and any(is_file(folder / GIVEN / place) for place in places):
                    yield (
                        f"{show_path(path)}:{number}: includes {included[1]}, which students do not get; "
                        f"put a copy into {STARTER}/, or say --given"
                    )


def _past_deadlines(rubrics: Collection[Path], assignment: str, now: datetime) -> Iterator[str]:
    """Yield the deadlines that passed a day ago or earlier: of another year, if this is handed out now."""
    for path in rubrics:
        document = read_yaml(path)
        data = document.data if isinstance(document.data, Mapping) else {}
        with suppress(TypeError, ValueError):  # none, or no time: rubric check tells it
            passed = now - datetime.fromisoformat(data["due"]) if data.get("due") else timedelta()
            if data.get("assignment") == assignment and passed >= timedelta(days=1):
                message = f"this deadline passed {counted(passed.days, 'day')} ago; give the one to come"
                yield from document.lines([Problem(path=("due",), message=message)])


def _other_points(lines: Sequence[str], assignment: str, rubrics: Collection[Path]) -> Iterator[str]:
    """Yield the line of the first table of points where no table, nor all of them, has those of a rubric."""
    tables = dict(_tables(lines))
    possible = {path: sums for path in rubrics if (sums := _possible(path, assignment))}
    every = [value for values in tables.values() for value in values]
    if not possible or not every:
        return
    for values in (*tables.values(), every):
        sums = (sum(values), sum(values[:-1]) if sum(values[:-1]) == values[-1] else sum(values))
        off = _ROUNDED * sum(not value.is_integer() for value in values)
        if any(abs(each - right) <= off for each in sums for rights in possible.values() for right in rights):
            return
    line, values = next(iter(tables.items()))
    path, (points, *_) = min(possible.items(), key=lambda each: (each[0].stem != assignment, each[0]))
    yield (
        f"{line}: its points are {sum(values):g}, and in {show_path(path)} {points:g}; "
        "write one number in both"
    )


def _tables(lines: Sequence[str]) -> Iterator[tuple[int, list[float]]]:
    """Yield the points of each table that has them in its last column, with the line of its heading."""
    for start, line in enumerate(lines):
        if _HEADING.fullmatch(line):
            rows = takewhile(lambda row: row.startswith("|"), lines[start + 2 :])
            cells = [row.rstrip().removesuffix("|").rpartition("|")[2] for row in rows]
            points = [_POINTS.fullmatch(cell) for cell in cells]
            if cells and all(points):
                yield start + 1, [int(each[1] or 1) * float(each[2]) for each in points if each]


def _possible(rubric: Path, assignment: str) -> tuple[float, ...]:
    """Return the points of a rubric, and those with a bonus; empty for another assignment's."""
    data = read_yaml(rubric).data
    if not isinstance(data, Mapping) or data.get("assignment") != assignment:
        return ()
    items = data.get("items")
    points = [each.get("points") for each in items if isinstance(each, Mapping)] if items else []
    sums = (data.get("points"), sum(each for each in points if isinstance(each, int | float)))
    return tuple(float(each) for each in sums if isinstance(each, int | float) and each)


def _sources(folder: Path, *, with_given: bool) -> Iterator[tuple[str, Path]]:
    """Yield the page, and whatever lies below the folders, each with its path in the hand-out."""
    if (folder / PAGE).exists():
        yield PAGE, folder / PAGE
    for part in (STARTER, *([GIVEN] if with_given else [])):
        for path in [folder / part, *sorted((folder / part).rglob("*"))]:
            name = path.relative_to(folder / part)
            if not any(map(is_left_behind, name.parts)):
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


def is_left_behind(name: str) -> bool:
    """Tell whether Python or an editor leaves a file or folder of this name behind."""
    return name == "__pycache__" or name.startswith(".") or name.endswith("~")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise obstacle(show_path(path), error, "read", kind=CourseError) from None
