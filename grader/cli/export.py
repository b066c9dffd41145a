"""`grader export`: the class as a table or JSON, for learning platforms, and the gradebook as one file."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from grader.cli.book import GRADEBOOK, opened
from grader.cli.gradescope import export as gradescope
from grader.config.roster import Roster
from grader.errors import UsageError
from grader.lms.contract import Fate, Filled, Mark, Rules, Worksheet
from grader.lms.exporters import WORKSHEETS

if TYPE_CHECKING:
    from grader.gradebook.book import Gradebook

OUT = click.option("--out", type=click.Path(path_type=Path), help="The file; otherwise standard output.")


@click.group("export")
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

        with _written(out, encoding="utf-8-sig") as file:
            students = tuple(one.student for one in _roster(context).students)
            count = write_csv(book, assignment, students, file)
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


def _worksheet(worksheet: Worksheet) -> click.Command:
    """`grader export NAME` for a platform's own table."""

    @click.command(worksheet.name, help=f"Fill the marks of ASSIGNMENT into {worksheet.file}.")
    @click.argument("assignment")
    @click.option("--sheet", required=True, type=click.Path(path_type=Path), help="The file as it was given.")
    @click.option("--column", default="", help="The heading or the id of the column, if there are several.")
    @click.option(
        "--include-provisional", is_flag=True, help="Also marks that are open or held, as they are."
    )
    @click.option("--overwrite", is_flag=True, help="Also where another grade stands, even a higher one.")
    @click.option("--scale", is_flag=True, help="Convert in proportion where the maximum there is another.")
    @click.option(
        "--digits", default=2, type=click.IntRange(0, 6), show_default=True, help="Decimals that are written."
    )
    @OUT
    @GRADEBOOK
    @click.pass_context
    def filled(
        context: click.Context,
        /,
        assignment: str,
        sheet: Path,
        out: Path | None,
        gradebook: Path,
        **told: Any,
    ) -> None:
        rules = Rules(**told)
        try:
            content = sheet.read_bytes()
        except OSError as error:
            raise UsageError(
                f"--sheet {sheet}: cannot be read ({error.strerror}); name {worksheet.file}"
            ) from None
        with opened(gradebook) as book:
            marks = _marks(book, assignment)
        if not marks:
            raise UsageError(
                f"{gradebook}: has no mark in {assignment!r}; grader export json tells what it has"
            )
        done = worksheet.fill(content, str(sheet), marks, _roster(context), rules)
        with _written(out) as file:
            file.write(done.text)
        _tell(done, rules)

    return filled


for _one in WORKSHEETS:
    command.add_command(_worksheet(_one))
command.add_command(gradescope)


def _marks(book: Gradebook, assignment: str) -> Mapping[str, Mark]:
    """What holds of each student, also of a team."""
    marks = {}
    for entry in book.entries(assignment=assignment):
        card, submission = entry.card, entry.submission
        (total,) = (total for total in card.totals if total.student == entry.student)
        marks[entry.student] = Mark(
            student=entry.student,
            points=total.adjusted,
            possible=card.points.possible,
            standing=card.standing,
            lms_id="" if submission.members else submission.lms_id or "",
        )
    return marks


def _tell(done: Filled, rules: Rules) -> None:
    """Everyone of whom there is something to say, then the sums."""
    for outcome in done.outcomes:
        if outcome.note:
            click.echo(f"{outcome.who}: {outcome.note}", err=True)
    for remark in done.remarks:
        click.echo(remark, err=True)
    counts = Counter(outcome.fate for outcome in done.outcomes)
    sums = [f"{counts[fate]} {fate}" for fate in Fate if counts[fate] or fate is Fate.WRITTEN]
    if done.rounded:
        sums.append(f"{done.rounded} rounded to {rules.digits} decimals")
    click.echo(", ".join(sums), err=True)


def _roster(context: click.Context) -> Roster:
    """The students of the course; none where we are in no course."""
    from grader.config.course import find_course

    explicit: str | None = context.find_root().obj
    try:
        return find_course(Path(explicit) if explicit else None, os.environ, Path.cwd()).roster
    except UsageError:
        return Roster()


@contextmanager
def _written(out: Path | None, encoding: str = "utf-8") -> Iterator[TextIO]:
    """Where to write: a file that appears whole or not at all, or standard output."""
    if out is None:
        sys.stdout.reconfigure(encoding="utf-8", newline="")  # type: ignore[union-attr]  # click leaves it
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
