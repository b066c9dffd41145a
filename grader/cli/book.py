"""The option --gradebook, and opening a gradebook."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from grader.cli.echo import tell_line
from grader.cli.files import PathType
from grader.errors import NotObservedError, NotRecordedError, OutdatedError, UsageError
from grader.extras import install_command
from grader.markers import hookimpl

if TYPE_CHECKING:
    from datetime import datetime

    from grader.config.course import Course
    from grader.config.points_file import PointsGiven
    from grader.contracts.exporter import Grade
    from grader.gradebook.book import Gradebook, How
    from grader.model.evidence import Evidence
    from grader.model.rubric import Rubric
    from grader.model.score import Scorecard
    from grader.model.submission import Submission
    from grader.plugins import Plugins

VARIABLE = "GRADER_GRADEBOOK"
NAMED = 5
"""More recorded grades that stay are counted, not told one by one."""
BOOK = "gradebook.db"
"""The file that is the gradebook if no other is named."""


class LocationType(PathType):
    """A file, or the URL of a database."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Leave a URL as it is; make anything else a Path."""
        return value if "://" in str(value) else super().convert(value, param, ctx)


LOCATION = LocationType()
Location: TypeAlias = Path | str
GRADEBOOK = click.option(
    "--gradebook",
    default=BOOK,
    envvar=VARIABLE,
    type=LOCATION,
    show_default=True,
    help=f"The gradebook: a file, or the URL of a database; {VARIABLE} names it, too.",
)


@contextmanager
def opened(location: Location, *, create: bool = False) -> Iterator[Gradebook]:
    """Open a gradebook, migrated to this version; say where the copy is if that was necessary.

    Raises:
        UsageError: there is none, or SQLAlchemy is not installed.
        NotObservedError: it cannot be used.
    """
    if find_spec("sqlalchemy") is None:
        raise UsageError(f"a gradebook needs SQLAlchemy; {install_command('sqlalchemy')}")
    from grader.gradebook.book import Gradebook

    with Gradebook(location, create=create) as book:
        if copy := book.database.copy_before_migration:
            tell_line(f"{book.database.name}: migrated to this version; copy of before: {copy}")
        yield book


@contextmanager
def opened_for_points(named: Location | None) -> Iterator[Gradebook | None]:
    """Open the gradebook that has points beside a results folder: the named one, or `BOOK` if it is there.

    Raises:
        UsageError: the named one is not there, or SQLAlchemy is not installed.
        NotObservedError: it cannot be used.
    """
    if named is None and not Path(BOOK).is_file():
        yield None
        return
    with opened(BOOK if named is None else named) as book:
        yield book


def tell_of_mixtures(book: Gradebook, assignments: Iterable[str]) -> None:
    """Print a line for each assignment whose grades are by several rubrics."""
    from grader.gradebook.rescore import graded_by
    from grader.grading.rubric_of_class import counts

    for assignment in sorted(assignments):
        rubrics = graded_by(book, assignment)
        if len(rubrics) > 1:
            tell_line(
                f"{book.database.name}: {assignment} is graded by several rubrics now ({counts(rubrics)}); "
                f"grader rescore {assignment} --rubric NAME judges all of it by one"
            )


def grades_of(book: Gradebook, assignment: str) -> Mapping[str, Grade]:
    """Return the current grade of each student, also of a team, as learning platforms get it."""
    from grader.contracts.exporter import Grade
    from grader.reports.words import late_cost

    grades = {}
    for recorded in book.grades(assignment=assignment):
        card, submission = recorded.card, recorded.submission
        (total,) = (total for total in card.totals if total.student == recorded.student)
        grades[recorded.student] = Grade(
            student=recorded.student,
            points=total.adjusted,
            possible=card.points.possible,
            standing=card.standing,
            untimed=total.untimed,
            in_future=total.late is not None and total.late.in_future,
            lateness=late_cost(total.late),
            lms_id="" if submission.members else submission.lms_id or "",
        )
    return grades


def remarks_on_kept(lines: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """Yield each of the lines on recorded grades that stay, by student and assignment, or one for many."""
    from grader.model.magnitude import counted

    if len(lines) <= NAMED:
        yield from lines.values()
        return
    names = ", ".join(student for student, _ in islice(sorted(lines), NAMED))
    yield (
        f"{counted(len(lines), 'recorded grade')} stay where points were not observed: {names}, …; "
        "grader history STUDENT shows one"
    )


class Recorder:
    """Listener that records each grade, and tells what the gradebook has of a submission (`Recorded`)."""

    def __init__(
        self,
        book: Gradebook,
        course: Course,
        plugins: Plugins,
        rubric: Callable[[str], Rubric],
        *,
        how: How = "run",
        of_items: bool = False,
    ) -> None:
        """Take the rubrics of assignments, and what is recorded of each grade as its origin.

        With `of_items`, as by `--item`, what nobody looked at may be left out: such a grade replaces none.
        """
        self._book = book
        self._how = how
        self._course = course
        self._plugins = plugins
        self._rubric = rubric
        self._of_items = of_items
        self.assignments: set[str] = set()
        """Those of which a grade came."""
        self.left_out: list[str] = []
        """Students whose grades were left out."""
        self.lines_on_kept: dict[tuple[str, str], str] = {}
        """By student and assignment, a line on points that could not be observed and stay as recorded."""

    @hookimpl
    def grader_graded(self, evidence: Evidence, scorecard: Scorecard) -> None:
        """Record a grade.

        Raises:
            NotRecordedError: it is graded, but cannot be recorded.
        """
        if self._is_part(evidence, scorecard) and self._has_grade(scorecard):
            self.left_out.append(evidence.submission.student)
            return
        self.assignments.add(evidence.submission.assignment)
        of = evidence.submission
        tell = partial(self.lines_on_kept.__setitem__, (of.student, of.assignment))
        try:
            self._book.record(
                evidence, scorecard, how=self._how, judge=self._judge, tell=tell, zone=self._course.zone
            )
        except OutdatedError:
            raise
        except (NotObservedError, UsageError) as error:
            later = "is graded, but not recorded; add it later by grader record and the results folder"
            raise NotRecordedError(*error.problems, f"{of.student}, {of.assignment}: {later}") from None

    def _is_part(self, evidence: Evidence, scorecard: Scorecard) -> bool:
        """Tell whether items were left out that nobody has looked at."""
        return self._of_items and any(line.item not in evidence.observations for line in scorecard.lines)

    def _has_grade(self, scorecard: Scorecard) -> bool:
        """Tell whether one of the students has a grade already."""
        students = (total.student for total in scorecard.totals)
        return any(
            [*self._book.grades(assignment=scorecard.assignment, student=student)] for student in students
        )

    def remarks(self) -> Iterator[str]:
        """Yield lines on recorded grades that stay, and one on those that were left out."""
        from grader.model.magnitude import counted

        yield from remarks_on_kept(self.lines_on_kept)
        if self.left_out:
            of = counted(len(self.left_out), "grade")
            yield f"{of} not recorded, for --item left out what nobody has looked at; run all items"

    def published(self, assignment: str) -> bool:
        """Tell whether the grades of an assignment are published in the gradebook."""
        from grader.review.publishing import is_published

        return is_published(self._book, assignment)

    def points_of(self, submission: Submission) -> float:
        """Return the points, after the late rule, of the current grade if it is of these files; or else 0."""
        return max(
            (
                total.adjusted
                for student in submission.students
                for grade in self._book.grades(assignment=submission.assignment, student=student)
                for total in grade.card.totals
                if grade.submission.digest == submission.digest
            ),
            default=0.0,
        )

    def submitted_at(self, submission: Submission) -> datetime | None:
        """Return when these files were handed in, as last recorded."""
        from grader.gradebook.earlier import submitted_at

        return submitted_at(self._book, submission)

    def points_given(self, submission: Submission) -> Sequence[PointsGiven]:
        """Return the points that people gave for these files, the oldest first."""
        from grader.gradebook.earlier import points_given

        return points_given(self._book, submission)

    def _judge(self, evidence: Evidence) -> Scorecard:
        from grader.scoring.score import score

        course, assignment = self._course, evidence.submission.assignment
        extensions = course.extensions_of(assignment)
        kinds = self._plugins.checks
        return score(self._rubric(assignment), evidence, kinds, extensions=extensions, zone=course.zone)
