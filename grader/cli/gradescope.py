"""`grader gradescope`: one submission inside Gradescope's harness."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.cli.course import open_course, require_linux
from grader.cli.echo import echo, tell_line
from grader.cli.files import PATH, remove, write
from grader.cli.submissions import lies_in_future
from grader.errors import SubmissionError, UsageError

if TYPE_CHECKING:
    from grader.model.roster import Roster


PUBLISHED = click.option(
    "--published", is_flag=True, help="Students may see what is visible after publishing."
)
INCLUDE_PROVISIONAL = click.option(
    "--include-provisional", is_flag=True, help="Show students also grades that are open or held."
)
INCLUDE_UNTIMED = click.option(
    "--include-untimed",
    is_flag=True,
    help="Also grades without a time of submission where there is a late rule; nothing is taken off.",
)
"""The option of every command that shows grades to students."""


@click.command("gradescope")
@click.option(
    "--autograder",
    default="/autograder",
    type=PATH,
    show_default=True,
    help="The harness' folder: submission/ is graded, results/results.json is written.",
)
@click.option(
    "--assignment",
    help="Which assignment; otherwise the files say, and where they may be of several the named rubric.",
)
@click.option("--rubric", help="A rubric's name or file; otherwise the one named like the assignment.")
@click.option("--min-isolation", default="", metavar="LAYER", help="The weakest sandbox to use.")
@PUBLISHED
@INCLUDE_PROVISIONAL
@INCLUDE_UNTIMED
@click.pass_context
def command(
    context: click.Context,
    /,
    autograder: Path,
    published: bool,
    include_provisional: bool,
    include_untimed: bool,
    **options: Any,
) -> int:
    """Grade what Gradescope's harness was given, and leave results.json there.

    A submission that is not accepted gets 0 points and the reason. Where the course or the machine kept us
    from grading at all, no file is left: Gradescope calls that a failure of the autograder, and it is no
    grade.
    """
    require_linux()
    from grader.cli.display import Display
    from grader.contracts.exporter import Rules
    from grader.files import host_folders
    from grader.grading.sessions import open_session
    from grader.lms.fill import UNTIMED
    from grader.lms.gradescope import Gradescope, refusal
    from grader.scoring.redact import closes, student_view

    results = autograder / "results" / Gradescope.filename
    remove(results)  # an earlier run's results must not pass for this one's
    course, plugins = open_course(context)
    sent = read_metadata(autograder / "submission_metadata.json", course.roster)
    plugins.listen(Display(sys.stderr))
    with open_session(plugins) as workers:  # they import while we do
        from grader.grading.grade import Grading
        from grader.grading.submission import CourseFiles, Request

        request = Request(
            archive=_upload(autograder / "submission"),
            out=autograder / "grader",
            student=sent.student,
            submitted_at=sent.at,
            in_future=lies_in_future(sent.at),
            published=published,
            **options,
        )
        grading = Grading(CourseFiles(course, plugins), workers, alone=True)
        ((_, graded),) = grading.grade([request])
        if isinstance(graded, SubmissionError):
            write(results, refusal("\n".join(graded.problems)))
        if isinstance(graded, Exception):
            raise graded
    if graded.trouble:
        tell_line(graded.trouble)
    rubric = graded.rubric
    view = student_view(
        rubric,
        graded.evidence,
        graded.scorecard,
        now=datetime.now(UTC),
        published=published,
        closes=closes(rubric, course.extensions_of(rubric.assignment), course.zone),
        host_folders=host_folders(course.folder, autograder),
    )
    if any(total.late and total.late.in_future for total in graded.scorecard.totals):
        tell_line(f"{sent.student}: Gradescope's time of submission has not come yet; is this clock right?")
    if not include_untimed and any(total.untimed for total in graded.scorecard.totals):
        tell_line(f"{sent.student}: {UNTIMED}")
    rules = Rules(include_provisional=include_provisional, include_untimed=include_untimed)
    write(results, Gradescope().render(replace(view, time_zone=course.zone), rules))
    echo(f"{results}: written, {graded.scorecard.standing}", err=True)
    return graded.exit_code


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """Gradescope's metadata of a submission."""

    student: str
    """As `--student` takes it: a team as `alice+bob`."""
    at: datetime | None
    """None without an offset from UTC."""


def read_metadata(file: Path, roster: Roster) -> Sent:
    """Read students and time from `submission_metadata.json`.

    Students are matched with the roster by e-mail and student id; others are named by the part of the e-mail
    before the `@`, or by the user's id.

    Raises:
        UsageError: it cannot be read, or names nobody.
    """
    try:
        metadata = json.loads(file.read_text(encoding="utf-8"))
        users, at = metadata["users"], metadata.get("created_at") or ""
        names = [_called(user, roster) for user in users]
        when = datetime.fromisoformat(at) if at else None
    except OSError as error:
        raise UsageError(
            f"{file}: cannot be read ({error.strerror}); name the folder by --autograder"
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{file}: is not what Gradescope writes ({error!r}); look at it") from None
    if not names:
        raise UsageError(f"{file}: names no user; look at it")
    if len(set(names)) < len(names):
        names = [f"user_{user['id']}" for user in users]
    return Sent(student="+".join(names), at=when if when and when.tzinfo else None)


def _called(user: Mapping[str, Any], roster: Roster) -> str:
    email, sid = (str(user.get(key) or "").casefold() for key in ("email", "sid"))
    for student in roster.students:
        if (email and student.email.casefold() == email) or (sid and student.sis_id.casefold() == sid):
            return student.student
    name = re.sub("[^A-Za-z0-9._-]", "_", email.partition("@")[0]).lstrip(".-")[:64]
    return name or f"user_{user['id']}"


def _upload(folder: Path) -> Path:
    """Return the folder, or the only archive in it: Gradescope itself unpacks only .zip.

    It may be of a format that is not supported: then it is refused by its own name.
    """
    from grader.intake.upload import packed

    try:
        files = list(folder.iterdir())
    except OSError as error:
        raise UsageError(
            f"{folder}: cannot be read ({error.strerror}); name its parent by --autograder"
        ) from None
    return files[0] if len(files) == 1 and packed(files[0]) else folder
