"""`grader show`: the grades of one student."""

from __future__ import annotations

import sys

import click

from grader.cli.book import GRADEBOOK, Location, opened
from grader.cli.echo import AS_JSON, echo, echo_json
from grader.cli.lookup import no_grade_of, party_of, require_student


@click.command("show")
@click.argument("student")
@click.option("--assignment", help="Only this one.")
@AS_JSON
@GRADEBOOK
@click.pass_context
def command(
    context: click.Context, student: str, assignment: str | None, as_json: bool, gradebook: Location
) -> None:
    """Show the current grades of STUDENT, also as a member of a team, or of a team.

    A team, such as `ann+ben` or as the roster calls it, has those of what it has handed in together.
    """
    party = party_of(context, student)
    with opened(gradebook) as book:
        from grader.gradebook.export import document

        grades = [
            grade
            for member in party.split("+")
            for grade in book.grades(assignment=assignment, student=member)
            if grade.submission.student == party or "+" not in party
        ]
        if not grades:
            require_student(context, book, gradebook, party, assignment)
            raise no_grade_of(book, gradebook, party, assignment or "")
        if as_json:
            echo_json([document(grade) for grade in grades])
            return
        from grader.cli.course import zone_of
        from grader.reports.terminal import show
        from grader.reports.words import local_time

        zone = zone_of(context)

        for grade in {grade.score: grade for grade in grades}.values():  # members share a card
            show(grade.card, zone, sys.stdout)
            if grade.submission.chosen:
                echo(f"    Counts: {grade.submission.archive}, {grade.submission.chosen}.")
            run = f", run {grade.run} of {local_time(grade.began, zone)}" if grade.run else ""
            echo(f"    {grade.how} at {local_time(grade.at, zone)}, by rubric {grade.card.rubric}{run}")
            echo()
