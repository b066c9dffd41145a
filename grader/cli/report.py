"""`grader report`: the class on one page, as Markdown for continuous integration, as JUnit."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.book import GRADEBOOK, opened
from grader.cli.echo import echo
from grader.cli.files import PATH, written
from grader.errors import CourseError, UsageError

if TYPE_CHECKING:
    from grader.config.course import Course
    from grader.gradebook.book import Gradebook
    from grader.model.rubric import Rubric

PAGE = Path("class.html")


@click.command("report")
@click.option("--assignment", help="Which one, if the gradebook has marks of several.")
@click.option("--out", type=PATH, metavar="FILE", help=f"The page; {PAGE} if no file is named at all.")
@click.option(
    "--markdown", type=PATH, metavar="FILE", help="A summary that names no student; - for standard output."
)
@click.option("--junit", type=PATH, metavar="FILE", help="A test suite for each hand-in.")
@GRADEBOOK
@click.pass_context
def command(
    context: click.Context,
    assignment: str | None,
    out: Path | None,
    markdown: Path | None,
    junit: Path | None,
    gradebook: Path,
) -> None:
    """Write how a class did: totals, items, messages, speedups, and what needs a person.

    The page is for staff. It is complete in itself and needs no network and no scripts. Thresholds and GPU
    minutes are by the rubric that the newest mark was given by, if the course is here.
    """
    if out is markdown is junit is None:
        out = PAGE
    with opened(gradebook) as book:
        from grader.gradebook.report import class_view, staff_views

        name = _assignment(book, gradebook, assignment)
        course = _course(context)
        roster = () if course is None else tuple(one.student for one in course.roster.students)
        view = class_view(book, name, rubric=_rubric(course, book, name), roster=roster)
        if out is not None:
            from grader.reports.class_page import page

            _write("--out", out, page(view))
        if markdown is not None:
            from grader.reports.class_markdown import markdown as summary

            _write("--markdown", markdown, summary(view))
        if junit is not None:
            from grader.reports.class_junit import class_junit

            _write("--junit", junit, class_junit(name, staff_views(book, name)))


def _assignment(book: Gradebook, path: Path, named: str | None) -> str:
    from grader.config.problem import suggestion
    from grader.gradebook.report import assignments_in

    known = assignments_in(book)
    if not known:
        raise UsageError(f"{path}: is empty; grade with --gradebook, or record results, first")
    if named is None and len(known) > 1:
        raise UsageError(f"{path}: has marks in {', '.join(known)}; name one of them by --assignment")
    if named is not None and named not in known:
        raise UsageError(f"{path}: has no mark in {named!r}; {suggestion(named, known)}")
    return named or known[0]


def _course(context: click.Context) -> Course | None:
    """The course; none where we are in none."""
    from grader.config.course import find_course

    explicit: Path | None = context.find_root().obj
    try:
        return find_course(explicit, os.environ, Path.cwd())
    except UsageError:
        if explicit:
            raise
        return None


def _rubric(course: Course | None, book: Gradebook, assignment: str) -> Rubric | None:
    """The rubric that the newest mark names; none, and a line that says so, if it cannot be had."""
    if course is None:
        return None
    from grader.config.rubric import load_rubric
    from grader.plugins import Plugins

    newest = max(book.entries(assignment=assignment), key=lambda entry: entry.score)
    try:
        plugins = Plugins(course.folder)
        path = course.rubric_for(assignment, newest.card.rubric)
        return load_rubric(path, kinds=plugins.checks, assignments=plugins.assignment_folders)
    except (CourseError, UsageError) as error:
        echo(f"grader: {error.problems[0]}; GPU minutes are not told", err=True)
        return None


def _write(option: str, path: Path, text: str) -> None:
    """Write a file that appears whole or not at all, or standard output, and say so."""
    with written(path, option=option) as file:
        file.write(text)
    if str(path) != "-":
        echo(f"{path}: written", err=True)
