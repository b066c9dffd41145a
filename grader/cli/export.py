"""`grader export`: the class as a table or JSON, for learning platforms, and the gradebook as one file."""

from __future__ import annotations

import json
from pathlib import Path

import click

from grader.cli.book import GRADEBOOK, opened
from grader.cli.course import roster_of
from grader.cli.echo import echo
from grader.cli.exporters import OUT, Exports
from grader.cli.files import PATH, written


@click.group("export", cls=Exports)
def command() -> None:
    """Write the marks of a class for spreadsheets, programs and platforms, or a copy of the gradebook."""


@command.command("csv")
@click.argument("assignment")
@OUT
@GRADEBOOK
@click.pass_context
def csv_(context: click.Context, assignment: str, out: Path | None, gradebook: Path) -> None:
    """Write a row for each student and a column for each item of ASSIGNMENT.

    Points that are open are an empty cell. Students of the course's roster who handed in nothing stand at
    the end.
    """
    with opened(gradebook) as book:
        from grader.gradebook.export import write_csv

        with written(out, encoding="utf-8-sig") as file:
            students = tuple(one.student for one in roster_of(context).students)
            count = write_csv(book, assignment, students, file)
    echo(f"{gradebook}: {count} students have a mark in {assignment}", err=True)


@command.command("json")
@click.argument("assignment", required=False)
@OUT
@GRADEBOOK
def json_(assignment: str | None, out: Path | None, gradebook: Path) -> None:
    """Write a list with an object for each student's mark, of all assignments if none is named."""
    with opened(gradebook) as book:
        from grader.gradebook.export import document
        from grader.text import document as safe

        with written(out) as file:
            file.write("[")
            for number, entry in enumerate(book.entries(assignment=assignment)):
                file.write((",\n" if number else "\n") + json.dumps(safe(document(entry))))
            file.write("\n]\n")


@command.command("backup")
@click.argument("file", type=PATH)
@GRADEBOOK
def backup(file: Path, gradebook: Path) -> None:
    """Copy the gradebook as it is now into FILE; also while somebody writes into it."""
    with opened(gradebook) as book:
        book.file.backup(file)
    echo(f"{file}: written; it is a gradebook like {gradebook}", err=True)
