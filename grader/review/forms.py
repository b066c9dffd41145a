"""The form in which a person gives points, read and checked field by field."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.config.points_file import ACCEPTED, CriterionPoints, PointsGiven, written_reason
from grader.review.desk import criteria_of

if TYPE_CHECKING:
    from grader.model.rubric import Item
    from grader.review.exhibit import CriterionRow

LONGEST = 4000
"""Characters of a comment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entered:
    """Fields of the form as they were typed, with what is wrong with them."""

    parts: tuple[str, ...]
    comment: str = ""
    reason: str = ""
    problems: tuple[str, ...] = ()
    points: tuple[float, ...] = ()
    """The points of each row, if nothing is wrong."""


def read_form(form: Mapping[str, str], rows: Sequence[CriterionRow]) -> Entered:
    """Read the points of each row, or those that are suggested for it."""
    accept = "accept" in form
    parts = tuple(
        f"{row.suggested:g}"
        if accept and row.suggested is not None
        else form.get(f"part-{place}", "").strip()
        for place, row in enumerate(rows)
    )
    points, problems = [], []
    for text, row in zip(parts, rows, strict=True):
        value = _number(text)
        if 0 <= value <= row.possible:
            points.append(value)
        elif text:
            problems.append(f"{row.name}: a number from 0 to {row.possible:g} is needed, not {text[:20]!r}")
        else:
            problems.append(f"{row.name}: give points from 0 to {row.possible:g}")
    comment, reason = (clean_text(form.get(name, "")) for name in ("comment", "reason"))
    if accept and not reason:
        reason = ACCEPTED
    for name, text in (("comment", comment), ("reason", reason)):
        if len(text) > LONGEST:
            problems.append(f"{name}: has {len(text)} characters, more than {LONGEST}; make it shorter")
    return Entered(
        parts=parts, comment=comment, reason=reason, problems=tuple(problems), points=tuple(points)
    )


def written(record: PointsGiven | None, rows: Sequence[CriterionRow]) -> Entered:
    """Return the form as a judgement filled it, or empty."""
    if record is None:
        return Entered(parts=("",) * len(rows))
    parts = tuple(f"{c.points:g}" for c in record.criteria or () if c.points is not None)
    if len(rows) == 1 and not parts:
        parts = (f"{record.points:g}",)
    return Entered(
        parts=parts if len(parts) == len(rows) else ("",) * len(rows),
        comment=record.comment,
        reason=written_reason(record.reason),
    )


def judgement(
    item: Item, entered: Entered, *, by: str, at: str, digest: str, suggested: float | None
) -> PointsGiven:
    """Return the judgement that a form without problems says, beside what was `suggested`."""
    criteria = criteria_of(item)
    return PointsGiven(
        item=item.id,
        points=round(math.fsum(entered.points), 9),
        possible=item.points,
        by=by,
        at=at,
        comment=entered.comment,
        reason=entered.reason,
        criteria=tuple(
            CriterionPoints(name=criterion.name, possible=criterion.points, points=points)
            for criterion, points in zip(criteria, entered.points, strict=False)
        ),
        submission=digest,
        suggested=suggested,
    )


def _number(text: str) -> float:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return math.nan


def clean_text(text: str) -> str:
    """Return a text of a form as it is kept: without null characters, which PostgreSQL refuses."""
    return text.replace("\r\n", "\n").replace("\0", "").strip()
