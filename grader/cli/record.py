"""`grader record`: what lies in results folders goes into the gradebook."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.book import GRADEBOOK, opened
from grader.cli.course import open_course
from grader.cli.echo import echo
from grader.cli.files import PATH
from grader.errors import ExitCode, NotObservedError


@click.command("record")
@click.argument("out", default="results", type=PATH)
@click.option("--rubric", help="A rubric's name or file; otherwise the one named like the assignment.")
@GRADEBOOK
@click.pass_context
def command(context: click.Context, out: Path, rubric: str | None, gradebook: Path) -> int:
    """Keep what the results folder OUT holds in the gradebook, which is made if there is none.

    Marks are those that a run would give now. What the gradebook has already is not added again, and who
    comes with an earlier exam than it has is kept out.

    Exit codes: 0 all of it is there, 5 something was kept out or cannot be read.
    """
    from grader.gradebook.folders import marks_in

    course, plugins = open_course(context)
    counts = {True: 0, False: 0}
    kept_out = 0
    with opened(gradebook, create=True) as book:
        for evidence, card in marks_in(out, course, plugins, rubric):
            try:
                counts[book.record(evidence, card, how="record")] += 1
            except NotObservedError as error:
                for problem in error.problems:
                    echo(f"grader: {problem}", err=True)
                kept_out += 1
    told = f"{counts[True]} marks recorded, {counts[False]} there already"
    echo(f"{gradebook}: {told}" + (f", {kept_out} kept out" if kept_out else ""), err=True)
    return ExitCode.NOT_OBSERVED if kept_out else ExitCode.GRADED
