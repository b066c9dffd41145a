"""`grader report`: the class on one page, as Markdown for continuous integration, as JUnit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.book import GRADEBOOK, Location, opened
from grader.cli.course import find_any
from grader.cli.echo import AS_JSON, echo, echo_json, need_file, tell_line
from grader.cli.files import PATH, written
from grader.cli.lookup import empty, require_assignment
from grader.errors import CourseError, UsageError

if TYPE_CHECKING:
    from grader.config.course import Course
    from grader.contracts.check import CheckKind
    from grader.gradebook.book import Gradebook
    from grader.model.rubric import Rubric

PAGE = Path("class.html")


@click.command("report")
@click.option("--assignment", help="Which one, if the gradebook has grades of several.")
@click.option("--out", type=PATH, metavar="FILE", help=f"The page; {PAGE} if no file is named at all.")
@click.option(
    "--markdown", type=PATH, metavar="FILE", help="A summary that names no student; - for standard output."
)
@click.option("--junit", type=PATH, metavar="FILE", help="A test suite for each submission.")
@AS_JSON
@GRADEBOOK
@click.pass_context
def command(
    context: click.Context,
    assignment: str | None,
    out: Path | None,
    markdown: Path | None,
    junit: Path | None,
    as_json: bool,
    gradebook: Location,
) -> None:
    """Write how a class did: totals, items, messages, speedups, and what needs a person.

    The page is for staff. It is complete in itself and needs no network and no scripts. Speedups and GPU
    minutes need the rubric of the newest grade, in the folder of its course.

    With --json the totals of the students and the counts of the items are printed, and a page is written
    only if it is named.
    """
    if out is markdown is junit is None and not as_json:
        out = PAGE
    for option, file in (("--out", out), ("--markdown", markdown), ("--junit", junit)):
        if file is not None:
            need_file(file, as_json=as_json, option=option)
    with opened(gradebook) as book:
        from grader.gradebook.report import class_view, staff_views

        name = _assignment(book, gradebook, assignment)
        course = find_any(context)
        roster = () if course is None else tuple(student.student for student in course.roster.students)
        rubric, kinds, title = _rubric(course, book, name)
        view = class_view(book, name, rubric=rubric, kinds=kinds, roster=roster)
        if course is not None:
            view = replace(view, course_title=course.title, assignment_title=title, time_zone=course.zone)
        if as_json:
            from grader.reports.class_json import class_document

            echo_json(class_document(view))
        if out is not None:
            from grader.reports.class_page import page

            _write("--out", out, page(view))
        if markdown is not None:
            from grader.reports.class_markdown import markdown as summary

            _write("--markdown", markdown, summary(view))
        if junit is not None:
            from grader.reports.class_junit import class_junit

            _write("--junit", junit, class_junit(name, staff_views(book, name)))


def _assignment(book: Gradebook, location: Location, named: str | None) -> str:
    from grader.gradebook.report import assignments_in

    assignments = assignments_in(book)
    if not assignments:
        raise empty(location)
    if named is None and len(assignments) > 1:
        raise UsageError(
            f"{location}: has grades in {', '.join(assignments)}; name one of them by --assignment"
        )
    if named is not None:
        require_assignment(book, location, named)
    return named or assignments[0]


def _rubric(
    course: Course | None, book: Gradebook, assignment: str
) -> tuple[Rubric | None, Mapping[str, CheckKind], str]:
    """Return the rubric of the newest grade, its kinds and the title; print a line if there is none."""
    if course is None:
        return None, {}, ""
    from grader.config.rubric import load_rubric
    from grader.plugins import Plugins

    newest = max(book.grades(assignment=assignment), key=lambda grade: grade.score)
    try:
        plugins = Plugins(course.folder)
        path = course.rubric_for(assignment, newest.card.rubric)
        rubric = load_rubric(path, kinds=plugins.checks, assignments=plugins.assignment_folders)
    except (CourseError, UsageError) as error:
        tell_line(f"{error.problems[0]}; speedups and GPU minutes are unknown")
        return None, {}, ""
    return rubric, plugins.checks, plugins.assignments[assignment].title


def _write(option: str, path: Path, text: str) -> None:
    """Write a file that appears whole or not at all, or standard output, and say so."""
    with written(path, option=option) as file:
        file.write(text)
    if str(path) != "-":
        echo(f"{path}: written", err=True)
