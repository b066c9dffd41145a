"""Builds of an assignment: items that call files which need one, and sanitizers that its limits stop."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from grader.config.decode import keys_of
from grader.config.facts import variables_read
from grader.config.problem import KeyPath
from grader.contracts.check import CheckKind
from grader.model.assignment import Assignment
from grader.model.options import FunctionName, ModuleName

Items = Sequence[Mapping[str, Any]]
"""The keys of each item of a rubric, as far as they are right."""

MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
"""The names that make looks for."""
_RESERVES = re.compile(r"-fsanitize=(?:\w+,)*(?:hw|kernel-)?(?:address|thread|memory|leak)\b[\w,]*")
"""Sanitizers that do not start within a limit on data."""


def unbuilt(
    items: Items, kinds: Mapping[str, CheckKind], assignment: Assignment, folder: Path
) -> Iterator[tuple[KeyPath, str]]:
    """Yield the keys that name such a file, each with the place that reads the build's variable."""
    if assignment.build is None:
        return
    reads = variables_read(folder)
    building = [item.get("id", "") for item in items if _kind(item, kinds) and _kind(item, kinds).builds]
    variable = assignment.build.variable
    keys: dict[tuple[int, str], str] = {}
    """By item and key, the place that reads the variable."""
    for index, item in enumerate(items):
        kind = _kind(item, kinds)
        for key, option in keys_of(kind.Options).items() if kind else ():
            if option.kind in (FunctionName, ModuleName) and not {*building} & {*_needed(item, items)}:
                read = reads.get(item.get(key, "").partition(".")[0], {})
                if place := read.get(variable):
                    keys[index, key] = place
    advice = _advice(building, {items[index].get("id", "") for index, _ in keys}, items)
    for (index, key), place in keys.items():
        message = f"{place} reads {variable}, which only items have that need the build; {advice}"
        yield ("items", index, key), message


def _advice(building: Sequence[str], reading: Container[str], items: Items) -> str:
    """Return what to write: an item of the build that needs none of those that read the variable."""
    needs = {item.get("id"): _needed(item, items) for item in items}
    first = next((name for name in building if not any(need in reading for need in needs[name])), "")
    if first:
        return f"write needs: [{first}]"
    return f"add an item with check: build{' that needs no other' if building else ''}, and need it"


def _kind(item: Mapping[str, Any], kinds: Mapping[str, CheckKind]) -> Any:
    return kinds.get(item.get("check", ""))


def _needed(item: Mapping[str, Any], items: Items) -> list[str]:
    """Return the items that an item needs, be it by way of others."""
    needs = {other.get("id"): other.get("needs", ()) for other in items}
    names = [*item.get("needs", ())]
    for name in names:  # which grows
        names += [more for more in needs.get(name, ()) if more not in names]
    return names


def sanitizer_objection(assignment: Assignment, folder: Path) -> str:
    """Return a message if a Makefile of the course builds what may not reserve the memory that it must."""
    if assignment.build is None or assignment.limits.reserve_mb:
        return ""
    for name in MAKEFILES:
        text = (folder / name).read_text(errors="replace") if (folder / name).is_file() else ""
        if option := _RESERVES.search(text):
            why = f"given/{name} has {option[0]}, which reserves terabytes"
            return f"{why}; write reserve_mb=40_000_000 among them"
    return ""
