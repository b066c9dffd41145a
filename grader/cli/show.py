"""`grader show`: the marks of one student."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.book import GRADEBOOK, opened
from grader.cli.echo import echo, echo_json
from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.gradebook.book import Gradebook


@click.command("show")
@click.argument("student")
@click.option("--assignment", help="Only this one.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@GRADEBOOK
def command(student: str, assignment: str | None, as_json: bool, gradebook: Path) -> None:
    """Show the marks of STUDENT that hold now, also as a member of a team."""
    with opened(gradebook) as book:
        from grader.gradebook.export import document

        entries = tuple(book.entries(assignment=assignment, student=student))
        if not entries:
            where = f" in {assignment}" if assignment else ""
            raise UsageError(f"{gradebook}: has no mark of {student!r}{where}; {_known(book, student)}")
        if as_json:
            echo_json([document(entry) for entry in entries])
            return
        from grader.reports.terminal import show

        for entry in entries:
            show(entry.card, sys.stdout)
            exam = f", exam {entry.exam} of {entry.began}" if entry.exam else ""
            echo(f"    {entry.how} at {entry.at}, by rubric {entry.card.rubric}{exam}")
            echo()


def _known(book: Gradebook, student: str) -> str:
    """What there is instead."""
    from grader.config.problem import suggestion

    students = book.students()
    if student in students:
        assignments = (entry.card.assignment for entry in book.entries(student=student))
        return f"there are some in {', '.join(assignments)}"
    return suggestion(student, students) if students else "it is empty"
