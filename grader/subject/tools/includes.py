"""List what the C, C++ and CUDA files of a submission include, without anything else that they say."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from .build import files_below, submitted_files

SOURCES = (".c", ".cc", ".cpp", ".cu", ".cuh", ".cxx", ".h", ".hh", ".hpp", ".hxx")
FILES, FILE_BYTES, DIRECTIVES = 200, 2**20, 500
"""So many files are read, so much of each, and so many directives are listed for each."""
_INCLUDE = re.compile(
    rb'^[ \t]*#[ \t]*include[ \t]*(?:"([\w./+-]{1,200})"|<([\w./+-]{1,200})>)', re.MULTILINE
)


def main(given: str) -> dict[str, str]:
    """Return the directives of each file in their order, in place of an own header those that it has.

    `given` is the folder of the course's files, which take the place of files of the same name; they, and
    headers of the system, are not followed.
    """
    paths = [path for path in submitted_files(os.getcwd(), given) if path.endswith(SOURCES)]
    directives = {path: _directives(path) for path in paths[:FILES]}
    course = [f"/{path}" for path in files_below(given)] if given else []
    return {path: "".join(_expanded(path, directives, course)) for path in directives}


def _directives(path: str) -> list[tuple[str, str]]:
    """Return what a file includes: a name in quotes and the empty text, or the other way round."""
    with open(path, "rb") as file:
        directives = _INCLUDE.findall(file.read(FILE_BYTES))
    return [(quoted.decode(), system.decode()) for quoted, system in directives]


def _expanded(
    path: str, directives: Mapping[str, Sequence[tuple[str, str]]], course: Sequence[str]
) -> list[str]:
    """Return the lines of a file, with those of the own headers that it includes; each of these once."""
    lines: list[str] = []
    listed = {path}
    left = [(path, *names) for names in reversed(directives[path])]
    while left and len(lines) < DIRECTIVES:
        includer, quoted, system = left.pop()
        header = _own(includer, quoted, directives, course) if quoted else ""
        if not header:
            lines.append(f'#include "{quoted}"\n' if quoted else f"#include <{system}>\n")
        elif header not in listed:
            listed.add(header)
            left += [(header, *names) for names in reversed(directives[header])]
    return lines


def _own(includer: str, name: str, directives: Mapping[str, object], course: Sequence[str]) -> str:
    """Return the file of the submission that is meant; empty for none.

    It lies beside the includer, or elsewhere where the course has none of that name.
    """
    beside = os.path.normpath(os.path.join(os.path.dirname(includer), name))
    if beside in directives:
        return beside
    if any(path.endswith(f"/{name}") for path in course):
        return ""
    return next((path for path in directives if f"/{path}".endswith(f"/{name}")), "")
