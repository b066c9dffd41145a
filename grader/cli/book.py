"""What the commands of the gradebook share: where it is, and what it takes to open one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.echo import echo
from grader.cli.files import PATH
from grader.errors import UsageError
from grader.extras import install_command
from grader.markers import hookimpl

if TYPE_CHECKING:
    from grader.gradebook.book import Gradebook
    from grader.lms.contract import Mark
    from grader.model.evidence import Evidence
    from grader.model.score import Scorecard

VARIABLE = "GRADER_GRADEBOOK"
GRADEBOOK = click.option(
    "--gradebook",
    default="gradebook.db",
    envvar=VARIABLE,
    type=PATH,
    show_default=True,
    help=f"The gradebook; {VARIABLE} names it, too.",
)


@contextmanager
def opened(path: Path, *, create: bool = False) -> Iterator[Gradebook]:
    """The gradebook in a file, led up to what this grader knows.

    Raises:
        UsageError: there is none, or what it takes is not installed.
        NotObservedError: it cannot be used.
    """
    if find_spec("sqlalchemy") is None:
        raise UsageError(f"a gradebook needs SQLAlchemy, which is not here; {install_command('sqlalchemy')}")
    from grader.gradebook.book import Gradebook

    with Gradebook(path, create=create) as book:
        if book.file.kept_as is not None:
            echo(f"grader: {path}: led up to this version; as it was: {book.file.kept_as}", err=True)
        yield book


def marks_of(book: Gradebook, assignment: str) -> Mapping[str, Mark]:
    """What holds of each student, also of a team, as learning platforms are told of it."""
    from grader.lms.contract import Mark

    marks = {}
    for entry in book.entries(assignment=assignment):
        card, submission = entry.card, entry.submission
        (total,) = (total for total in card.totals if total.student == entry.student)
        marks[entry.student] = Mark(
            student=entry.student,
            points=total.adjusted,
            possible=card.points.possible,
            standing=card.standing,
            untimed=total.untimed,
            lms_id="" if submission.members else submission.lms_id or "",
        )
    return marks


class Recorder:
    """Hears of marks and keeps them."""

    def __init__(self, book: Gradebook) -> None:
        self._book = book

    @hookimpl
    def grader_graded(self, evidence: Evidence, scorecard: Scorecard) -> None:
        """One more."""
        self._book.record(evidence, scorecard, how="run")
