"""Paths of the grading machine, taken out of every text that a student reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

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
        if type(value) is str:
            return self._pattern.sub(CUT, value)
        if isinstance(value, Mapping):
            pairs = {self.cut(key): self.cut(part) for key, part in value.items()}
            return value if pairs == value else pairs
        if type(value) in (tuple, list):
            parts = type(value)(map(self.cut, value))
            return value if parts == value else parts
        if is_dataclass(value) and not isinstance(value, type):
            before = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
            after = {name: self.cut(part) for name, part in before.items()}
            changed = {name: part for name, part in after.items() if part != before[name]}
            return replace(value, **changed) if changed else value
        return value
