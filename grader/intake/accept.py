"""Selects the files of a submission that match the patterns of an assignment."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from grader.filenames import matcher


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
