"""`grader history`: every score of a student, points by hand and posts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import tzinfo
from typing import TYPE_CHECKING, Any

import click

from grader.cli.book import GRADEBOOK, Location, opened
from grader.cli.echo import AS_JSON, echo, echo_json
from grader.cli.lookup import no_grade_of, party_of, require_student

if TYPE_CHECKING:
    from grader.gradebook.history import HistoryEvent

Details = Mapping[str, Any]


@click.command("history")
@click.argument("student")
@click.option("--assignment", help="Only this one.")
@AS_JSON
@GRADEBOOK
@click.pass_context
def command(
    context: click.Context, student: str, assignment: str | None, as_json: bool, gradebook: Location
) -> None:
    """Show every score of STUDENT, the points that people gave and what was posted, the oldest first.

    A team, such as `ann+ben` or as the roster calls it, has those of what it has handed in together.
    """
    party = party_of(context, student)
    is_team = "+" in party
    with opened(gradebook) as book:
        from grader.gradebook.history import history, team_history

        events = (team_history if is_team else history)(book, party, assignment)
        if not events:
            require_student(context, book, gradebook, party, assignment)
            raise no_grade_of(book, gradebook, party, assignment or "")
    if as_json:
        echo_json([asdict(event) for event in events])
        return
    from grader.cli.course import zone_of

    zone = zone_of(context)
    submitted: dict[str, str | None] = {}
    for event in events:
        before = submitted.get(event.assignment)
        if event.what == "score":
            submitted[event.assignment] = event.details["submitted_at"]
        to = f"{event.details['student']}: " if is_team and event.details["student"] != party else ""
        echo(_line(event, zone, to, None if submitted.get(event.assignment) == before else before or ""))


def _line(event: HistoryEvent, zone: tzinfo, to: str, submitted_before: str | None) -> str:
    """Return the line of an event, whose text begins with `to`.

    `submitted_before` is the time of submission if it is another now.
    """
    from grader.reports.words import local_time

    account = event.details["account"]
    by = f" [{account}]" if account else ""
    text = to + _FORMATS[event.what](event.details)
    if submitted_before is not None:
        now = event.details["submitted_at"]
        text += f", handed in {local_time(now, zone)}" if now else ", handed in at an unknown time"
        text += f" (before: {local_time(submitted_before, zone)})" if submitted_before else ""
    return f"{local_time(event.at, zone)}  {event.assignment}  {text}{by}"


def _score(score: Details) -> str:
    from grader.model.magnitude import number
    from grader.reports.words import out_of

    total = out_of(score["raw"], score["possible"])
    after = "" if score["adjusted"] == score["raw"] else f", {number(score['adjusted'])} after the late rule"
    run = f", run {score['run']}" if score["run"] else ""
    of = f"submission {_short(score['submission_digest'])}, rubric {score['rubric']}"
    rubric = _short(score["rubric_digest"])
    chosen = f", {score['archive']}, {score['chosen']}" if score["chosen"] else ""
    late = "" if score["counts"] else ", came after a later run and does not count"
    return f"{score['how']}: {total}{after}, {score['standing']} ({of} {rubric}{run}){late}{chosen}"


def _points(row: Details) -> str:
    if row["withdrawn"]:
        return f"{row['by']} took back {row['points']:g} of {row['possible']:g} for {row['item']}"
    comment = f": {row['comment']}" if row["comment"] else ""
    return f"{row['by']} gave {row['points']:g} of {row['possible']:g} for {row['item']}{comment}"


def _post(post: Details) -> str:
    points = "no points" if post["points"] is None else f"{post['points']:g} points"
    return f"{points} to {post['platform']}: {post['outcome']} {post['message']}".rstrip()


def _short(digest: str) -> str:
    return digest.rpartition(":")[2][:12]


_FORMATS: Mapping[str, Callable[[Details], str]] = {"score": _score, "points": _points, "post": _post}
