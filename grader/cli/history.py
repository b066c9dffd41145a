"""`grader history`: how a student's marks came to be what they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.cli.book import GRADEBOOK, opened
from grader.cli.echo import echo, echo_json
from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.gradebook.history import Event

Details = Mapping[str, Any]


@click.command("history")
@click.argument("student")
@click.option("--assignment", help="Only this one.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@GRADEBOOK
def command(student: str, assignment: str | None, as_json: bool, gradebook: Path) -> None:
    """Show every score of STUDENT, the points that people gave and what was posted, the oldest first."""
    with opened(gradebook) as book:
        from grader.gradebook.history import history

        events = history(book, student, assignment)
    if not events:
        raise UsageError(f"{gradebook}: knows nothing of {student!r}; grader export csv lists who is there")
    if as_json:
        echo_json([asdict(event) for event in events])
        return
    for event in events:
        echo(_line(event))


def _line(event: Event) -> str:
    return f"{event.at}  {event.assignment}  {_TELL[event.what](event.details)}"


def _score(score: Details) -> str:
    from grader.reports.words import out_of

    total = out_of(score["raw"], score["possible"])
    after = "" if score["adjusted"] == score["raw"] else f", {score['adjusted']:g} after the late rule"
    exam = f", exam {score['exam']}" if score["exam"] else ""
    of = f"hand-in {_short(score['submission_digest'])}, rubric {score['rubric']}"
    rubric = _short(score["rubric_digest"])
    return f"{score['how']}: {total}{after}, {score['standing']} ({of} {rubric}{exam})"


def _points(given: Details) -> str:
    comment = f": {given['comment']}" if given["comment"] else ""
    return f"{given['by']} gave {given['points']:g} of {given['possible']:g} for {given['item']}{comment}"


def _post(post: Details) -> str:
    points = "no points" if post["points"] is None else f"{post['points']:g} points"
    return f"{points} to {post['platform']}: {post['outcome']} {post['said']}".rstrip()


def _short(digest: str) -> str:
    return digest.rpartition(":")[2][:12]


_TELL: Mapping[str, Callable[[Details], str]] = {"score": _score, "points": _points, "post": _post}
