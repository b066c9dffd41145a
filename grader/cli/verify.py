"""`grader verify`: the course's own mutation test."""

from __future__ import annotations

import sys
import time
from contextlib import closing as leaving
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.cli.course import ENGINE, open_course, options_of, require_linux
from grader.cli.display import ClassDisplay
from grader.cli.echo import echo, echo_json, tell_line
from grader.cli.files import FOLDER, PATH
from grader.errors import CourseError, ExitCode, worst
from grader.reports.class_progress import ClassProgress

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.config.course import Course
    from grader.plugins import Plugins
    from grader.selftest.cases import SelfTestCase
    from grader.selftest.compare import Verdict


@click.command("verify")
@click.argument("patterns", nargs=-1, metavar="[PATTERN]...")
@click.option("--quick", is_flag=True, help="Only the references, and submissions that say `quick: true`.")
@click.option("--assignment", metavar="NAME", help="Only what belongs to this assignment.")
@click.option(
    "--reference",
    type=FOLDER,
    help="Only this folder, as if it were the reference of --assignment.",
)
@click.option("--out", type=PATH, help="Keep the results in this folder.")
@ENGINE
@click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")
@click.pass_context
def command(context: click.Context, /, out: Path | None, engine: str, as_json: bool, **options: Any) -> int:
    """Grade the course's own submissions whose names match a PATTERN, and compare with what each must earn.

    Every reference must earn everything under each of its rubrics, and every submission of tests/submissions
    exactly what its expected.yaml says. Items of a reference that wait for a person are as expected. A
    starter that earns points is named with the items, and one that earns everything is not as expected.

    Of a whole course, or of one assignment with what course.yaml sets for it, the mistakes that grader course
    check finds are told as well.

    Exit codes: 0 all as expected, 2 usage, 3 a bug of ours, 4 something deviates or the course's files are
    wrong, 5 something could not be observed.
    """
    require_linux()
    from grader.cli.verdicts import closing, columns, document, rows
    from grader.cuda.gpus import gpus
    from grader.files import scratch
    from grader.selftest.cases import Selection, cases_of
    from grader.selftest.compare import verify

    begun = time.perf_counter()
    course, plugins = open_course(context)
    cases = cases_of(course, plugins, Selection(**options, gpus=len(gpus())))
    if not cases:
        tell_line("the course has no assignments yet, so nothing was verified; grader new NAME begins one")
        if as_json:
            echo_json(document((), 0.0, whole=True))
        return ExitCode.GRADED
    whole = not (options["patterns"] or options["quick"] or options["reference"])
    problems = _problems(course, plugins, options["assignment"]) if whole else ()
    for problem in problems:
        tell_line(problem)
    _remark_stale(course, cases)
    widths = columns(cases)
    verdicts: list[Verdict] = []
    lacking: dict[str, str] = {}
    settings = options_of(engine, course, plugins)
    progress = ClassProgress(sys.stderr, len(cases))
    plugins.listen(ClassDisplay(progress))
    folder = scratch("grader-verify-") if out is None else nullcontext(out)
    with leaving(progress), folder as place:
        try:
            for verdict in verify(course, plugins, cases, place, progress.ended, engine, settings):
                verdicts.append(verdict)
                if not as_json:
                    for line in rows(verdict, widths, sys.stdout, lacking):
                        progress.aside(partial(echo, line))
        except CourseError as error:  # of which some are told above
            raise CourseError(*(line for line in error.problems if line not in problems)) from error
    wall_s = time.perf_counter() - begun
    if as_json:
        echo_json(document(verdicts, wall_s, problems, whole=whole))
    else:
        for line in closing(verdicts, wall_s, whole=whole):
            echo(line)
    return worst((*(ExitCode.COURSE for _ in problems), *(verdict.exit_code for verdict in verdicts)))


def _problems(course: Course, plugins: Plugins, assignment: str | None) -> tuple[str, ...]:
    """Return what `grader course check` calls wrong of a course, or of one assignment; no remarks."""
    from grader.config.problem import Remark
    from grader.selftest.course import check_assignment, check_course

    lines = check_course(course, plugins)
    if assignment is not None:
        lines = check_assignment(course, plugins, assignment)
    return tuple(dict.fromkeys(line for line in lines if not isinstance(line, Remark)))


def _remark_stale(course: Course, cases: Iterable[SelfTestCase]) -> None:
    """Warn of archives that differ from their sources, because the archive is graded."""
    from grader.files import show_path
    from grader.packing.submissions import outdated
    from grader.selftest.cases import Role
    from grader.selftest.expectations import SOURCES

    for case in cases:
        if case.role is Role.SUBMISSION and outdated(course.folder / SOURCES / case.name, case.archive):
            remark = f"is not what {SOURCES}/{case.name} holds now; run grader pack"
            tell_line(f"{show_path(case.archive)}: {remark}")
