"""The numbers that Word gives to the paragraphs of its lists."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from .word_looks import W, number, value

LEVELS = 9
_PLACE = re.compile(r"%([1-9])")
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")
MANY = 9999


@dataclass(slots=True)
class _Level:
    start: int = 1
    form: str = "decimal"
    text: str = ""
    indent: str = ""


@dataclass(slots=True)
class _Counted:
    """A list, which several numberings may go on counting."""

    levels: dict[int, _Level] = field(default_factory=dict)
    counts: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListEntry:
    """The place of a paragraph in a list."""

    number: str
    """Its number without the punctuation around it; empty with a bullet."""
    level: int
    """From 1."""
    series: int
    """The same for lists that look alike."""


class Numbering:
    """Counts the paragraphs of lists, in the order of the document."""

    def __init__(self, numbering: Any) -> None:
        """`numbering` is the root of the part with the lists, None if there is none."""
        self._lists: dict[str, _Counted] = {}
        self._of: dict[str, tuple[str, dict[int, int]]] = {}
        self._begun: set[tuple[str, int]] = set()
        self._series: dict[tuple[str, str, int], int] = {}
        for element in numbering if numbering is not None else ():
            if element.tag == f"{W}abstractNum":
                levels = {_depth(level): _level(level) for level in element.iterchildren(f"{W}lvl")}
                self._lists[element.get(f"{W}abstractNumId") or ""] = _Counted(levels=levels)
            elif element.tag == f"{W}num":
                restarts = {
                    _depth(override): int(start)
                    for override in element.iterchildren(f"{W}lvlOverride")
                    if (start := number(value(override, "startOverride"))) is not None and 0 <= start <= MANY
                }
                self._of[element.get(f"{W}numId") or ""] = (value(element, "abstractNumId"), restarts)

    def next(self, identifier: str, depth: int) -> ListEntry | None:
        """Count a paragraph of a list at a depth from 0; None if there is no such list."""
        name, restarts = self._of.get(identifier, ("", {}))
        counted = self._lists.get(name)
        if counted is None or not 0 <= depth < LEVELS:
            return None
        level = counted.levels.setdefault(depth, _Level())
        if depth in restarts and (identifier, depth) not in self._begun:
            counted.counts[depth] = restarts[depth] - 1
        self._begun.add((identifier, depth))
        counted.counts[depth] = counted.counts.get(depth, level.start - 1) + 1
        for deeper in range(depth + 1, LEVELS):
            counted.counts.pop(deeper, None)
        key = (level.text, level.indent, depth)
        series = self._series.setdefault(key, len(self._series))
        return ListEntry(number=self._label(counted, depth), level=depth + 1, series=series)

    def _label(self, counted: _Counted, depth: int) -> str:
        if counted.levels[depth].form in ("bullet", "none"):
            return ""

        def shown(match: re.Match[str]) -> str:
            place = int(match[1]) - 1
            level = counted.levels.get(place, _Level())
            return _written(counted.counts.get(place, level.start), level.form)

        text = counted.levels[depth].text or f"%{depth + 1}"
        return _EDGES.sub("", _PLACE.sub(shown, text))[:20]


def _depth(element: Any) -> int:
    depth = number(element.get(f"{W}ilvl"))
    return int(depth) if depth is not None and 0 <= depth < LEVELS else LEVELS


def _level(element: Any) -> _Level:
    start = number(value(element, "start"))
    indent = element.find(f"{W}pPr/{W}ind")
    return _Level(
        start=int(start) if start is not None and 0 <= start <= MANY else 1,
        form=value(element, "numFmt") or "decimal",
        text=value(element, "lvlText")[:40],
        indent=(indent.get(f"{W}left") or indent.get(f"{W}start") or "") if indent is not None else "",
    )


def _written(count: int, form: str) -> str:
    """Write a count as a letter where the list does; all other forms become digits."""
    if form in ("lowerLetter", "upperLetter") and 1 <= count <= 26:
        return chr(ord("a") + count - 1)
    return str(min(count, MANY))
