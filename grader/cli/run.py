"""`grader run`: from archives to grades."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, closing
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.cli.book import LOCATION, Location, Recorder, opened, tell_of_mixtures
from grader.cli.course import ENGINE, open_course, options_of, remark_extensions, require_linux
from grader.cli.display import ClassDisplay, Display
from grader.cli.echo import tell_line
from grader.cli.files import ONE_OF_MANY, PATH
from grader.cli.outcome import RunSummary
from grader.cli.submissions import find_submissions, lies_in_future, require_submissions, timed
from grader.config.problem import require_named
from grader.engines import LOCAL
from grader.errors import UsageError
from grader.reports.class_progress import ClassProgress

if TYPE_CHECKING:
    from grader.config.course import Course


@click.command("run")
@click.argument("archives", nargs=-1, required=True, type=ONE_OF_MANY)
@click.option("--student", help="Who handed it in, a team as alice+bob; otherwise the archive's name says.")
@click.option(
    "--assignment",
    help="Which assignment; otherwise the files say, and where they may be of several the named rubric.",
)
@click.option("--rubric", help="A rubric's name or file; otherwise the one named like the assignment.")
@click.option(
    "--item",
    "items",
    multiple=True,
    metavar="GLOB",
    help="Only these items, and what they need; such a part replaces no recorded grade.",
)
@click.option("--out", default="results", type=PATH, show_default=True, help="Results folder.")
@click.option("--published", is_flag=True, help="Students may see what is visible after publishing.")
@click.option(
    "--submitted-at",
    metavar="TIME",
    help="When it was handed in, such as 2024-12-23T22:10:00+02:00, or without the offset by the course's "
    "clocks; otherwise no late rule applies.",
)
@click.option(
    "--times",
    type=PATH,
    help="When each was handed in: a table with student or id and time, or Canvas' list of submissions.",
)
@click.option(
    "--min-isolation",
    default="",
    metavar="LAYER",
    help="The weakest sandbox to use, such as namespaces; a stronger demand of the course stands.",
)
@click.option("--fresh", is_flag=True, help="Observe again what was observed before.")
@click.option(
    "--gradebook",
    envvar="GRADER_GRADEBOOK",
    type=LOCATION,
    help="Record the grades in this gradebook as well; otherwise in that of GRADER_GRADEBOOK, if it is set.",
)
@click.option("--json", "as_json", is_flag=True, help="Print scores and refusals as JSON on standard output.")
@click.option("--require-final", is_flag=True, help="End with 5 if any point is still open.")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    metavar="N",
    help="How many submissions are looked at side by side; otherwise one for each core.",
)
@ENGINE
@click.option(
    "--detach",
    is_flag=True,
    help="End once all is sent to a cluster, with 5; the same command collects later what was observed.",
)
@click.pass_context
def command(
    context: click.Context,
    /,
    archives: tuple[Path, ...],
    gradebook: Location | None,
    as_json: bool,
    require_final: bool,
    jobs: int | None,
    times: Path | None,
    **options: Any,
) -> int:
    """Grade ARCHIVES (.tar.gz, .zip, … or folders) and write the results below --out.

    A folder that holds nothing but archives stands for each of them, and so does the zip of all submissions
    that Canvas or Moodle gives out; beside others, or called as a student on the roster, it is one
    submission. So are loose files that Canvas named after one student. Of what a platform numbered as several
    attempts the newest counts, or the best where the rubric says so.

    Submissions are graded side by side; what is timed, or needs a GPU, has the machine for itself. Whatever
    stops the run, the same command goes on where it was.

    Exit codes: 0 graded (also if points are open), 2 usage, 3 a bug of ours, 4 the course's files are wrong,
    5 something could not be observed, 6 an archive was not accepted. Several archives end with the worst,
    in the order 3, 2, 4, 5, 6, 0.
    """
    require_linux()
    engine, detach = options.pop("engine"), options.pop("detach")
    with ExitStack() as resources:
        if engine == LOCAL:
            from grader.engines.process import spare_worker

            resources.enter_context(spare_worker())
        course, plugins = open_course(context)
        options["submitted_at"] = _submission_time(options["submitted_at"], course)
        if options["assignment"] is not None:  # before any archive is opened
            require_named("--assignment", options["assignment"], plugins.assignment_folders)
        remark_extensions(course)
        require_submissions(archives, options["out"], course, options["student"])
        run_input = find_submissions(archives, options["out"], course, resources)
        if options["student"] and len(run_input.uploads) > 1:
            raise UsageError(
                "--student: names one student, but there are several archives; grade them one by one"
            )
        from grader.grading.submission import CourseFiles

        recorder = None
        if gradebook is not None:
            book = resources.enter_context(opened(gradebook, create=True))
            rubric_of = partial(CourseFiles(course, plugins).rubric, name=options["rubric"])
            recorder = Recorder(book, course, plugins, rubric_of, of_items=bool(options["items"]))
            plugins.listen(recorder)
        from grader.grading.sessions import engine_called, open_session

        chosen = engine_called(engine, plugins)
        if detach and not chosen.detaches:
            raise UsageError(
                f"--detach: the workers of the engine {engine} end with the command; leave it out"
            )
        alone = len(run_input.uploads) == 1 and not run_input.older[0] and not chosen.is_remote
        session = open_session(
            plugins,
            engine,
            out=None if alone else options["out"],
            at_once=1 if alone else min(jobs or len(os.sched_getaffinity(0)), len(run_input.uploads)),
            gpus=0 if alone or chosen.is_remote else _gpus(),
            options=options_of(engine, course, plugins),
            detach=detach,
        )
        with session as workers:  # they import while we do
            from grader.grading.attempts import Attempts
            from grader.grading.grade import OPEN_AT_MOST, Grading, open_elsewhere
            from grader.grading.submission import Request

            in_future = lies_in_future(options["submitted_at"])
            requests = [
                Request(archive=upload, in_future=in_future, **options) for upload in run_input.uploads
            ]
            if times is not None:
                requests = timed(requests, times, course)
            outcome = RunSummary(
                course,
                run_input,
                options["out"],
                accepts=lambda name: plugins.assignments[name].accepts,
                items=options["items"],
                as_json=as_json,
                require_final=require_final,
            )
            display = Display(sys.stderr) if alone else ClassDisplay(ClassProgress(sys.stderr, len(requests)))
            plugins.listen(display)
            open_at_most = open_elsewhere() if chosen.is_remote else OPEN_AT_MOST
            files = CourseFiles(course, plugins, recorded=recorder)
            grading = Grading(files, workers, alone=alone, open_at_most=open_at_most)
            attempts = Attempts(grading, course.roster, tell_line, recorded=recorder)
            with closing(display):
                for number, result in attempts.grade(requests, run_input.older):
                    display.ended(partial(outcome.add, number, result))
        code = outcome.close()
        if recorder is not None:
            tell_of_mixtures(book, recorder.assignments)
            for line in recorder.remarks():
                tell_line(line)
        return code


def _gpus() -> int:
    from grader.cuda.gpus import gpus

    return len(gpus())


def _submission_time(text: str | None, course: Course) -> datetime | None:
    """Read `--submitted-at` as a row of `--times` is read."""
    from grader.config.times import moment

    try:
        return None if text is None else moment(text, course.zone)
    except ValueError as error:
        raise UsageError(f"--submitted-at {error}") from None
