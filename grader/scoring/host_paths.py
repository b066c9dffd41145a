"""Paths of the grading machine, taken out of every text that a student reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from operator import is_
from typing import Any

_WITHOUT_TEXT = frozenset({bool, float, int, type(None)})
CUT = "…"
"""What a student reads in the place of a folder of the machine."""


class HostPaths:
    """Replaces the names of private folders, wherever a value holds them, by `…`.

    An item's texts come from many places: exceptions of the course, tracebacks through an installed
    package, and in a sandbox without namespaces the student's own files, which lie in the results folder.
    """

    def __init__(self, folders: Iterable[str]) -> None:
        """`folders` are absolute; the longest that fits is cut."""
        names = sorted({folder.rstrip("/") for folder in folders} - {""}, key=len, reverse=True)
        # "(?!)" fits nowhere
        self._pattern = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, names)) or '(?!)'})(?![\w-])")

    def cut(self, value: Any) -> Any:
        """Return the value with every text in it cut; itself if there is nothing to cut.

        Looks into dataclasses, tuples, lists and mappings, their keys included.
        """
        kind = type(value)
        if kind is str:
            return self._pattern.sub(CUT, value) if "/" in value else value
        if kind in _WITHOUT_TEXT:
            return value
        if kind is tuple or kind is list:
            parts = [self.cut(part) for part in value]
            return value if _same(parts, value) else kind(parts)
        if kind is dict or isinstance(value, Mapping):
            names, parts = [self.cut(name) for name in value], [self.cut(part) for part in value.values()]
            same = _same(names, value) and _same(parts, value.values())
            return value if same else dict(zip(names, parts, strict=True))
        changed = {}
        for name in _field_names(kind):  # type: ignore[arg-type] # classes are hashable
            before = getattr(value, name)
            after = self.cut(before)
            if after is not before:
                changed[name] = after
        return replace(value, **changed) if changed else value


def _same(parts: Iterable[Any], others: Iterable[Any]) -> bool:
    return all(map(is_, parts, others))


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    """Return what a dataclass is made of; nothing for another type."""
    return tuple(field.name for field in fields(kind) if field.init) if is_dataclass(kind) else ()
