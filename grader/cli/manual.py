"""`grader manual`: points by hand, exported as a table and imported."""

from __future__ import annotations

import shlex
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.cli.book import (
    BOOK,
    LOCATION,
    VARIABLE,
    Location,
    Recorder,
    opened,
    opened_for_points,
    tell_of_mixtures,
)
from grader.cli.course import open_course
from grader.cli.echo import SUMS_AS_JSON, echo, echo_json, tell_line
from grader.cli.files import PATH, RESULTS_FOLDER
from grader.cli.groups import CommandGroup
from grader.errors import UsageError
from grader.files import obstacle, write_whole
from grader.model.magnitude import counted

if TYPE_CHECKING:
    from grader.cli.points import StoredGrade
    from grader.grading.submission import CourseFiles

RESULTS = click.option(
    "--results", default="results", type=RESULTS_FOLDER, show_default=True, help="Results folder."
)
RUBRIC = click.option("--rubric", help="A rubric's name; otherwise the one that the results are by.")


@click.group("manual", cls=CommandGroup)
def command() -> None:
    """Give points by hand: export a table, fill it in, and import it."""


@command.command("export")
@click.option("--out", required=True, type=PATH, help="The CSV file to write.")
@click.option(
    "--gradebook",
    envvar=VARIABLE,
    type=LOCATION,
    help=f"The gradebook with points of the page; otherwise that of {VARIABLE}, or {BOOK} if it is there.",
)
@RESULTS
@RUBRIC
@SUMS_AS_JSON
@click.pass_context
def export(
    context: click.Context,
    out: Path,
    gradebook: Location | None,
    results: Path,
    rubric: str | None,
    as_json: bool,
) -> None:
    """Write a row for each question and student, and for whatever else is flagged or waits for a person.

    Fill in `points`, or `part 1`, `part 2` and so on for the criteria of an item; `ok` in `points` accepts
    what is suggested. `comment` is for the student, `reason` for staff.

    Points that people gave are there, in results folder or gradebook: by a table, or in `grader review`.

    A table with rows that were filled in and not imported is not overwritten.
    """
    from grader.cli.points import graded_submissions
    from grader.cli.points_rows import rows
    from grader.cli.unsaved_points import require_saved
    from grader.config.points_csv import write_table
    from grader.config.points_file import WAITS

    course, plugins = open_course(context)
    with opened_for_points(gradebook) as book:
        grades = graded_submissions(results, course, plugins, rubric, tell_line, book)
    table = list(rows(grades, plugins, results))
    require_saved(out, table)
    try:
        write_whole(out, write_table(table))
    except OSError as error:
        raise obstacle(f"--out {out}", error) from None
    waiting = sum(row.now.startswith(WAITS) for row in table)
    if as_json:
        echo_json({"file": str(out), "items": len(table), "waiting": waiting})
    else:
        wait = "waits" if waiting == 1 else "wait"
        echo(f"{out}: {counted(len(table), 'item')}, {waiting} of them {wait} for a person", err=True)


@command.command("import")
@click.argument("file", type=PATH)
@click.option("--by", help="Who gives the points; otherwise your user name.")
@click.option("--replace", is_flag=True, help="Also replace points that somebody gave since the export.")
@click.option("--published", is_flag=True, help="Grades are published: show students what waits for that.")
@click.option(
    "--gradebook",
    envvar=VARIABLE,
    type=LOCATION,
    help="Record the grades in this gradebook as well; otherwise in that of GRADER_GRADEBOOK, if it is set. "
    f"Of {BOOK}, if it is there and none is named, the points are looked at alone.",
)
@RESULTS
@RUBRIC
@SUMS_AS_JSON
@click.pass_context
def import_(
    context: click.Context,
    /,
    file: Path,
    by: str | None,
    results: Path,
    rubric: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Save the points of FILE, if nothing in it is wrong, and write scores and pages with them.

    A row that would replace points which were given since the table was exported, by another table or in
    `grader review`, is wrong, unless --replace is there. Points that only the gradebook has are written into
    the results folders, too.
    """
    from grader.cli.judgements import Judgements
    from grader.cli.points import graded_submissions, recorded_points
    from grader.cli.points_rows import skipped_items
    from grader.config.points_csv import read_table
    from grader.config.points_file import append_missing
    from grader.grading.submission import CourseFiles
    from grader.machine.notes import login

    course, plugins = open_course(context)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file}: cannot be read ({error.strerror})") from None
    table = list(read_table(content, str(file)))
    gradebook: Location | None = options["gradebook"]
    later: list[Path] = []
    with ExitStack() as resources:
        source = opened_for_points(None) if gradebook is None else opened(gradebook, create=True)
        book = resources.enter_context(source)
        graded = graded_submissions(results, course, plugins, rubric, tell_line, book)
        rubrics = {grade.rubric.assignment: grade.rubric for grade in graded}
        judgements = Judgements(
            graded,
            where=str(file),
            by=by or login(),
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            zone=course.zone,
            export=_export_command(results, gradebook),
        )
        for number, row in table:
            judgements.add(number, row)
        recorder = None
        if book is not None and gradebook is not None:
            recorder = Recorder(book, course, plugins, rubrics.__getitem__, how="record")
            plugins.listen(recorder)
        files = CourseFiles(course, plugins, recorded=recorder)

        def count(grade: StoredGrade) -> None:
            append_missing(grade.folder, recorded_points(book, grade.evidence.submission))  # given meanwhile
            if not _count_points(grade, files, published=options["published"]):
                later.append(grade.folder)

        if not judgements.problems:
            judgements.compare(replace_unseen=options["replace"])
        saved = judgements.save(count)
        for remark in judgements.remarks(partial(skipped_items, plugins=plugins)):
            tell_line(remark)
        if book is not None and recorder is not None:
            tell_of_mixtures(book, recorder.assignments)
            for line in recorder.remarks():
                tell_line(line)
    if as_json:
        echo_json({"saved": saved, "count_after_next_run": [str(folder) for folder in later]})
        return
    echo(f"{file}: {counted(saved, 'new judgement')} saved", err=True)
    if saved and gradebook is None and Path(BOOK).is_file():
        advice = f"put them there by grader record {results}"
        echo(f"{BOOK}: does not have them; {advice}", err=True)
    for folder in later:
        reason = "the submission, the assignment or grader has changed since it was graded"
        echo(f"{folder}: {reason}; the points count after the next grader run", err=True)


def _count_points(grade: StoredGrade, files: CourseFiles, *, published: bool) -> bool:
    """Score the locked folder of a submission with its points; return whether that was possible now."""
    from grader.config.evidence_file import read_evidence
    from grader.grading.judged import count_points
    from grader.grading.results import Results

    folder = Results(grade.folder)
    evidence = read_evidence(folder.evidence)  # again: a run may have ended before the folder was locked
    if evidence is None or evidence.submission.digest != grade.evidence.submission.digest:
        return False
    return count_points(folder, evidence, grade.rubric, files, published=published) is not None


def _export_command(results: Path, gradebook: Location | None) -> str:
    """Return the command that exports a table with the points of the same folder and gradebook."""
    options = {"--results": str(results), "--gradebook": str(gradebook or ""), "--out": "FILE"}
    options = {name: value for name, value in options.items() if value not in {"", "results"}}
    return shlex.join(["grader", "manual", "export", *chain.from_iterable(options.items())])
