"""`grader run`: from archives to marks."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from grader.cli.course import open_course, require_linux
from grader.cli.display import Display, show
from grader.errors import ExitCode, GraderError, UsageError, worst

EXECUTOR = "local"


@click.command("run")
@click.argument("archives", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--student", help="Who handed it in, a team as alice+bob; otherwise the archive's name says.")
@click.option("--assignment", help="Which assignment; otherwise the files say.")
@click.option("--rubric", help="A rubric's name or file; otherwise the one named like the assignment.")
@click.option("--item", "items", multiple=True, metavar="GLOB", help="Only these items, and what they need.")
@click.option(
    "--out", default="results", type=click.Path(path_type=Path), show_default=True, help="Results folder."
)
@click.option("--published", is_flag=True, help="Students may see what is visible after publishing.")
@click.option(
    "--submitted-at",
    callback=lambda _context, _option, text: _moment(text),
    metavar="TIME",
    help="When it was handed in, such as 2024-12-23T22:10:00+02:00; otherwise no late rule applies.",
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
    type=click.Path(path_type=Path),
    help="Keep the marks in this gradebook as well; otherwise in that of GRADER_GRADEBOOK, if it is set.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the scores as JSON on standard output.")
@click.option("--require-final", is_flag=True, help="End with 5 if any point is still open.")
@click.pass_context
def command(
    context: click.Context,
    /,
    archives: tuple[Path, ...],
    gradebook: Path | None,
    as_json: bool,
    require_final: bool,
    **asked: Any,
) -> int:
    """Grade ARCHIVES (.tar.gz, .zip, … or folders) and write the results below --out.

    Loose files that Canvas named after one student are one hand-in.

    Exit codes: 0 graded (also if points are open), 2 usage, 3 a bug of ours, 4 the course's files are wrong,
    5 something could not be observed, 6 an archive was not accepted. Several archives end with the worst,
    in the order 3, 4, 5, 6, 0.
    """
    require_linux()
    from grader.intake.hand_in import group

    hand_ins = group(archives)
    if asked["student"] and len(hand_ins) > 1:
        raise UsageError(
            "--student: names one student, but there are several archives; grade them one by one"
        )
    course, plugins = open_course(context)
    if gradebook is not None:
        from grader.cli.book import Recorder, opened

        plugins.listen(Recorder(context.with_resource(opened(gradebook, create=True))))
    plugins.listen(Display(sys.stderr))
    codes, cards = [], []
    for hand_in in hand_ins:
        try:
            with plugins.executors[EXECUTOR].standby():  # it imports while we do
                from grader.exams import Request
                from grader.pipeline import grade

                graded = grade(Request(archive=hand_in, executor=EXECUTOR, **asked), course, plugins)
        except GraderError as error:
            for problem in error.problems:
                click.echo(f"grader: {problem}", err=True)
            codes.append(error.exit_code)
            continue
        except Exception:  # the other archives can be graded still
            from grader.cli.main import show_bug

            show_bug()
            codes.append(ExitCode.BUG)
            continue
        for remark in filter(None, (graded.trouble, course.roster.remark(graded.submission))):
            click.echo(f"grader: {remark}", err=True)
        still_open = [ExitCode.NOT_OBSERVED] if require_final and not graded.final else []
        codes.append(worst([graded.exit_code, *still_open]))
        if as_json:
            cards.append(json.loads((graded.results.folder / "score.json").read_text(encoding="utf-8")))
        else:
            show(graded)
    if as_json:
        click.echo(json.dumps(cards[0] if len(hand_ins) == 1 and cards else cards, indent=2))
    return worst(codes)


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise UsageError(
            f"--submitted-at {text}: must be a date and time with its offset from UTC; "
            "write it like 2024-12-23T22:10:00+02:00"
        )
    return moment
