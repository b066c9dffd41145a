"""`grader gradescope`: one hand-in inside Gradescope's harness, and such results out of the gradebook."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.cli.book import GRADEBOOK, opened
from grader.cli.course import open_course, require_linux
from grader.errors import SubmissionError, UsageError

if TYPE_CHECKING:
    from grader.config.roster import Roster
    from grader.gradebook.book import Entry

PUBLISHED = click.option(
    "--published", is_flag=True, help="Students may see what is visible after publishing."
)
INCLUDE_PROVISIONAL = click.option(
    "--include-provisional", is_flag=True, help="Show students also marks that are open or held."
)


@click.command("gradescope")
@click.option(
    "--autograder",
    default="/autograder",
    type=click.Path(path_type=Path),
    show_default=True,
    help="The harness' folder: submission/ is graded, results/results.json is written.",
)
@click.option("--assignment", help="Which assignment; otherwise the files say.")
@click.option("--rubric", help="A rubric's name or file; otherwise the one named like the assignment.")
@click.option("--min-isolation", default="", metavar="LAYER", help="The weakest sandbox to use.")
@PUBLISHED
@INCLUDE_PROVISIONAL
@click.pass_context
def command(
    context: click.Context, /, autograder: Path, published: bool, include_provisional: bool, **asked: Any
) -> int:
    """Grade what Gradescope's harness was given, and leave results.json there.

    A hand-in that is not accepted gets 0 points and the reason. Where the course or the machine kept us from
    grading at all, no file is left: Gradescope calls that a failure of the autograder, and it is no mark.
    """
    require_linux()
    from grader.cli.display import Display
    from grader.lms.gradescope import Gradescope, refusal
    from grader.scoring.redact import closes, student_view

    results = autograder / "results" / Gradescope.filename
    _remove(results)  # what an earlier run said must not pass for what this one says
    course, plugins = open_course(context)
    sent = read_metadata(autograder / "submission_metadata.json", course.roster)
    plugins.listen(Display(sys.stderr))
    with plugins.executors["local"].standby():  # it imports while we do
        from grader.exams import Request
        from grader.pipeline import grade

        request = Request(
            archive=_hand_in(autograder / "submission"),
            out=autograder / "grader",
            student=sent.student,
            submitted_at=sent.at,
            published=published,
            **asked,
        )
        try:
            graded = grade(request, course, plugins)
        except SubmissionError as error:
            _write(results, refusal("\n".join(error.problems)))
            raise
    if graded.trouble:
        click.echo(f"grader: {graded.trouble}", err=True)
    rubric = graded.rubric
    view = student_view(
        rubric,
        graded.evidence,
        graded.scorecard,
        now=datetime.now(UTC),
        published=published,
        closes=closes(rubric, course.extensions_of(rubric.assignment), course.zone),
    )
    _write(results, Gradescope(include_provisional=include_provisional).render(view))
    click.echo(f"{results}: written, {graded.scorecard.standing}", err=True)
    return graded.exit_code


@click.command("gradescope")
@click.argument("assignment")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The folder for STUDENT.json.")
@PUBLISHED
@INCLUDE_PROVISIONAL
@GRADEBOOK
@click.pass_context
def export(
    context: click.Context,
    assignment: str,
    out: Path,
    published: bool,
    include_provisional: bool,
    gradebook: Path,
) -> None:
    """Write a results.json for each student who has a mark in ASSIGNMENT.

    For an autograder that fetches what was graded elsewhere.
    """
    from grader.config.rubric import load_rubric
    from grader.lms.gradescope import Gradescope
    from grader.model.score import Standing
    from grader.scoring.redact import closes, student_view

    course, plugins = open_course(context)
    now, written = datetime.now(UTC), 0

    @cache
    def rubric_of(name: str) -> Any:
        path = course.rubric_for(assignment, name)
        return load_rubric(path, kinds=plugins.checks, assignments=plugins.assignment_folders)

    def objection(entry: Entry) -> str:
        if rubric_of(entry.card.rubric).digest != entry.card.rubric_digest:
            return f"was marked by an earlier rubric {entry.card.rubric}; run grader rescore {assignment}"
        if entry.card.standing is not Standing.FINAL and not include_provisional:
            return f"is {entry.card.standing} and held back"
        return ""

    with opened(gradebook) as book:
        for entry in tuple(book.entries(assignment=assignment)):
            file = out / f"{entry.student}.json"
            if why := objection(entry):
                _remove(file)  # what an earlier export said does not hold any more
                click.echo(f"{entry.student}: {why}", err=True)
                continue
            rubric = rubric_of(entry.card.rubric)
            own = tuple(total for total in entry.card.totals if total.student == entry.student)
            view = student_view(
                rubric,
                book.evidence(entry.attempt),
                replace(entry.card, totals=own),
                now=now,
                published=published,
                closes=closes(rubric, course.extensions_of(assignment), course.zone),
            )
            _write(file, Gradescope(include_provisional=include_provisional).render(view))
            written += 1
    click.echo(f"{out}: {written} written", err=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What Gradescope says of a hand-in."""

    student: str
    """As `--student` takes it: a team as `alice+bob`."""
    at: datetime | None
    """None if it does not say so with an offset from UTC."""


def read_metadata(file: Path, roster: Roster) -> Sent:
    """Who handed in, and when, from `submission_metadata.json`.

    A student is called as on the roster, which is asked by e-mail and student id; otherwise as before the
    `@` of the e-mail, or by the user's id.

    Raises:
        UsageError: it cannot be read, or names nobody.
    """
    try:
        said = json.loads(file.read_text(encoding="utf-8"))
        users, at = said["users"], said.get("created_at") or ""
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
    for one in roster.students:
        if (email and one.email.casefold() == email) or (sid and one.sis_id.casefold() == sid):
            return one.student
    name = re.sub("[^A-Za-z0-9._-]", "_", email.partition("@")[0]).lstrip(".-")[:64]
    return name or f"user_{user['id']}"


def _hand_in(folder: Path) -> Path:
    """The folder, or the archive that is all it holds: Gradescope unpacks only .zip."""
    from grader.intake.formats import split_ending

    try:
        files = list(folder.iterdir())
    except OSError as error:
        raise UsageError(
            f"{folder}: cannot be read ({error.strerror}); name its parent by --autograder"
        ) from None
    return files[0] if len(files) == 1 and split_ending(files[0].name)[1] else folder


def _remove(file: Path) -> None:
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{file}: cannot be removed ({error.strerror}); check the folder") from None


def _write(file: Path, text: str) -> None:
    """Put a file there, whole or not at all.

    Raises:
        UsageError: it cannot be written.
    """
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(text, encoding="utf-8")
        beside.replace(file)
    except OSError as error:
        raise UsageError(f"{file}: cannot be written ({error.strerror}); check the folder") from None
    finally:
        beside.unlink(missing_ok=True)
