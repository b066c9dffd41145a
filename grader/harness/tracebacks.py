"""Frames of a traceback as the program's process wrote it down, innermost first: text that nobody trusts."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path, PurePath
from typing import NamedTuple

from grader.files import holds_file

_FRAME = re.compile(r'^  File "([^"\n]+)", line (\d{1,7})(?:, in ([^\n]*))?$', re.MULTILINE)
_LIBRARIES = re.compile(r"/(?:site|dist)-packages/|/lib/python3|^/python/site\d+/")
"""Folders of libraries: outside of a sandbox, and in one, where packages are mounted as `/python/site0`."""
_FUNCTION = re.compile(r"[^\W\d]\w{0,79}")
"""The name of a function; a module and a lambda have names in angle brackets."""
_COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>"})


class TracebackFrame(NamedTuple):
    """One frame, without those of libraries."""

    paths: tuple[str, ...]
    """Its file below any folder that may be the top one, the longest first."""
    line: int
    function: str
    """Empty at the top level of a module and in a lambda."""


def innermost_first(trace: str) -> Iterator[TracebackFrame]:
    """Yield the frames of a traceback; a comprehension is of the function around it, as in Python 3.12."""
    around = ""
    frames = []
    for path, line, code in _FRAME.findall(trace):
        function = code if _FUNCTION.fullmatch(code) else around if code in _COMPREHENSIONS else ""
        parts = () if _LIBRARIES.search(path) else PurePath(path.lstrip("/")).parts
        paths = tuple(str(PurePath(*parts[begin:])) for begin in range(len(parts)))
        frames.append(TracebackFrame(paths, int(line), function))
        around = function
    return reversed(frames)


def course_line(course_files: Path, trace: str) -> tuple[str, int] | None:
    """Return file and line of the innermost frame, but for those of libraries, if it is the course's."""
    for frame in innermost_first(trace):
        if frame.paths:
            file = next((path for path in frame.paths if holds_file(course_files, path)), "")
            return (file, frame.line) if file else None
    return None


def students_place(trace: str, files: Collection[str], course_files: Path) -> str:
    """Return `utils.py:31, in helper()`, the innermost line in one of `files`; empty if there is none.

    `files` are the submission's; a frame of a file of the course is none of theirs, whatever its folder.
    """
    for frame in innermost_first(trace):
        for path in frame.paths:
            if holds_file(course_files, path):
                break
            if path in files:
                return f"{path}:{frame.line}" + (f", in {frame.function}()" if frame.function else "")
    return ""
