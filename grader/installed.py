"""Finds the installed packages that bring plugins, and what of an exception is theirs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from grader.coursecode import deepest_place
from grader.markers import PROJECT

_PACKAGES: set[str] = set()
"""The names of those that were found."""


def place_in_plugin(error: BaseException) -> tuple[Path, int, str] | None:
    """Return file, line and function of the deepest frame in an installed plugin; None if there is none."""
    return deepest_place(error, _PACKAGES)


def installed_plugins() -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the entry points in our group, each with what imports it.

    `importlib.metadata` takes 30 ms to import: it is asked only if some distribution mentions the group.
    """
    if not any(map(_mentions_us, sys.path)):
        return
    from importlib.metadata import entry_points

    for entry_point in entry_points(group=PROJECT):
        _PACKAGES.add(entry_point.module.partition(".")[0])
        yield entry_point.name, entry_point.load


def _mentions_us(folder: str) -> bool:
    try:
        with os.scandir(folder) as entries:
            distributions = [e.path for e in entries if e.name.endswith((".dist-info", ".egg-info"))]
    except OSError:
        return False
    return any(f"[{PROJECT}]" in _text(Path(path, "entry_points.txt")) for path in distributions)


def _text(file: Path) -> str:
    try:
        return file.read_text(errors="replace")
    except OSError:
        return ""
