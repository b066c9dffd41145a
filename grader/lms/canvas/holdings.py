"""What Canvas' objects say, in the words of a posting: who, how many points, what keeps a grade off."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from grader.lms import marker
from grader.lms.grades import spelled
from grader.lms.people import Person
from grader.lms.platform import Held, Target

_NO_POINTS = frozenset({"pass_fail", "not_graded"})
_IDS = (
    ("canvas_id", "id"),
    ("sis_id", "sis_user_id"),
    ("student", "login_id"),
    ("email", "login_id"),
    ("email", "email"),
)
"""Fields of the roster, and what a user of Canvas calls the same."""


def target(key: str, found: Mapping[str, Any]) -> Target:
    """An assignment."""
    remarks = []
    if found.get("moderated_grading"):
        remarks.append("is moderated: Canvas takes grades only once the moderator has released them")
    by_rubric = found.get("use_rubric_for_grading")
    if by_rubric:
        remarks.append("is graded by its rubric in Canvas, so points of single criteria are not posted")
    rows = () if by_rubric else found.get("rubric") or ()
    return Target(
        key=key,
        title=str(found.get("name") or key),
        possible=decimal(found.get("points_possible")),
        refusal=_refusal(found),
        criteria={str(row["id"]): str(row.get("description") or row["id"]) for row in rows},
        remarks=tuple(remarks),
    )


def _refusal(found: Mapping[str, Any]) -> str:
    """Why no grade can be posted to an assignment."""
    if found.get("published") is False:
        return "is not published in Canvas; publish it first"
    if found.get("grading_type") in _NO_POINTS:
        return "is not graded in points in Canvas; change how its grade is displayed there"
    if found.get("moderated_grading") and found.get("grades_published") is False:
        return "is moderated, and its grades are not released in Canvas; release them first"
    if found.get("anonymize_students"):
        return "hides in Canvas who is who; post its grades there first, or take anonymous grading off"
    if found.get("group_category_id") and not found.get("grade_group_students_individually"):
        return "gives grades to whole groups in Canvas; let them be given to each student individually"
    return ""


def held(person: Person, submission: Mapping[str, Any] | None, me: str) -> Held:
    """One student, with what Canvas has of them, if the assignment is theirs; `me` is our account."""
    if submission is None:
        return Held(person=person, settled="is not assigned this there; assign it first")
    excused = submission.get("excused")
    entered = points(submission)
    shown = str(submission.get("grade") or "") if entered is None else spelled(entered)
    deducted = decimal(submission.get("points_deducted"))
    return Held(
        person=person,
        points=None if excused else entered,
        shown="excused" if excused else shown,
        by_us=str(submission.get("grader_id")) == me,
        settled="is excused there; take that back first if a grade shall stand there" if excused else "",
        markers=markers(submission, me),
        rubric=rubric(submission),
        remark=f"Canvas takes {spelled(deducted)} off for lateness" if deducted else "",
    )


def person(row: int, user: Mapping[str, Any]) -> Person:
    """Somebody who is enrolled."""
    ids = dict.fromkeys((field, str(user[key]).strip()) for field, key in _IDS if user.get(key))
    name = str(user.get("sortable_name") or user.get("name") or "")
    return Person(row=row, name=name, id=str(user["id"]), ids=tuple(ids))


def points(submission: Mapping[str, Any]) -> Decimal | None:
    """What was entered; `score` is what Canvas' own late policy makes of it."""
    return decimal(submission.get("entered_score" if "entered_score" in submission else "score"))


def rubric(submission: Mapping[str, Any]) -> Mapping[str, Decimal]:
    """Points by criterion."""
    given = submission.get("rubric_assessment") or {}
    found = {str(name): decimal(one.get("points")) for name, one in given.items()}
    return {name: of for name, of in found.items() if of is not None}


def markers(submission: Mapping[str, Any], me: str | None) -> tuple[str, ...]:
    """Those in comments of our own account, for anybody can write one; None for those of anybody."""
    return tuple(
        found
        for comment in submission.get("submission_comments") or ()
        if me is None or str(comment.get("author_id")) == me
        for found in marker.found(str(comment.get("comment") or ""))
    )


def decimal(value: Any) -> Decimal | None:
    """A number of an answer; None if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return Decimal(str(value))
