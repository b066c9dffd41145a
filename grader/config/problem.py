"""A mistake in a file of text: where it is, what is wrong and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

from grader.text import one_line

KeyPath: TypeAlias = tuple[str | int, ...]
"""The way to a value: keys of mappings and indices of lists, from the top."""

CLOSE = 0.65
"""How alike two names must be (difflib's ratio) for one to be meant by the other."""
LISTED = 8
"""So many names are listed where none is close enough to suggest."""


class Position(NamedTuple):
    """A place in a text, as editors count: both from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that a person has to put right."""

    path: KeyPath
    message: str
    """What is wrong and what would be right."""
    position: Position | None = None
    """Where, if the path does not tell."""

    def __str__(self) -> str:
        """One printable line without the file's name, whatever a key or a value holds."""
        return one_line(f"{spell(self.path)}: {self.message}" if self.path else self.message)


def spell(path: KeyPath) -> str:
    """A path as a person writes it: `items[3].at_least`."""
    parts = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(parts).removeprefix(".")


def show_path(path: Path) -> str:
    """A file's name for a line of text: relative to the working directory if it lies below it."""
    try:
        return one_line(str(path.absolute().relative_to(Path.cwd())))
    except (ValueError, OSError):
        return one_line(str(path))


def closest(given: str, known: Iterable[str]) -> str | None:
    """The name that was most likely meant; None if none comes near."""
    import difflib

    return next(iter(difflib.get_close_matches(given, list(known), n=1, cutoff=CLOSE)), None)


def suggestion(given: str, known: Iterable[str]) -> str:
    """What to do about a name that does not exist: the closest one, or what there is."""
    names = sorted(known)
    if not names:
        return "there are none"
    if close := closest(given, names):
        return f"did you mean {close}?"
    return "there are " + ", ".join(names[:LISTED]) + (" …" if len(names) > LISTED else "")
