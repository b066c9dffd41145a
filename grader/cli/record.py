"""`grader record`: record the grades of a results folder in the gradebook."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.book import GRADEBOOK, Location, opened, tell_of_mixtures
from grader.cli.course import open_course
from grader.cli.echo import SUMS_AS_JSON, echo, echo_json, tell_line
from grader.cli.files import RESULTS_FOLDER
from grader.errors import ExitCode, NotObservedError
from grader.model.magnitude import counted


@click.command("record")
@click.argument("out", default="results", type=RESULTS_FOLDER)
@click.option("--rubric", help="A rubric's name or file; otherwise the one that the results are by.")
@SUMS_AS_JSON
@GRADEBOOK
@click.pass_context
def command(context: click.Context, out: Path, rubric: str | None, as_json: bool, gradebook: Location) -> int:
    """Record the grades of the results folder OUT in the gradebook, which is created if there is none.

    Grades are those that a run by the same rubric would give now. What the gradebook has already is not
    added again, and evidence that is older than the recorded one is refused.

    Exit codes: 0 everything is recorded, 5 something was refused or cannot be read.
    """
    from grader.gradebook.folders import grades_in

    course, plugins = open_course(context)
    counts = {True: 0, False: 0}
    refused: list[str] = []
    assignments: set[str] = set()
    with opened(gradebook, create=True) as book:
        for evidence, judge in grades_in(out, course, plugins, rubric, tell_line):
            assignments.add(evidence.submission.assignment)
            try:
                counts[book.record(evidence, judge(evidence), how="record", judge=judge)] += 1
            except NotObservedError as error:
                refused.append("; ".join(error.problems))
                for problem in () if as_json else error.problems:
                    tell_line(problem)
        tell_of_mixtures(book, assignments)
    if as_json:
        sums_by_name = {"recorded": counts[True], "recorded_already": counts[False]}
        echo_json({"gradebook": str(gradebook), **sums_by_name, "refused": refused})
        return ExitCode.NOT_OBSERVED if refused else ExitCode.GRADED
    sums = f"{counted(counts[True], 'grade')} recorded, {counts[False]} recorded already"
    echo(f"{gradebook}: {sums}" + (f", {len(refused)} refused" if refused else ""), err=True)
    return ExitCode.NOT_OBSERVED if refused else ExitCode.GRADED
