"""Moodle's JSON objects as values of `grader.contracts.platform`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from html import escape
from typing import Any

from grader.contracts.platform import Person, PlatformGrade, Target
from grader.lms import marker
from grader.lms.numbers import spelled
from grader.model.magnitude import rounded

DIGITS = 5
"""Decimals that Moodle keeps of a grade."""
_OURS = re.compile(r"\s*<p>[^<]*\[grader \d{1,6}\.[0-9a-f]{16}\]</p>")
_HTML = re.compile(r"<[a-zA-Z/!]|&#?\w+;")
_IDS = (("idnumber", "sis_id"), ("username", "student"), ("email", "email"))
"""Fields of a participant, each with the same field of the roster."""
_PARTICIPANT = re.compile(r"\D*(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class MoodleGrade:
    """The grade of one student's last attempt."""

    points: Decimal | None = None
    grader: str = ""
    """The id of the account that graded last."""
    comment: str = ""
    """The feedback comment as it is stored."""
    format: int = 1
    """Moodle's code of the comment's text format; 1 is HTML."""


def target(key: str, assignment: Mapping[str, Any], method: str) -> Target:
    """Read an assignment of `mod_assign_get_assignments`; `method` is its advanced grading, or empty."""
    most, title = int(assignment["grade"]), str(assignment["name"])
    return Target(
        key=key,
        title=title,
        possible=Decimal(most) if most > 0 else None,
        bounded=True,
        takes_comments=takes_comments(assignment),
        refusal=_refusal(assignment, most, method),
        remarks=tuple(_remarks(assignment)),
    )


def _refusal(assignment: Mapping[str, Any], most: int, method: str) -> str:
    if most < 0:
        return "is graded on a scale there, not in points; choose points in its settings"
    if most == 0:
        return "has no grade there; choose points in its settings"
    if method:
        return f"is graded by a form there ({method}), which takes no points; choose simple direct grading"
    if assignment.get("markingworkflow"):
        # until release Moodle hides what people wrote, and saving a grade would delete it
        return (
            "has a marking workflow there, which hides comments from us; switch it off, or fill a worksheet"
        )
    return ""


def _remarks(assignment: Mapping[str, Any]) -> Iterator[str]:
    if is_blind(assignment):
        yield "students are anonymous there: they are found by the roster's moodle id alone"
    if assignment.get("teamsubmission"):
        yield "teams submit there: each member gets their own grade"
    if not takes_comments(assignment):
        yield "feedback comments are off there: grades go without"


def is_blind(assignment: Mapping[str, Any]) -> bool:
    """Tell whether graders see participants' numbers instead of names."""
    return bool(assignment.get("blindmarking")) and not assignment.get("revealidentities")


def takes_comments(assignment: Mapping[str, Any]) -> bool:
    """Tell whether graders can write to students."""
    comments = ("assignfeedback", "comments", "enabled")
    return any(
        (row.get("subtype"), row.get("plugin"), row.get("name")) == comments and str(row.get("value")) == "1"
        for row in assignment.get("configs", ())
    )


def person(row: int, user: Mapping[str, Any], *, blind: bool) -> Person:
    """Read a participant of `mod_assign_list_participants`."""
    name = str(user.get("fullname") or "")
    if blind:
        number = _PARTICIPANT.fullmatch(name)
        fields = [("moodle_id", number[1] if number else "")]
    else:
        fields = [(meaning, str(user.get(field) or "")) for field, meaning in _IDS]
    ids = tuple((meaning, value) for meaning, value in fields if value)
    return Person(row=row, name=name, id=str(user["id"]), ids=ids)


def graded(row: Mapping[str, Any] | None, status: Mapping[str, Any]) -> MoodleGrade:
    """Read a row of `mod_assign_get_grades`, if there is one, and `mod_assign_get_submission_status`."""
    feedback = status.get("feedback") or {}
    row = feedback.get("grade") or row or {}
    plugins = [row for row in feedback.get("plugins", ()) if row.get("type") == "comments"]
    fields = [row for plugin in plugins for row in plugin.get("editorfields", ())]
    text: Mapping[str, Any] = next((row for row in fields if row.get("name") == "comments"), {})
    return MoodleGrade(
        points=_points(row.get("grade")),
        grader=str(row.get("grader") or ""),
        comment=str(text.get("text") or ""),
        format=int(text.get("format", 1)),
    )


def grade(person: Person, now: MoodleGrade, me: str) -> PlatformGrade:
    """Return a student's grade; `me` is the id of our account."""
    return PlatformGrade(
        person=person,
        points=now.points,
        shown="" if now.points is None else spelled(now.points),
        by_us=now.points is not None and now.grader == me,
        markers=marker.markers_in(now.comment),
    )


def commented(before: str, comment: str) -> str:
    """Return a student's one comment in Moodle with ours in it, below what people wrote."""
    rest = _OURS.sub("", before).rstrip()
    if rest and not _HTML.search(rest):
        rest = f"<p>{'<br>'.join(escape(rest, quote=False).splitlines())}</p>"
    ours = f"<p>{' '.join(escape(comment, quote=False).split())}</p>"
    return f"{rest}\n{ours}" if rest else ours


def _points(value: Any) -> Decimal | None:
    """Read a grade; None for none, which Moodle spells as -1, as nothing or as null."""
    try:
        points = Decimal(str(value))
    except InvalidOperation:
        return None
    return rounded(points, DIGITS).normalize() if points.is_finite() and points >= 0 else None
