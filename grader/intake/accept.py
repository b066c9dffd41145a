"""Selects the files of a submission that match the patterns of an assignment."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from functools import cache

Matches = Callable[[str], bool]

# Python and pytest run these by themselves: only a pattern without a wildcard lets them in.
_NOT_BY_WILDCARD = r"(?!(?:[^/]*/)*(?:(?:(?:site|user)customize|conftest)(?:\.py|/)|[^/]*\.pth$))"


def matcher(accepts: Iterable[str], *, anywhere: bool = False) -> Matches:
    """Return a predicate for paths that match a pattern, in which `*` and `?` stand for anything but `/`.

    With `anywhere`, also below folders that the patterns do not name.
    """
    one_of = _one_of(tuple(accepts), anywhere)
    return lambda path: one_of.fullmatch(path) is not None


@cache
def _one_of(accepts: tuple[str, ...], anywhere: bool) -> re.Pattern[str]:
    """Compile the patterns of an assignment: once, not for each submission."""
    above = "(?:.*/)?" if anywhere else ""
    return re.compile(f"{above}(?:{'|'.join(map(_expression, accepts)) or '(?!)'})")


def accepted(paths: Collection[str], accepts: Iterable[str]) -> dict[str, str]:
    """Map workspace paths of the assignment's files to their paths in the archive, sorted.

    If nothing fits and all files lie in one folder, that folder is looked through, and so on down.
    """
    matches = matcher(accepts)
    top = ""
    while True:
        fitting = {path[len(top) :]: path for path in sorted(paths) if matches(path[len(top) :])}
        folders = {path[len(top) :].partition("/")[:2] for path in paths}
        if fitting or len(folders) != 1:
            return fitting
        name, slash = folders.pop()
        if not slash:
            return {}
        top += f"{name}/"


def _expression(pattern: str) -> str:
    letters = "".join({"*": "[^/]*", "?": "[^/]"}.get(letter, re.escape(letter)) for letter in pattern)
    return _NOT_BY_WILDCARD + letters if "*" in pattern or "?" in pattern else letters
