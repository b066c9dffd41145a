"""The plan of a posting: marks held against what a platform has, a line for each student."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from grader.errors import UsageError
from grader.lms import marker
from grader.lms.contract import Fate, Grade
from grader.lms.fill import held_back
from grader.lms.grades import exact, rounded, spelled
from grader.lms.people import matched
from grader.lms.platform import Change, Held, Target
from grader.model.score import Standing
from grader.text import one_line

if TYPE_CHECKING:
    from grader.config.roster import Roster


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What one student shall have on the platform."""

    mark: Grade
    posted: tuple[Decimal, ...] = ()
    """What stands there because of us, if it is one of these: what our gradebook last saw there, and what was
    sent since without a sure answer."""
    page: Path | None = None
    """The student's page, to be attached to a comment."""
    silent: str = ""
    """Why the student gets no comment for now, as without the page; empty if nothing is in the way."""
    rubric: Mapping[str, Decimal] = field(default_factory=dict)
    """Points by criterion of the platform's own rubric: of items that the student may see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostRules:
    """What the posting was told."""

    include_provisional: bool = False
    """Also what is open or held: the points so far."""
    include_untimed: bool = False
    """Also where the late rule could not be applied: nothing is taken off."""
    overwrite: bool = False
    """Also where a person's grade stands."""
    lower: bool = False
    """Also where the new grade is less than the one that stands there."""
    scale: bool = False
    """Where the platform's maximum is another than the rubric's, convert in proportion."""
    comment: bool = True
    """Whether the student gets a comment with the points."""
    digits: int = 2
    """Decimals that are posted; a half is rounded up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One student, what is there, what it would become, and why not."""

    who: str
    """The student; where the platform's person is nobody known, what it calls them."""
    fate: Fate
    now: str = ""
    """The grade there as people see it; empty if there is none."""
    new: str = ""
    """The mark on the platform's scale; empty if there is none."""
    note: str = ""
    """A line for staff; empty if there is nothing to say."""
    change: Change | None = None
    """What to send; None if nothing is missing there, or nothing may be sent."""


def plan(
    wanted: Mapping[str, Wanted], target: Target, held: Sequence[Held], roster: Roster, rules: PostRules
) -> tuple[Line, ...]:
    """A line for everyone whom the platform has, in its order, then for marks of nobody there.

    Raises:
        UsageError: nothing can be posted to this assignment, or its maximum is another than the rubric's.
    """
    if target.refusal:
        raise UsageError(f"{one_line(target.title)}: {target.refusal}")
    marks = {student: one.mark for student, one in wanted.items()}
    students, said = matched([one.person for one in held], marks, roster)
    lines = []
    for one in held:
        row = one.person.row
        if outcome := said.get(row):
            note = outcome.note.replace("is in the file", "is there")
            lines.append(Line(who=outcome.who, fate=outcome.fate, now=one_line(one.shown), note=note))
        else:
            lines.append(_line(students[row], wanted.get(students[row]), one, target, rules))
    lines += [
        Line(who=student, fate=Fate.NO_ROW, note="has a mark and nobody there is sure to be them")
        for student in sorted(marks)
        if student not in students.values()
    ]
    return tuple(lines)


def _line(student: str, wanted: Wanted | None, held: Held, target: Target, rules: PostRules) -> Line:
    now = one_line(held.shown)
    if wanted is None:
        return Line(who=student, fate=Fate.NO_MARK, now=now, note="is there and has no mark")
    points, grade = _points(wanted.mark, target, rules)
    new = spelled(grade)

    def stays(fate: Fate, note: str) -> Line:
        return Line(who=student, fate=fate, now=now, new=new, note=note)

    if why := held_back(
        wanted.mark, include_provisional=rules.include_provisional, include_untimed=rules.include_untimed
    ):
        return stays(Fate.HELD_BACK, why)
    if held.settled:
        return stays(Fate.LEFT, held.settled)
    most = points if target.possible is None else target.possible
    if target.bounded and not 0 <= grade <= max(most, Decimal(0)):
        return stays(Fate.HELD_BACK, f"grades from 0 to {spelled(most)} are taken there; give this one there")
    same = held.points is not None and rounded(held.points, rules.digits) == grade
    ours = _is_ours(wanted, held, target)
    if not same and (why := _stands(held, grade, ours, rules)):
        return stays(Fate.LEFT, why)
    change = _change(student, wanted, held, target, rules, None if same else grade)
    fate = Fate.SAME if same else Fate.REPLACED if held.shown else Fate.WRITTEN
    silent = wanted.silent if rules.comment else ""
    note = "; ".join(filter(None, (_missing(change) if same else "", silent, held.remark)))
    return Line(who=student, fate=fate, now=now, new=new, note=note, change=change)


def _stands(held: Held, grade: Decimal, ours: bool, rules: PostRules) -> str:
    """Why the grade that stands there stays; empty if it may go."""
    if not held.shown:
        return ""
    if not ours and not rules.overwrite:
        return "another's grade stands there; --overwrite replaces it"
    if held.points is not None and grade < held.points and not rules.lower:
        return "is more there than the mark; --lower lowers it"
    return ""


def _is_ours(wanted: Wanted, held: Held, target: Target) -> bool:
    """Whether the grade that stands there is what we put there, and nobody has touched it since."""
    if held.points is None or not held.by_us:
        return False
    return held.points in wanted.posted or marker.says(held.markers, target.key, held.person.id, held.points)


def _change(
    student: str, wanted: Wanted, held: Held, target: Target, rules: PostRules, points: Decimal | None
) -> Change | None:
    """What is missing there; None if nothing is."""
    grade = _points(wanted.mark, target, rules)[1]
    rubric: Mapping[str, Decimal] = {}
    if any(held.rubric.get(name) != given for name, given in wanted.rubric.items()):
        free = not held.rubric or rules.overwrite or _is_ours(wanted, held, target)
        rubric = wanted.rubric if free else {}
    comment = mark = ""
    if (
        rules.comment
        and not wanted.silent
        and not marker.says(held.markers, target.key, held.person.id, grade)
    ):
        mark = marker.following(held.markers, target.key, held.person.id, grade)
        comment = f"{_words(wanted, grade, target)}\n\n{mark}"
    if points is None and not comment and not rubric:
        return None
    return Change(
        student=student,
        id=held.person.id,
        points=points,
        comment=comment,
        marker=mark,
        page=wanted.page if comment else None,
        rubric=rubric,
    )


def _missing(change: Change | None) -> str:
    """What is sent to somebody whose grade is there already."""
    if change is None:
        return ""
    parts = [name for name, there in (("comment", change.comment), ("rubric", change.rubric)) if there]
    return f"the grade is there, the {' and the '.join(parts)} not yet"


def _words(wanted: Wanted, grade: Decimal, target: Target) -> str:
    """The comment: only what the grade tells anyway."""
    possible = exact(wanted.mark.possible) if target.possible is None else target.possible
    sentences = [f"{spelled(grade)} of {spelled(possible)} points."]
    if wanted.mark.standing is Standing.PROVISIONAL:
        sentences.append("Points are still open.")
    if wanted.page is not None:
        sentences.append("The report is attached.")
    return " ".join(sentences)


def _points(mark: Grade, target: Target, rules: PostRules) -> tuple[Decimal, Decimal]:
    """The points on the platform's scale, exact and as they are posted."""
    points, possible, most = exact(mark.points), exact(mark.possible), target.possible
    if most is not None and most != possible:
        if not rules.scale or not possible:
            wrong = f"the maximum is {spelled(most)} there, and {spelled(possible)} in the rubric"
            raise UsageError(f"{one_line(target.title)}: {wrong}; make them alike, or convert with --scale")
        points = points * most / possible
    return points, rounded(points, rules.digits)
