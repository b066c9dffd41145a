"""`grader post`: marks to learning platforms over the network; the plan, then --apply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from grader.cli.course import find
from grader.cli.posting import PAGES, asked, carry_out, options, read_token
from grader.errors import CourseError


@click.group("post")
def command() -> None:
    """Post marks to a learning platform: what it holds and what would change, then --apply."""


@command.command("canvas")
@click.argument("assignment")
@options
@PAGES
@click.pass_context
def canvas(context: click.Context, /, assignment: str, token_file: Path | None, **told: Any) -> int:
    """Post the marks of ASSIGNMENT to Canvas.

    Where it is there says `canvas` in course.yaml; the token is in CANVAS_TOKEN or in --token-file. A grade
    that another gave stays, and so does one that is higher, unless told otherwise.
    """
    from grader.lms.canvas.http import Http
    from grader.lms.canvas.poster import Canvas

    course = find(context)
    keys = course.canvas
    if keys is None:
        raise CourseError("course.yaml: canvas: missing; give url, course and assignments there")
    number = _number(assignment, keys.assignments, "canvas")
    http = Http(keys.url, read_token(token_file, "CANVAS_TOKEN"))
    platform = Canvas(http, keys.course, number)
    return carry_out(course, assignment, platform, asked(told), keys.rubrics.get(assignment))


@command.command("moodle")
@click.argument("assignment")
@options
@click.pass_context
def moodle(context: click.Context, /, assignment: str, token_file: Path | None, **told: Any) -> int:
    """Post the marks of ASSIGNMENT to Moodle, through its web service.

    Where it is there says `moodle` in course.yaml; the token is in MOODLE_TOKEN or in --token-file. A grade
    that another gave stays, and so does one that is higher, unless told otherwise; what people wrote to
    students stays always.
    """
    from grader.lms.moodle_service.calls import Calls
    from grader.lms.moodle_service.service import Moodle

    course = find(context)
    keys = course.moodle
    if keys is None:
        raise CourseError("course.yaml: moodle: missing; give url and assignments there")
    number = _number(assignment, keys.assignments, "moodle")
    platform = Moodle(Calls(keys.url, read_token(token_file, "MOODLE_TOKEN")), number)
    wanted = asked(told)
    if wanted.rules.comment and not platform.takes_comments:
        wanted = replace(wanted, rules=replace(wanted.rules, comment=False))
    return carry_out(course, assignment, platform, wanted)


def _number(assignment: str, numbers: Mapping[str, int], platform: str) -> int:
    """What the platform calls an assignment.

    Raises:
        CourseError: course.yaml does not say.
    """
    if assignment not in numbers:
        there_are = ", ".join(numbers) or "none"
        raise CourseError(f"course.yaml: {platform}.assignments: has no {assignment}; there are {there_are}")
    return numbers[assignment]
