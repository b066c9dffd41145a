"""Extensions of deadlines by student and assignment, in `course.yaml` or in a CSV file that it names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from grader.config.decode import decode, describe, quoted
from grader.config.problem import Problem, show_path, suggestion
from grader.config.units import Duration, parse_duration

COLUMNS = ("student", "assignment", "extension")
"""Of the CSV file; further ones, such as a reason, are for people."""

Extensions = Mapping[str, Mapping[str, float]]
"""Seconds by student or team, then by assignment."""


def read_extensions(data: Any, folder: Path) -> tuple[Extensions, tuple[Problem, ...], tuple[str, ...]]:
    """Read the extensions from the data in `course.yaml`, or from the CSV file that it names.

    Returns them with the problems of `course.yaml`, and those of the CSV file as located lines.
    """
    assignments = {file.parent.name for file in folder.glob("assignments/*/assignment.py")}
    if isinstance(data, str):
        return _from_table(folder / data, assignments)
    kind: Any = Mapping[str, Mapping[str, Duration]]
    extensions, problems = decode(kind, data)
    located = [Problem(path=("extensions", *problem.path), message=problem.message) for problem in problems]
    for who, by_assignment in (extensions or {}).items():
        located += [
            Problem(path=("extensions", who, name), message=_unknown(name, assignments))
            for name in by_assignment
            if name not in assignments
        ]
    return extensions or {}, tuple(located), ()


def _from_table(file: Path, assignments: set[str]) -> tuple[Extensions, tuple[Problem, ...], tuple[str, ...]]:
    import csv

    try:
        text = file.read_text(encoding="utf-8-sig")  # spreadsheets begin with a mark
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        message = f"{show_path(file)} cannot be read ({why}); name a CSV file beside course.yaml"
        return {}, (Problem(path=("extensions",), message=message),), ()
    table = csv.DictReader(text.splitlines())
    missing = [name for name in COLUMNS if name not in (table.fieldnames or ())]
    if missing:
        message = (
            f"the first line must name the columns {', '.join(COLUMNS)}; {', '.join(missing)} is missing"
        )
        return {}, (), (f"{show_path(file)}:1: {message}",)
    extensions: dict[str, dict[str, float]] = {}
    wrong: list[str] = []
    for row in table:
        who, name, time = ((row[column] or "").strip() for column in COLUMNS)
        mistakes = tuple(_mistakes(who, name, time, extensions, assignments))
        wrong += [f"{show_path(file)}:{table.line_num}: {mistake}" for mistake in mistakes]
        if not mistakes:
            extensions.setdefault(who, {})[name] = parse_duration(time)
    return extensions, (), tuple(wrong)


def _mistakes(
    who: str, name: str, time: str, extensions: Mapping[str, Mapping[str, float]], assignments: set[str]
) -> Iterator[str]:
    if not who:
        yield "student: missing; say whose extension it is"
    if name not in assignments:
        yield f"assignment: {_unknown(name, assignments)}"
    if name in extensions.get(who, {}):
        yield f"{who} has an extension of {name} in a line above; give one"
    try:
        parse_duration(time)
    except ValueError:
        yield f"extension: must be {describe(Duration)}, got {quoted(time)}"


def _unknown(name: str, assignments: set[str]) -> str:
    return f"no assignment is called {quoted(name)}; {suggestion(name, assignments)}"
