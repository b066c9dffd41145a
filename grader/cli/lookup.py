"""Students and assignments that a gradebook does not have: errors that name what it has."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from grader.config.problem import closest, suggestion
from grader.errors import UsageError
from grader.model.magnitude import counted

if TYPE_CHECKING:
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


def require_student(
    book: Gradebook,
    location: Location,
    student: str,
    assignment: str | None,
    teams: Mapping[str, Sequence[str]],
) -> None:
    """Check that a gradebook has a student, and has the assignment, where one is named.

    Raises:
        UsageError: it has not, with the names that are nearest, and how many there are; or the name is that
            of a team, of whose members each has grades, with these.
    """
    if assignment is not None:
        require_assignment(book, location, assignment)
    students = book.students()
    if not students:
        raise empty(location)
    members = [name for name in teams.get(student, student.split("+")) if name in students]
    if student not in students and members:
        raise UsageError(f"{student}: is a team; name one of its students ({', '.join(members)})")
    if student not in students:
        raise UsageError(f"{location}: has no grade of {student!r}; {_nearest(student, students, 'student')}")


def no_grade_of(book: Gradebook, location: Location, student: str, assignment: str) -> UsageError:
    """Return the error for a student of the gradebook who has no grade in an assignment of it."""
    there_are = ", ".join(grade.card.assignment for grade in book.grades(student=student))
    return UsageError(
        f"{location}: has no grade of {student!r} in {assignment}; there are some in {there_are}"
    )


def _nearest(name: str, names: Collection[str], noun: str) -> str:
    return f"{suggestion(name, names)} ({counted(len(names), noun)} in all)"
