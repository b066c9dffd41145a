"""One error in a text file: position, cause and advice."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from traceback import extract_tb
from typing import Any, NamedTuple, TypeAlias

from grader.coursecode import missing_file
from grader.errors import CourseError, GraderError, UsageError
from grader.files import show_path
from grader.installed import error_of_import, nearest
from grader.text import one_line

KeyPath: TypeAlias = tuple[str | int, ...]
"""The way to a value: keys of mappings and indices of lists, from the top."""

CLOSE = 0.65
"""The similarity (difflib's ratio) from which on a name is suggested for another."""
_EQUALLY_CLOSE = 3
"""The number of equally close names up to which all are suggested; of more none is."""
LISTED = 8
"""The number of names that a message lists if none is close enough to suggest."""


class Position(NamedTuple):
    """A place in a text, as editors count: both from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One error that a person has to correct."""

    path: KeyPath
    message: str
    """The error and the correction."""
    position: Position | None = None
    """The position, if the path does not determine it."""
    once: bool = False
    """Whether the first line with this message tells it for all paths."""

    def __str__(self) -> str:
        """Return one printable line without the file's name; control characters are escaped."""
        return one_line(f"{spell(self.path)}: {self.message}" if self.path else self.message)


class Remark(str):
    """A line on what may be meant as it is."""

    __slots__ = ()


def spell(path: KeyPath) -> str:
    """Return a path as a person writes it: `items[3].at_least`."""
    parts = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(parts).removeprefix(".")


def place_of(function: Any) -> str:
    """Return `file:line` of a function of Python."""
    code = function.__code__
    return f"{show_path(Path(code.co_filename))}:{code.co_firstlineno}"


def closest(name: str, candidates: Iterable[str], cutoff: float = CLOSE) -> str | None:
    """Return the candidate most similar to a name; None if none is close enough."""
    return nearest(name, [*candidates], cutoff) or None


def has_more_words(one: str, other: str) -> bool:
    """Tell whether one of two names has all words and numbers of the other, and more: it is no slip of it.

    So has `runs_driver` those of `driver`.
    """
    words, others = ({*re.findall(r"[^\W\d_]+|\d+", name)} for name in (one, other))
    return words < others or others < words


def _closest_of_all(name: str, candidates: Sequence[str]) -> list[str]:
    """Return the candidates that are close to a name and to which no other is closer, in their order."""
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(b=name)
    likeness = {}
    for candidate in candidates:
        matcher.set_seq1(candidate)
        if matcher.real_quick_ratio() >= CLOSE and matcher.quick_ratio() >= CLOSE:  # upper bounds
            likeness[candidate] = matcher.ratio()
    greatest = max(likeness.values(), default=0.0)
    return [each for each, ratio in likeness.items() if ratio == greatest >= CLOSE]


def require_named(option: str, name: str, names: Collection[str]) -> None:
    """Require that what an option of a command names is there.

    Raises:
        UsageError: there is none of that name.
    """
    if name not in names:
        raise UsageError(f"{option} {one_line(name)}: there is none of that name; {suggestion(name, names)}")


def suggestion(name: str, candidates: Iterable[str], given: Container[str] = ()) -> str:
    """Suggest the closest candidates for a name that does not exist, or list those that resemble it most.

    Several that are equally close are suggested together. Candidates that are `given` beside the name are
    not meant by it: a list that is cut leaves them out.
    """
    names = sorted(candidates)
    if not names:
        return "there are none"
    close = _closest_of_all(name, names)
    if 0 < len(close) <= _EQUALLY_CLOSE:
        return f"did you mean {' or '.join(close)}?"
    absent = [each for each in names if each not in given]
    others = absent if len(absent) > LISTED else names
    if len(others) <= LISTED + 1:  # "and 1 more" would be as long as the name itself
        return "there are " + ", ".join(others)
    import difflib

    nearest = difflib.get_close_matches(name, others, n=LISTED, cutoff=0.0)
    return f"there are {', '.join(sorted(nearest))} and {len(others) - len(nearest)} more"


def syntax_problem(error: SyntaxError) -> str:
    """Say what keeps a file from being Python: its encoding, or the syntax."""
    if "'utf-8' codec can't decode" in error.msg or "Non-UTF-8 code" in error.msg:
        return "is not UTF-8; save the file as UTF-8"
    return f"not Python ({error.msg}); correct the file"


def import_error(error: BaseException, where: str, folder: Path | None) -> GraderError:
    """Return the error of a plugin that cannot be imported; in a file below `folder` it has the line.

    It is the machine's if a package is not installed here, and the course's otherwise.
    """
    if folder is None:
        return CourseError(f"{where}: cannot be imported: {type(error).__name__}: {error}")
    lines = [(frame.filename, frame.lineno) for frame in extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:
        lines.append((error.filename, error.lineno))
    place = next((at for at in reversed(lines) if Path(at[0]).is_relative_to(folder)), None)
    if place is not None:
        where = f"{show_path(Path(place[0]))}:{place[1] or 1}"
    if isinstance(error, SyntaxError):
        return CourseError(f"{where}: {syntax_problem(error)}")
    if message := missing_file(error, folder):
        return CourseError(f"{where}: {message}")
    if place is not None and (missing := error_of_import(error, where, folder, Path(place[0]))):
        return missing
    return CourseError(f"{where}: cannot be imported: {type(error).__name__}: {error}; correct the file")
