"""`grader record`: record the grades of a results folder in the gradebook."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from grader.cli.book import GRADEBOOK, Location, opened, remarks_on_kept, tell_of_mixtures
from grader.cli.course import open_course
from grader.cli.echo import SUMS_AS_JSON, echo, echo_json, tell_line
from grader.cli.files import RECORDED_FOLDER
from grader.errors import ExitCode, NotObservedError
from grader.model.magnitude import counted


@click.command("record")
@click.argument("out", default="results", type=RECORDED_FOLDER)
@click.option("--rubric", help="A rubric's name or file; otherwise the one that the results are by.")
@SUMS_AS_JSON
@GRADEBOOK
@click.pass_context
def command(context: click.Context, out: Path, rubric: str | None, as_json: bool, gradebook: Location) -> int:
    """Record the grades of the results folder OUT in the gradebook, which is created if there is none.

    An empty folder creates the gradebook alone, as the owner of a database does before others grade.

    Grades are those that a run by the same rubric would give now. What the gradebook has already is not
    added again, and evidence that is older than the recorded one is refused. So is what was observed by
    another grader, or before files of the course were changed: its grade would lose points until it is run.

    Exit codes: 0 everything is recorded, 5 something was refused or cannot be read.
    """
    from grader.gradebook.folders import grades_in

    course, plugins = open_course(context)
    counts = {True: 0, False: 0}
    refused: list[str] = []
    outdated: dict[str, list[str]] = {}
    assignments: set[str] = set()
    lines_on_kept: dict[tuple[str, str], str] = {}
    with opened(gradebook, create=True) as book:
        for result in grades_in(out, course, plugins, rubric, tell_line):
            evidence, judge = result.evidence, result.judge
            assignments.add(evidence.submission.assignment)
            if result.outdated:
                outdated.setdefault(result.outdated, []).append(evidence.submission.student)
                continue
            try:
                tell = partial(
                    lines_on_kept.__setitem__, (evidence.submission.student, evidence.submission.assignment)
                )
                is_new = book.record(
                    evidence, judge(evidence), how="record", judge=judge, tell=tell, zone=course.zone
                )
                counts[is_new] += 1
            except NotObservedError as error:
                refused.append("; ".join(error.problems))
                for problem in () if as_json else error.problems:
                    tell_line(problem)
        tell_of_mixtures(book, assignments)
        for line in remarks_on_kept(lines_on_kept):
            tell_line(line)
    for why, students in outdated.items():
        are = "is" if len(students) == 1 else "are"
        refused.append(
            f"{counted(len(students), 'grade')} {are} not recorded, for {why}; run these submissions again: "
            f"{', '.join(students)}"
        )
        if not as_json:
            tell_line(refused[-1])
    if as_json:
        sums_by_name = {"recorded": counts[True], "recorded_already": counts[False]}
        echo_json({"gradebook": str(gradebook), **sums_by_name, "refused": refused})
        return ExitCode.NOT_OBSERVED if refused else ExitCode.GRADED
    sums = [f"{counted(counts[True], 'grade')} recorded", f"{counts[False]} recorded already"]
    sums += [f"{refusals} refused"] if (refusals := len(refused) - len(outdated)) else []
    sums += [f"{again} to be run again"] if (again := sum(map(len, outdated.values()))) else []
    echo(f"{gradebook}: {', '.join(sums)}", err=True)
    return ExitCode.NOT_OBSERVED if refused else ExitCode.GRADED
