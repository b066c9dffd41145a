"""Extensions of deadlines by student and assignment, in `course.yaml` or in a CSV file that it names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.config.decode import decode
from grader.config.problem import Problem, suggestion
from grader.config.table import TableError, checked_rows, decode_table, delimiter_of, heading, rows
from grader.config.type_words import describe, quoted
from grader.config.units import Duration, parse_duration
from grader.files import show_path

COLUMNS = ("student", "assignment", "extension")
"""Of the CSV file; further ones, such as a reason, are for people."""

Extensions = Mapping[str, Mapping[str, float]]
"""Seconds by student or team, then by assignment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadExtensions:
    """Extensions with what is wrong with them."""

    extensions: Extensions = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)
    """By student or team, the line of the CSV file (`more.csv:3`); nothing if `course.yaml` has them."""
    problems: tuple[Problem, ...] = ()
    """Those of `course.yaml`."""
    lines: tuple[str, ...] = ()
    """Those of the CSV file, located."""


def read_extensions(data: Any, folder: Path) -> ReadExtensions:
    """Read the extensions from the data in `course.yaml`, or from the CSV file that it names."""
    assignments = {file.parent.name for file in folder.glob("assignments/*/assignment.py")}
    if isinstance(data, str):
        return _from_table(folder / data, assignments)
    kind: Any = Mapping[str, Mapping[str, Duration]]
    extensions, problems = decode(kind, data)
    located = [Problem(path=("extensions", *problem.path), message=problem.message) for problem in problems]
    if extensions is None:  # those that are right
        extensions = {}
        for who, by_assignment in data.items() if isinstance(data, Mapping) else ():
            times = by_assignment if isinstance(by_assignment, Mapping) else {}
            durations = {name: decode(Duration, time)[0] for name, time in times.items()}
            extensions[who] = {name: time for name, time in durations.items() if time is not None}
    named = [(who, name) for who in extensions if isinstance(data[who], Mapping) for name in data[who]]
    located += [
        Problem(path=("extensions", who, name), message=_unknown(name, assignments))
        for who, name in named
        if name not in assignments
    ]
    return ReadExtensions(extensions=extensions, problems=tuple(located))


def _from_table(file: Path, assignments: set[str]) -> ReadExtensions:
    where = show_path(file)
    extensions: dict[str, dict[str, float]] = {}
    places: dict[str, str] = {}
    wrong: list[str] = []
    try:
        text = decode_table(file.read_bytes())
        table = rows(text)
        first = next(table, (1, []))[1]
        headings = [heading(cell) for cell in first]
        if missing := [name for name in COLUMNS if name not in headings]:
            message = (
                f"the first line must name the columns {', '.join(COLUMNS)}; {', '.join(missing)} is missing"
            )
            return ReadExtensions(lines=(f"{where}:1: {message}",))
        for line, cells, moved in checked_rows(table, first, delimiter_of(text)):
            if moved:  # half of `1d,12h` would be lost
                wrong.append(f"{where}:{line}: {moved}")
                continue
            values = dict(zip(headings, (cell.strip() for cell in cells), strict=False))
            who, name, time = (values.get(column, "") for column in COLUMNS)
            mistakes = tuple(_mistakes(who, name, time, extensions, assignments))
            wrong += [f"{where}:{line}: {mistake}" for mistake in mistakes]
            if not mistakes:
                extensions.setdefault(who, {})[name] = parse_duration(time)
                places.setdefault(who, f"{where}:{line}")
    except OSError as error:
        message = f"{where} cannot be read ({error.strerror}); name a CSV file beside course.yaml"
        return ReadExtensions(problems=(Problem(path=("extensions",), message=message),))
    except TableError as error:
        return ReadExtensions(lines=(f"{where}{error.place}: {error}",))
    return ReadExtensions(extensions=extensions, places=places, lines=tuple(wrong))


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
