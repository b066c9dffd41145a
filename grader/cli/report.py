"""`grader report`: the class on one page, as Markdown for continuous integration, as JUnit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.book import GRADEBOOK, Location, opened
from grader.cli.course import find_any
from grader.cli.echo import AS_JSON, echo, echo_json, need_file, tell_line
from grader.cli.files import PATH, written
from grader.cli.lookup import empty, require_assignment
from grader.errors import CourseError, UsageError
from grader.model.magnitude import counted

if TYPE_CHECKING:
    from grader.config.course import Course
    from grader.contracts.check import CheckKind
    from grader.gradebook.book import Gradebook
    from grader.model.rubric import Rubric
    from grader.reports.class_view import ClassView

PAGE = "class.html"
PAGE_OF_SEVERAL = "class_{}.html"
"""The page of an assignment, by name, if the gradebook has grades of several."""
_ASSIGNMENT = re.compile(r'<meta name="grader-assignment" content="([^"]+)">')
_HEAD = 2_000
"""Characters of a page in which the template has that element."""


@click.command("report")
@click.option("--assignment", help="Which one, if the gradebook has grades of several.")
@click.option(
    "--out",
    type=PATH,
    metavar="FILE",
    help=f"The page; if no file is named at all, {PAGE}, or class_ASSIGNMENT.html of several assignments.",
)
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
    for option, file in (("--out", out), ("--markdown", markdown), ("--junit", junit)):
        if file is not None:
            need_file(file, as_json=as_json, option=option)
    with opened(gradebook) as book:
        from grader.gradebook.report import class_view, current_submissions, staff_views

        name, is_one_of_several = _assignment(book, gradebook, assignment)
        if out is markdown is junit is None and not as_json:
            out = Path(PAGE_OF_SEVERAL.format(name) if is_one_of_several else PAGE)
        course = find_any(context)
        roster = () if course is None else tuple(student.student for student in course.roster.students)
        rubric, kinds, title = _rubric(course, book, name)
        view = class_view(book, name, rubric=rubric, kinds=kinds, roster=roster)
        if course is not None:
            from grader.intake.receive import same_files

            view = replace(
                view,
                course_title=course.title,
                assignment_title=title,
                time_zone=course.zone,
                same_files=same_files(
                    current_submissions(book, name), course.roster, course.assignment_folder(name)
                ),
            )
        if as_json:
            from grader.reports.class_json import class_document

            echo_json(class_document(view))
        if out is not None:
            from grader.reports.class_page import page

            before = _assignment_of(out)
            instead = f", in place of the page of {before}" if before not in {"", name} else ""
            _write("--out", out, page(view), f"{_contents(view, gradebook)}{instead}")
        if markdown is not None:
            from grader.reports.class_markdown import markdown as summary

            _write("--markdown", markdown, summary(view), _contents(view, gradebook))
        if junit is not None:
            from grader.reports.class_junit import class_junit

            suites = class_junit(name, staff_views(book, name))
            _write("--junit", junit, suites, _contents(view, gradebook))


def _assignment(book: Gradebook, location: Location, named: str | None) -> tuple[str, bool]:
    """Return the assignment to report, and whether the gradebook has grades of others, too.

    Raises:
        UsageError: it has none, or none of that name, or several and none is named.
    """
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
    return named or assignments[0], len(assignments) > 1


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


def _contents(view: ClassView, gradebook: Location) -> str:
    """Return what a file reports, in brackets: assignment, number of students with a grade, gradebook."""
    students = sum(1 for submission in view.submissions for _ in submission.totals)
    return f"({view.assignment}, {counted(students, 'student')}, {gradebook})"


def _assignment_of(page: Path) -> str:
    """Return the assignment of a class page; empty if there is none, or another file."""
    with suppress(OSError):
        if page.is_file():  # not a pipe, which would be emptied
            with page.open(encoding="utf-8", errors="replace") as file:
                match = _ASSIGNMENT.search(file.read(_HEAD))
            return unescape(match[1]) if match else ""
    return ""


def _write(option: str, path: Path, text: str, contents: str) -> None:
    """Write a file that appears whole or not at all, or standard output, and say so."""
    with written(path, option=option) as file:
        file.write(text)
    if str(path) != "-":
        echo(f"{path}: written {contents}", err=True)
