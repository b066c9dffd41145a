"""The plan of a posting: grades compared with those on a platform, a line for each student."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from grader.contracts.exporter import Grade, GradeRules, RowOutcome
from grader.contracts.platform import Change, PlatformGrade, Target
from grader.errors import UsageError
from grader.lms import marker
from grader.lms.fill import held_back, scaled
from grader.lms.numbers import exact, spelled
from grader.lms.people import matched
from grader.model.magnitude import rounded
from grader.model.score import Standing
from grader.text import one_line

if TYPE_CHECKING:
    from grader.model.roster import Roster


@dataclass(frozen=True, slots=True, kw_only=True)
class DesiredGrade:
    """The grade that one student shall have on the platform."""

    grade: Grade
    posted: tuple[Decimal, ...] = ()
    """Points that may be there from us: those that the gradebook last confirmed, and those sent since."""
    page: Path | None = None
    """The student's page, to be attached to a comment."""
    no_comment: str = ""
    """Why the student gets no comment for now, as without the page; empty if nothing is in the way."""
    rubric: Mapping[str, Decimal] = field(default_factory=dict)
    """Points by criterion of the platform's own rubric: of items that the student may see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostRules(GradeRules):
    """The options of a posting."""

    lower: bool = False
    """Also where the new grade is less than the present one."""
    comment: bool = True
    """Whether the student gets a comment with the points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanLine:
    """One student: the grade there, the new one, and why nothing is sent."""

    who: str
    """The student; for a person of the platform whom nobody knows, their name and id there."""
    outcome: RowOutcome
    now: str = ""
    """The grade there as people see it; empty if there is none."""
    new: str = ""
    """The grade of the gradebook on the platform's scale; empty if there is none."""
    note: str = ""
    """A line for staff; empty if there is nothing to say."""
    change: Change | None = None
    """What to send; None if nothing is missing there, or nothing may be sent."""


def plan(
    desired: Mapping[str, DesiredGrade],
    target: Target,
    present: Sequence[PlatformGrade],
    roster: Roster,
    rules: PostRules,
) -> tuple[PlanLine, ...]:
    """Return a line for everyone on the platform, in its order, then for grades of nobody there.

    Raises:
        UsageError: nothing can be posted to this assignment, or its maximum is another than the rubric's.
    """
    if target.refusal:
        raise UsageError(f"{one_line(target.title)}: {target.refusal}")
    grades = {student: each.grade for student, each in desired.items()}
    students, unmatched = matched([grade.person for grade in present], grades, roster)
    rules = rules if target.takes_comments else replace(rules, comment=False)
    lines = []
    for grade in present:
        row = grade.person.row
        if result := unmatched.get(row):
            note = result.note.replace("is in the file", "is there")
            shown = one_line(grade.shown)
            lines.append(PlanLine(who=result.who, outcome=result.outcome, now=shown, note=note))
        else:
            lines.append(_line(students[row], desired.get(students[row]), grade, target, rules))
    note = "has a grade, but nobody there is surely them; have they left the course?"
    lines += [
        PlanLine(who=student, outcome=RowOutcome.NO_ROW, note=note)
        for student in sorted(grades)
        if student not in students.values()
    ]
    return tuple(lines)


def _line(
    student: str, desired: DesiredGrade | None, present: PlatformGrade, target: Target, rules: PostRules
) -> PlanLine:
    now = one_line(present.shown)
    if desired is None:
        note = "is there and has no grade"
        return PlanLine(who=student, outcome=RowOutcome.NO_GRADE, now=now, note=note)
    exact_points = scaled(desired.grade, target.possible, rules, one_line(target.title))
    points = rounded(exact_points, rules.digits)
    new = spelled(points)

    def stays(outcome: RowOutcome, note: str) -> PlanLine:
        return PlanLine(who=student, outcome=outcome, now=now, new=new, note=note)

    if why := held_back(desired.grade, rules):
        return stays(RowOutcome.HELD_BACK, why)
    if present.settled:
        return stays(RowOutcome.UNCHANGED, present.settled)
    most = exact_points if target.possible is None else target.possible
    if target.bounded and not 0 <= points <= max(most, Decimal(0)):
        return stays(RowOutcome.HELD_BACK, f"the range there is 0 to {spelled(most)}; enter it by hand")
    same = present.points is not None and rounded(present.points, rules.digits) == points
    ours = _is_ours(desired, present, target)
    if not same and (why := _stays(present, points, ours, rules)):
        return stays(RowOutcome.UNCHANGED, why)
    change = _change(desired, present, target, rules, points)
    written = RowOutcome.REPLACED if present.shown else RowOutcome.WRITTEN
    outcome = RowOutcome.SAME if same else written
    no_comment = desired.no_comment if rules.comment else ""
    note = "; ".join(filter(None, (_missing(change) if same else "", no_comment, present.remark)))
    return PlanLine(who=student, outcome=outcome, now=now, new=new, note=note, change=change)


def _stays(present: PlatformGrade, points: Decimal, ours: bool, rules: PostRules) -> str:
    """Return why the present grade stays; empty if it may be replaced."""
    if not present.shown:
        return ""
    if not ours and not rules.overwrite:
        return "somebody else's grade is there; --overwrite replaces it"
    if present.points is not None and points < present.points and not rules.lower:
        return "is more there than the grade; --lower lowers it"
    return ""


def _is_ours(desired: DesiredGrade, present: PlatformGrade, target: Target) -> bool:
    """Tell whether we entered the present grade, and nobody has changed it since."""
    if present.points is None or not present.by_us:
        return False
    if present.points in desired.posted:
        return True
    return marker.is_newest(present.markers, target.key, present.person.id, present.points)


def _change(
    desired: DesiredGrade, present: PlatformGrade, target: Target, rules: PostRules, points: Decimal
) -> Change | None:
    """Return what is missing there; None if nothing is."""
    same = present.points is not None and rounded(present.points, rules.digits) == points
    rubric: Mapping[str, Decimal] = {}
    if any(present.rubric.get(name) != of for name, of in desired.rubric.items()):
        free = not present.rubric or rules.overwrite or _is_ours(desired, present, target)
        rubric = desired.rubric if free else {}
    comment = key = ""
    message = (present.markers, target.key, present.person.id, points)
    if rules.comment and not desired.no_comment and not marker.is_newest(*message):
        key = marker.following(*message)
        comment = f"{_words(desired, points, target)}\n\n{key}"
    if same and not comment and not rubric:
        return None
    return Change(
        student=desired.grade.student,
        id=present.person.id,
        points=None if same else points,
        comment=comment,
        marker=key,
        page=desired.page if comment else None,
        rubric=rubric,
    )


def _missing(change: Change | None) -> str:
    """Name what is sent to somebody whose grade is there already."""
    if change is None:
        return ""
    parts = [name for name in ("comment", "rubric") if getattr(change, name)]
    return f"the grade is there, the {' and the '.join(parts)} not yet"


def _words(desired: DesiredGrade, points: Decimal, target: Target) -> str:
    """Write the comment: nothing that the grade does not reveal."""
    possible = exact(desired.grade.possible) if target.possible is None else target.possible
    sentences = [f"{spelled(points)} of {spelled(possible)} points."]
    if desired.grade.lateness:
        sentences.append(desired.grade.lateness)
    if desired.grade.standing is not Standing.FINAL:
        sentences.append("Points are still open.")
    if desired.page is not None:
        sentences.append("The report is attached.")
    return " ".join(sentences)
