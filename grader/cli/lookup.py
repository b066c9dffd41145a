"""Students and assignments that a gradebook does not have: errors that name what it has."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import TYPE_CHECKING

from grader.cli.course import roster_of
from grader.config.problem import closest, suggestion
from grader.errors import CourseError, UsageError
from grader.model.magnitude import counted

if TYPE_CHECKING:
    import click

    from grader.cli.book import Location
    from grader.gradebook.book import Gradebook


def require_assignment(
    book: Gradebook, location: Location, assignment: str, course: Collection[str] = ()
) -> None:
    """Check that a gradebook has grades in an assignment, or that it is among those of the `course`.

    Raises:
        UsageError: neither; with the names that are nearest, and how many there are.
    """
    from grader.gradebook.report import assignments_in

    graded = assignments_in(book)
    names = {*graded, *course}
    if assignment in names:
        return
    if not graded:
        raise empty(location)
    near = names if closest(assignment, sorted(names)) else graded
    raise UsageError(
        f"{location}: has no grade in {assignment!r}; {_nearest(assignment, near, 'assignment')}"
    )


def empty(location: Location) -> UsageError:
    """Return the error for a gradebook without grades."""
    return UsageError(f"{location}: is empty; grade with --gradebook, or record results, first")


def party_of(context: click.Context, name: str) -> str:
    """Return a student, or a team as `ann+ben` by that or by its name on the roster, as grades name it."""
    from grader.model.roster import Roster

    with suppress(CourseError):  # grades can be shown where files of the course are wrong
        return roster_of(context).party(name)
    return Roster().party(name)


def _called(context: click.Context, text: str) -> str:
    """Say whose full name, mail or id on the roster a text is; empty if nobody's."""
    fields = ("name", "email", "canvas_id", "sis_id", "moodle_id")
    with suppress(CourseError):
        for entry in roster_of(context).students:
            if text in {getattr(entry, each) for each in fields}:
                return f"that is {entry.student} on the roster"
    return ""


def require_student(
    context: click.Context, book: Gradebook, location: Location, student: str, assignment: str | None
) -> None:
    """Check that a gradebook has a student, and has the assignment, where one is named.

    A team such as `ann+ben` is not there where nothing counts that it has handed in together.

    Raises:
        UsageError: it has not; with the names that are nearest, and how many there are.
    """
    if assignment is not None:
        require_assignment(book, location, assignment)
    students = book.students()
    if not students:
        raise empty(location)
    if members := [member for member in student.split("+") if member in students and member != student]:
        raise UsageError(
            f"{location}: has no grade of {student!r} together; name one of its members: {', '.join(members)}"
        )
    if student not in students:
        advice = _called(context, student) or _nearest(student, students, "student")
        raise UsageError(f"{location}: has no grade of {student!r}; {advice}")


def no_grade_of(book: Gradebook, location: Location, student: str, assignment: str) -> UsageError:
    """Return the error for a student of the gradebook who has no grade in an assignment of it."""
    there_are = ", ".join(grade.card.assignment for grade in book.grades(student=student))
    return UsageError(
        f"{location}: has no grade of {student!r} in {assignment}; there are some in {there_are}"
    )


def _nearest(name: str, names: Collection[str], noun: str) -> str:
    return f"{suggestion(name, names)} ({counted(len(names), noun)} in all)"
