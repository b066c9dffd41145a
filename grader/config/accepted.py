"""Files that a rubric names, held against what an assignment accepts, without a submission."""

from __future__ import annotations

import re
from collections.abc import Collection
from fnmatch import fnmatchcase
from pathlib import Path

from grader.config.decode import quoted
from grader.config.problem import closest
from grader.model.assignment import Assignment
from grader.subject.tools.diagnostics import SOURCES

_SET = re.compile(r"\[[^]]+\]")


def unaccepted(pattern: str, assignment: Assignment, folder: Path, *, by_course: bool = True) -> str:
    """Return why no file that fits a pattern can ever be there, and what to do; empty if one can.

    With `by_course` a file of `given/` counts as one that was handed in.
    """
    if pattern.startswith("/") or ".." in pattern.split("/"):
        return f"{quoted(pattern)} leads out of the submission; write a path below its top folder"
    if any(overlap(pattern, accepted) for accepted in assignment.accepts):
        return ""
    given = folder / "given"
    if any(fnmatchcase(path.relative_to(given).as_posix(), pattern) for path in given.rglob("*")):
        advice = "name a file of the submission"
        return "" if by_course else f"{quoted(pattern)} lies in given/, and nobody hands it in; {advice}"
    near = closest(pattern, assignment.accepts)
    advice = f"did you mean {near}?" if near else "add one to accepts in assignment.py"
    return f"no pattern of accepts fits {quoted(pattern)}; {advice}"


def requires_objection(assignment: Assignment, folder: Path) -> str:
    """Return which file of `requires` can never be handed in, and what to do; empty if each can."""
    for module, needed in assignment.requires.items():
        for name in needed:
            if message := unaccepted(name, assignment, folder):
                return f"[{module!r}]: {message}"
    return ""


def replaced_files(assignment: Assignment, folder: Path) -> tuple[str, ...]:
    """Return the files of `given/` that take the place of what students hand in, so that theirs never runs.

    Those are Python files and compiled sources that the reference has, too: at its top, named in `accepts`
    without a wildcard, or with another content in `given/`, as a starter has. Another source of the same
    content may come with the task, unless nothing else is compiled.
    """
    reference, given = folder / "reference", folder / "given"
    files = {path.relative_to(reference).as_posix() for path in reference.rglob("*") if path.is_file()}
    compiled = {file for file in files if assignment.build and file.endswith(SOURCES)}
    both = sorted(file for file in files if file.endswith((".py", *SOURCES)) and (given / file).is_file())
    nothing_else = compiled <= {*both}

    def is_replaced(file: str) -> bool:
        if (file in compiled and nothing_else) or file in assignment.accepts:
            return True
        top = file.endswith(".py") and "/" not in file
        return top or (reference / file).read_bytes() != (given / file).read_bytes()

    return tuple(filter(is_replaced, both))


def replaced_objection(file: str) -> str:
    """Return the message on a file of `given/` that takes the place of the one that students hand in."""
    return f"given/{file} takes the place of the {file} that students hand in; rename one of them"


def overlap(pattern: str, other: str) -> bool:
    """Tell whether some name may fit both patterns, in which `*` stands for anything and `?` for a character.

    A set of characters, as `[ab]`, is taken for any character.
    """
    first, second = (_SET.sub("?", text) for text in (pattern, other))
    row = [all(letter == "*" for letter in second[:length]) for length in range(len(second) + 1)]
    for letter in first:
        above, row = row, [row[0] and letter == "*"]
        for column, partner in enumerate(second, start=1):
            if "*" in (letter, partner):
                row.append(above[column] or row[-1] or (above[column - 1]))
            else:
                row.append(above[column - 1] and (letter == partner or "?" in (letter, partner)))
    return row[-1]


def names_of(patterns: Collection[str]) -> tuple[str, ...]:
    """Return the patterns that are plain names of files."""
    return tuple(pattern for pattern in patterns if not {"*", "?"} & {*pattern})
