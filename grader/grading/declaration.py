"""Mistakes of an `assignment.py` for which nothing can be graded, so that every command refuses them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from grader.config.accepted import names_of, replaced_files, replaced_objection, requires_objection
from grader.config.built import sanitizer_objection
from grader.config.problem import closest
from grader.config.type_words import quoted
from grader.filenames import plain_pattern
from grader.files import show_path
from grader.installed import MISSPELT
from grader.intake.accept import accepted
from grader.intake.junk import junk_part
from grader.model.assignment import Assignment

if TYPE_CHECKING:
    import ast

_NAMED = 8
"""From more files on, patterns are advised."""


def refusals(assignment: Assignment, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the fields of a declaration that fit no submission or no program, each with the mistake."""
    for pattern in assignment.accepts:
        if message := _form_objection(pattern):
            yield "accepts", f"{quoted(pattern)} {message}"
    for file in replaced_files(assignment, folder):
        yield "accepts", replaced_objection(file)
    if message := requires_objection(assignment, folder):
        yield "requires", message
    if message := sanitizer_objection(assignment, folder / "given"):
        yield "limits", message


def files_below(folder: Path) -> tuple[str, ...]:
    """Return the files below a folder, without what tools leave behind."""
    paths = (str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    return tuple(sorted(path for path in paths if not junk_part(path)))


def unfit_accepts(assignment: Assignment, folder: Path) -> str:
    """Return the mistake of an `accepts` that lets in nothing of the reference; empty if it lets in a file.

    It is hardly meant, and refused where nothing at all was let in: what is graded may be written by hand.
    """
    reference = files_below(folder / "reference")
    if not reference or accepted(reference, map(plain_pattern, assignment.accepts)):
        return ""
    names = tuple(file for file in reference if not (folder / "given" / file).is_file())
    slips = (
        (name, closest(name, names, MISSPELT)) for name in names_of([*map(plain_pattern, assignment.accepts)])
    )
    renamed = "".join(f"rename {near} there to {name}, " for name, near in slips if near)
    if len(names) > _NAMED:
        names = tuple(dict.fromkeys(re.sub(r"[^/]*(?=\.[^./]+$)", "*", file, count=1) for file in names))
    return f"fits no file of reference/; {f'{renamed}or ' * bool(renamed)}write {names or reference}"


def _form_objection(pattern: str) -> str:
    """Return why no path in a submission can have this form, and what to write; empty if one can."""
    plain = plain_pattern(pattern)
    write = f"write {plain}" if plain else "take it out"
    objections = {
        "leads out of the submission; write a path below its top folder": ".." in pattern.split("/"),
        f"leads out of the submission; {write}": pattern.startswith("/"),
        f"is a folder; name its files, as {pattern}*": pattern.endswith("/"),
        f"has a backslash; {write}": "\\" in pattern,
        f"lets in nothing; {write}": pattern != plain or not plain,
    }
    return next((message for message, applies in objections.items() if applies), "")


def argument_places(file: Path, name: str) -> Callable[[str], str]:
    """Return what gives `file:line` of an argument of the assignment of this name, or of one of its limits.

    For one that is not written it is the line of the name.
    """
    import ast

    tree = ast.parse(file.read_bytes() if file.is_file() else "")
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = [call for call in calls if _literal(call, "name") == name] or calls
    inner = (node for call in named for node in ast.walk(call) if isinstance(node, ast.Call))
    lines: dict[str, int] = {}
    for keyword in (keyword for call in (*named, *inner) for keyword in call.keywords):
        if keyword.arg:
            lines.setdefault(keyword.arg, keyword.value.lineno)
    return lambda field: f"{show_path(file)}:{lines.get(field) or lines.get('name', 1)}"


def _literal(call: ast.Call, argument: str) -> object:
    import ast

    values = (keyword.value for keyword in call.keywords if keyword.arg == argument)
    return next((value.value for value in values if isinstance(value, ast.Constant)), None)
