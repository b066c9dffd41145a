"""`grader export`: the class as a table or JSON, for learning platforms, and the gradebook as one file."""

from __future__ import annotations

import json
from datetime import UTC
from pathlib import Path

import click

from grader.cli.book import GRADEBOOK, Location, opened
from grader.cli.course import find_any, roster_of
from grader.cli.echo import SUMS_AS_JSON, echo, echo_json, need_file
from grader.cli.exporters import OUT, Exports
from grader.cli.files import PATH, written
from grader.cli.lookup import require_assignment
from grader.errors import UsageError


@click.group("export", cls=Exports)
def command() -> None:
    """Write the grades of a class for spreadsheets, programs and platforms, or a copy of the gradebook."""


@command.command("csv")
@click.argument("assignment")
@OUT
@SUMS_AS_JSON
@GRADEBOOK
@click.pass_context
def csv_(
    context: click.Context, assignment: str, out: Path | None, as_json: bool, gradebook: Location
) -> None:
    """Write a row for each student and a column for each item of ASSIGNMENT.

    Points that are open are an empty cell. Students of the course's roster without a grade
    come last.
    """
    need_file(out, as_json=as_json)
    with opened(gradebook) as book:
        course = find_any(context)
        folders = course.folder.glob("assignments/*/assignment.py") if course else ()
        require_assignment(book, gradebook, assignment, [file.parent.name for file in folders])
        from grader.gradebook.export import write_csv

        with written(out, encoding="utf-8-sig") as file:
            students = tuple(student.student for student in roster_of(context).students)
            zone = course.zone if course else UTC
            count = write_csv(book, assignment, students, file, zone)
    if as_json:
        echo_json({"file": str(out), "assignment": assignment, "students": count})
    else:
        students_have = "1 student has" if count == 1 else f"{count} students have"
        echo(f"{gradebook}: {students_have} a grade in {assignment}", err=True)


@command.command("json")
@click.argument("assignment", required=False)
@OUT
@GRADEBOOK
def json_(assignment: str | None, out: Path | None, gradebook: Location) -> None:
    """Write a list with an object for each student's grade, of all assignments if none is named."""
    with opened(gradebook) as book:
        from grader.gradebook.export import document
        from grader.text import document as safe

        if assignment is not None:
            require_assignment(book, gradebook, assignment)
        with written(out) as file:
            file.write("[")
            for number, grade in enumerate(book.grades(assignment=assignment)):
                file.write((",\n" if number else "\n") + json.dumps(safe(document(grade))))
            file.write("\n]\n")


@command.command("backup")
@click.argument("file", type=PATH)
@SUMS_AS_JSON
@GRADEBOOK
def backup(file: Path, as_json: bool, gradebook: Location) -> None:
    """Copy the gradebook as it is now into FILE, an SQLite file; also while somebody writes into it.

    An older copy is replaced; another file that is there is refused.
    """
    if isinstance(gradebook, Path) and gradebook.exists() and file.exists() and file.samefile(gradebook):
        # It would be replaced below whoever has it open, and what they write be lost.
        raise UsageError(f"{file}: is the gradebook itself; name another file for the copy")
    with opened(gradebook) as book:
        book.database.backup(file)
    if as_json:
        echo_json({"file": str(file), "gradebook": str(gradebook)})
    else:
        echo(f"{file}: written; it is a gradebook like {gradebook}", err=True)
