"""`grader export`: the class as a table or JSON, and the gradebook as one file."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import click

from grader.cli.book import GRADEBOOK, opened
from grader.errors import UsageError

OUT = click.option("--out", type=click.Path(path_type=Path), help="The file; otherwise standard output.")


@click.group("export")
def command() -> None:
    """Write the marks of a class for spreadsheets and programs, or a copy of the gradebook."""


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

        with _written(out, encoding="utf-8-sig") as file:
            count = write_csv(book, assignment, _roster(context), file)
    click.echo(f"{gradebook}: {count} students have a mark in {assignment}", err=True)


@command.command("json")
@click.argument("assignment", required=False)
@OUT
@GRADEBOOK
def json_(assignment: str | None, out: Path | None, gradebook: Path) -> None:
    """Write a list with an object for each student's mark, of all assignments if none is named."""
    with opened(gradebook) as book:
        from grader.gradebook.export import document

        with _written(out) as file:
            file.write("[")
            for number, entry in enumerate(book.entries(assignment=assignment)):
                file.write((",\n" if number else "\n") + json.dumps(document(entry)))
            file.write("\n]\n")


@command.command("backup")
@click.argument("file", type=click.Path(path_type=Path))
@GRADEBOOK
def backup(file: Path, gradebook: Path) -> None:
    """Copy the gradebook as it is now into FILE; also while somebody writes into it."""
    with opened(gradebook) as book:
        book.file.backup(file)
    click.echo(f"{file}: written; it is a gradebook like {gradebook}", err=True)


def _roster(context: click.Context) -> tuple[str, ...]:
    """The students of the course; none where we are in no course."""
    from grader.config.course import find_course

    explicit: str | None = context.find_root().obj
    try:
        course = find_course(Path(explicit) if explicit else None, os.environ, Path.cwd())
    except UsageError:
        return ()
    return tuple(one.student for one in course.roster.students)


@contextmanager
def _written(out: Path | None, encoding: str = "utf-8") -> Iterator[TextIO]:
    """Where to write: a file that appears whole or not at all, or standard output."""
    if out is None:
        sys.stdout.reconfigure(newline="")  # type: ignore[union-attr]  # click leaves the stream as it is
        yield sys.stdout
        return
    beside = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        with beside.open("w", encoding=encoding, newline="") as file:
            yield file
        beside.replace(out)
    except OSError as error:
        raise UsageError(f"--out {out}: cannot be written ({error.strerror}); name another file") from None
    finally:
        beside.unlink(missing_ok=True)
