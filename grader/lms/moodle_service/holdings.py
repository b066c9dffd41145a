"""What Moodle says of an assignment and its students, in the words of `grader.lms.platform`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from html import escape
from typing import Any

from grader.lms import marker
from grader.lms.grades import rounded, spelled
from grader.lms.people import Person
from grader.lms.platform import Held, Target

DIGITS = 5
"""Decimals that Moodle keeps of a grade."""
_OURS = re.compile(r"\s*<p>[^<]*\[grader \d{1,6}\.[0-9a-f]{16}\]</p>")
_HTML = re.compile(r"<[a-zA-Z/!]|&#?\w+;")
_IDS = (("idnumber", "sis_id"), ("username", "student"), ("email", "email"))
"""What Moodle may tell of a participant, each with the field of the roster that says the same."""
_PARTICIPANT = re.compile(r"\D*(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """What one student has in the last attempt."""

    points: Decimal | None = None
    grader: str = ""
    """The id of the account that graded last."""
    comment: str = ""
    """The feedback comment as it is stored."""
    format: int = 1
    """What Moodle says the comment is written in; 1 is HTML."""


def target(key: str, assignment: Mapping[str, Any], method: str) -> Target:
    """An assignment of `mod_assign_get_assignments`; `method` is its advanced grading, empty for none."""
    most, title = int(assignment["grade"]), str(assignment["name"])
    return Target(
        key=key,
        title=title,
        possible=Decimal(most) if most > 0 else None,
        bounded=True,
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
        # until it releases them, Moodle does not tell what people wrote, and saving a grade would wipe it out
        return (
            "has a marking workflow there, which hides comments from us; switch it off, or fill a worksheet"
        )
    return ""


def _remarks(assignment: Mapping[str, Any]) -> Iterator[str]:
    if is_blind(assignment):
        yield "students are anonymous there: they are found by the roster's moodle id alone"
    if assignment.get("teamsubmission"):
        yield "teams hand in there: each member gets their own mark"
    if not takes_comments(assignment):
        yield "feedback comments are off there: grades go without"


def is_blind(assignment: Mapping[str, Any]) -> bool:
    """Whether graders see participants' numbers instead of names."""
    return bool(assignment.get("blindmarking")) and not assignment.get("revealidentities")


def takes_comments(assignment: Mapping[str, Any]) -> bool:
    """Whether graders can write to students."""
    wanted = ("assignfeedback", "comments", "enabled")
    return any(
        (one.get("subtype"), one.get("plugin"), one.get("name")) == wanted and str(one.get("value")) == "1"
        for one in assignment.get("configs", ())
    )


def person(row: int, user: Mapping[str, Any], *, blind: bool) -> Person:
    """A participant of `mod_assign_list_participants`."""
    name = str(user.get("fullname") or "")
    if blind:
        number = _PARTICIPANT.fullmatch(name)
        said = [("moodle_id", number[1] if number else "")]
    else:
        said = [(meaning, str(user.get(field) or "")) for field, meaning in _IDS]
    ids = tuple((meaning, value) for meaning, value in said if value)
    return Person(row=row, name=name, id=str(user["id"]), ids=ids)


def graded(row: Mapping[str, Any] | None, status: Mapping[str, Any]) -> Graded:
    """A row of `mod_assign_get_grades`, if there is one, and `mod_assign_get_submission_status`."""
    feedback = status.get("feedback") or {}
    row = feedback.get("grade") or row or {}
    plugins = [one for one in feedback.get("plugins", ()) if one.get("type") == "comments"]
    fields = [one for plugin in plugins for one in plugin.get("editorfields", ())]
    text: Mapping[str, Any] = next((one for one in fields if one.get("name") == "comments"), {})
    return Graded(
        points=_points(row.get("grade")),
        grader=str(row.get("grader") or ""),
        comment=str(text.get("text") or ""),
        format=int(text.get("format", 1)),
    )


def held(one: Person, now: Graded, me: str) -> Held:
    """What the platform holds of a student; `me` is the id of our account."""
    return Held(
        person=one,
        points=now.points,
        shown="" if now.points is None else spelled(now.points),
        by_us=now.points is not None and now.grader == me,
        markers=marker.found(now.comment),
    )


def commented(there: str, comment: str) -> str:
    """The one comment that Moodle has of a student, with ours in it; what people wrote stays, above it."""
    rest = _OURS.sub("", there).rstrip()
    if rest and not _HTML.search(rest):
        rest = f"<p>{'<br>'.join(escape(rest, quote=False).splitlines())}</p>"
    ours = f"<p>{' '.join(escape(comment, quote=False).split())}</p>"
    return f"{rest}\n{ours}" if rest else ours


def _points(said: Any) -> Decimal | None:
    """A grade; None for none, which Moodle spells as -1, as nothing or as null."""
    try:
        points = Decimal(str(said))
    except InvalidOperation:
        return None
    return rounded(points, DIGITS).normalize() if points.is_finite() and points >= 0 else None
