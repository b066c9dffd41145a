"""`grader post NAME --rehearse`: the whole way to a platform, against a stand-in on this machine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from grader.cli.book import opened
from grader.cli.echo import echo, echo_json, tell_line
from grader.cli.lookup import require_assignment
from grader.cli.posting import PostOptions, carry_out
from grader.errors import ExitCode, UsageError, worst
from grader.files import scratch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grader.config.course import Course
    from grader.contracts.platform import Platform
    from grader.gradebook.book import Gradebook
    from grader.model.roster import Student


def rehearse(course: Course, assignment: str, platform: type[Platform], options: PostOptions) -> int:
    """Post to a stand-in, print what arrived there, and plan once more; return the exit code.

    Everything happens on a copy of the gradebook, so that nothing counts as posted.

    Raises:
        UsageError: the platform has no stand-in, or there is nothing to post.
    """
    if options.apply:
        raise UsageError("--rehearse: sends to a stand-in on this machine; leave out --apply, or --rehearse")
    with scratch("grader-rehearsal-") as folder:
        copy = folder / "gradebook.db"
        with opened(options.gradebook) as book:
            require_assignment(book, options.gradebook, assignment)
            students = _students(book, course, assignment)
            possible = max(grade.card.points.possible for grade in book.grades(assignment=assignment))
            book.database.backup(copy)
        running = platform.stand_in(assignment, students, possible)
        if running is None:
            raise UsageError(f"--rehearse: there is no stand-in for {platform.title}; post to a test course")
        with running as stand_in:
            tell_line(
                f"a stand-in plays {platform.title} on this machine: nothing leaves it, and the gradebook "
                "stays as it is"
            )
            there = platform.connect(stand_in.options, assignment, stand_in.token)
            code = carry_out(course, assignment, there, replace(options, gradebook=copy, apply=True))
            _show("Arrived:", stand_in.arrived(), as_json=options.as_json)
            if not options.as_json:
                echo("Planned once more:")
            again = platform.connect(stand_in.options, assignment, stand_in.token)
            planned = carry_out(course, assignment, again, replace(options, gradebook=copy))
    return worst([ExitCode(code), ExitCode(planned)])


def _students(book: Gradebook, course: Course, assignment: str) -> Sequence[Student]:
    """Return everyone on the roster, and whoever else has a grade."""
    from grader.model.roster import Student

    on_roster = {entry.student: entry for entry in course.roster.students}
    graded = {grade.student: Student(student=grade.student) for grade in book.grades(assignment=assignment)}
    return tuple({**graded, **on_roster}.values())


def _show(heading: str, arrived: Mapping[str, str], *, as_json: bool) -> None:
    """Print what each student has on the stand-in."""
    if as_json:
        for student, what in arrived.items():
            echo_json({"student": student, "arrived": what}, indent=None)
        return
    echo(heading if arrived else f"{heading} nothing")
    for student, what in arrived.items():
        echo(f"  {student}: {what}")
