"""Canvas' JSON objects as values of `grader.contracts.platform`."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from grader.contracts.platform import Person, PlatformGrade, Target
from grader.lms import marker
from grader.lms.numbers import spelled

_NO_POINTS = frozenset({"pass_fail", "not_graded"})
_IDS = (
    ("canvas_id", "id"),
    ("sis_id", "sis_user_id"),
    ("student", "login_id"),
    ("email", "login_id"),
    ("email", "email"),
)
"""Fields of the roster, each with the same field of a user of Canvas."""


def target(key: str, assignment: Mapping[str, Any]) -> Target:
    """Read an assignment."""
    remarks = []
    if assignment.get("moderated_grading"):
        remarks.append("is moderated: Canvas takes grades only once the moderator has released them")
    by_rubric = assignment.get("use_rubric_for_grading")
    if by_rubric:
        remarks.append("is graded by its rubric in Canvas, so points of single criteria are not posted")
    rows = () if by_rubric else assignment.get("rubric") or ()
    return Target(
        key=key,
        title=str(assignment.get("name") or key),
        possible=decimal(assignment.get("points_possible")),
        refusal=_refusal(assignment),
        criteria={str(row["id"]): str(row.get("description") or row["id"]) for row in rows},
        remarks=tuple(remarks),
    )


def _refusal(assignment: Mapping[str, Any]) -> str:
    """Return why no grade can be posted to an assignment; empty if it can."""
    if assignment.get("published") is False:
        return "is not published in Canvas; publish it first"
    if assignment.get("grading_type") in _NO_POINTS:
        return "is not graded in points in Canvas; change how its grade is displayed there"
    if assignment.get("moderated_grading") and assignment.get("grades_published") is False:
        return "is moderated, and its grades are not released in Canvas; release them first"
    if assignment.get("anonymize_students"):
        return "hides in Canvas who is who; post its grades there first, or take anonymous grading off"
    if assignment.get("group_category_id") and not assignment.get("grade_group_students_individually"):
        return "gives grades to whole groups in Canvas; let them be given to each student individually"
    return ""


def grade(person: Person, submission: Mapping[str, Any] | None, me: str) -> PlatformGrade:
    """Read the grade of a student to whom the assignment is assigned; `me` is our account."""
    if submission is None:
        return PlatformGrade(person=person, settled="is not assigned this there; assign it first")
    excused = submission.get("excused")
    entered = points(submission)
    shown = str(submission.get("grade") or "") if entered is None else spelled(entered)
    deducted = decimal(submission.get("points_deducted"))
    return PlatformGrade(
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
    """Read a user who is enrolled."""
    ids = dict.fromkeys((field, str(user[key]).strip()) for field, key in _IDS if user.get(key))
    name = str(user.get("sortable_name") or user.get("name") or "")
    return Person(row=row, name=name, id=str(user["id"]), ids=tuple(ids))


def points(submission: Mapping[str, Any]) -> Decimal | None:
    """Return the points that were entered; `score` is after Canvas' own late policy."""
    return decimal(submission.get("entered_score" if "entered_score" in submission else "score"))


def rubric(submission: Mapping[str, Any]) -> Mapping[str, Decimal]:
    """Return points by criterion."""
    rows = (submission.get("rubric_assessment") or {}).items()
    return {str(name): of for name, row in rows if (of := decimal(row.get("points"))) is not None}


def markers(submission: Mapping[str, Any], me: str | None) -> tuple[str, ...]:
    """Return the markers in comments of the account `me`, for anybody can write one; None for any account."""
    return tuple(
        key
        for comment in submission.get("submission_comments") or ()
        if me is None or str(comment.get("author_id")) == me
        for key in marker.markers_in(str(comment.get("comment") or ""))
    )


def decimal(value: Any) -> Decimal | None:
    """Return a number of an answer; None if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return Decimal(str(value))
