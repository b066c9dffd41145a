"""`grader show`: the grades of one student."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from grader.cli.book import GRADEBOOK, Location, opened
from grader.cli.echo import AS_JSON, echo, echo_json
from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.gradebook.book import Gradebook


@click.command("show")
@click.argument("student")
@click.option("--assignment", help="Only this one.")
@AS_JSON
@GRADEBOOK
def command(student: str, assignment: str | None, as_json: bool, gradebook: Location) -> None:
    """Show the current grades of STUDENT, also as a member of a team."""
    with opened(gradebook) as book:
        from grader.gradebook.export import document

        grades = tuple(book.grades(assignment=assignment, student=student))
        if not grades:
            where = f" in {assignment}" if assignment else ""
            raise UsageError(
                f"{gradebook}: has no grade of {student!r}{where}; {_alternatives(book, student)}"
            )
        if as_json:
            echo_json([document(grade) for grade in grades])
            return
        from grader.reports.terminal import show

        for grade in grades:
            show(grade.card, sys.stdout)
            run = f", run {grade.run} of {grade.began}" if grade.run else ""
            echo(f"    {grade.how} at {grade.at}, by rubric {grade.card.rubric}{run}")
            echo()


def _alternatives(book: Gradebook, student: str) -> str:
    """Name what there is instead."""
    from grader.config.problem import suggestion

    students = book.students()
    if student in students:
        assignments = (grade.card.assignment for grade in book.grades(student=student))
        return f"there are some in {', '.join(assignments)}"
    return suggestion(student, students) if students else "it is empty"
