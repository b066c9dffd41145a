"""`grader manual`: points by hand, exported as a table and imported."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from grader.cli.course import open_course
from grader.cli.echo import echo
from grader.cli.files import PATH
from grader.errors import UsageError
from grader.files import obstacle, write_whole

RESULTS = click.option("--results", default="results", type=PATH, show_default=True, help="Results folder.")
RUBRIC = click.option("--rubric", help="A rubric's name; otherwise the one named like the assignment.")


@click.group("manual")
def command() -> None:
    """Give points by hand: export a table, fill it in, import it, and run the archives again."""


@command.command("export")
@click.option("--out", required=True, type=PATH, help="The CSV file to write.")
@RESULTS
@RUBRIC
@click.pass_context
def export(context: click.Context, out: Path, results: Path, rubric: str | None) -> None:
    """Write a row for everything that waits for a person, or was judged by one."""
    from grader.cli.points import graded_submissions, rows
    from grader.config.points_csv import write_table

    course, plugins = open_course(context)
    table = list(rows(graded_submissions(results, course, plugins, rubric), plugins))
    try:
        write_whole(out, write_table(table))
    except OSError as error:
        raise obstacle(f"--out {out}", error) from None
    waiting = sum(not row.points for row in table)
    echo(f"{out}: {len(table)} items, {waiting} of them wait for a person", err=True)


@command.command("import")
@click.argument("file", type=PATH)
@click.option("--by", help="Who gives the points; otherwise your user name.")
@RESULTS
@RUBRIC
@click.pass_context
def import_(context: click.Context, file: Path, by: str | None, results: Path, rubric: str | None) -> None:
    """Save the points of FILE, if nothing in it is wrong; the next run counts them."""
    from getpass import getuser

    from grader.cli.points import Judgements, graded_submissions
    from grader.config.points_csv import read_table

    course, plugins = open_course(context)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file}: cannot be read ({error.strerror})") from None
    judgements = Judgements(
        graded_submissions(results, course, plugins, rubric),
        where=str(file),
        by=by or getuser(),
        at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    for line, row in read_table(content, str(file)):
        judgements.add(line, row)
    echo(f"{file}: {judgements.save()} new judgements saved; they count after the next grader run", err=True)
