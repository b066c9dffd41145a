"""`grader show`: the grades of one student."""

from __future__ import annotations

import sys

import click

from grader.cli.book import GRADEBOOK, Location, opened
from grader.cli.course import teams_of, zone_of
from grader.cli.echo import AS_JSON, echo, echo_json
from grader.cli.lookup import no_grade_of, require_student


@click.command("show")
@click.argument("student")
@click.option("--assignment", help="Only this one.")
@AS_JSON
@GRADEBOOK
@click.pass_context
def command(
    context: click.Context, student: str, assignment: str | None, as_json: bool, gradebook: Location
) -> None:
    """Show the current grades of STUDENT, also as a member of a team."""
    with opened(gradebook) as book:
        from grader.gradebook.export import document

        grades = tuple(book.grades(assignment=assignment, student=student))
        if not grades:
            require_student(book, gradebook, student, assignment, teams_of(context))
            raise no_grade_of(book, gradebook, student, assignment or "")
        if as_json:
            echo_json([document(grade) for grade in grades])
            return
        from grader.reports.terminal import show
        from grader.reports.words import local_time

        zone = zone_of(context)

        for grade in grades:
            show(grade.card, sys.stdout)
            if grade.submission.chosen:
                echo(f"    Counts: {grade.submission.archive}, {grade.submission.chosen}.")
            run = f", run {grade.run} of {local_time(grade.began, zone)}" if grade.run else ""
            echo(f"    {grade.how} at {local_time(grade.at, zone)}, by rubric {grade.card.rubric}{run}")
            echo()
