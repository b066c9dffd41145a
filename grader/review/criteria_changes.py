"""Criteria that changed since people gave points for them: who changes, and by how much."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from grader.config.points_file import CriterionPoints, PointsGiven
from grader.review.class_index import in_shown_order
from grader.review.desk import criteria_of
from grader.review.judging import clock

if TYPE_CHECKING:
    from grader.gradebook.judgements import Judgement
    from grader.model.rubric import Item
    from grader.review.class_index import ClassIndex, GradedEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class CriteriaChange:
    """One judgement by earlier criteria, and what it is by the present ones."""

    entry: GradedEntry
    judgement: Judgement
    after: PointsGiven | None
    """None if there is a criterion that nobody has given points for."""
    missing: tuple[str, ...] = ()
    """The names of such criteria."""


def criteria_changes(index: ClassIndex, item: Item) -> Iterator[CriteriaChange]:
    """Yield the judgements of an item that were given by other criteria or for other points."""
    for entry in in_shown_order(index.entries, names=False):
        judgement = index.judgement(entry, item.id)
        if judgement is not None and _is_older(judgement.record, item):
            yield _change(entry, judgement, item)


def _is_older(record: PointsGiven, item: Item) -> bool:
    if record.criteria is None:
        return not math.isclose(record.possible, item.points)
    present = [(criterion.name, criterion.points) for criterion in criteria_of(item)]
    return [(each.name, each.possible) for each in record.criteria] != present or not math.isclose(
        record.possible, item.points
    )


def _change(entry: GradedEntry, judgement: Judgement, item: Item) -> CriteriaChange:
    record, criteria = judgement.record, criteria_of(item)
    shares = {
        each.name: each.points / each.possible
        for each in record.criteria or ()
        if each.points is not None and each.possible
    }
    if not criteria or (record.criteria and not shares):  # given as a whole: the share of the whole stays
        points = item.points * (record.points / record.possible if record.possible else 1.0)
        after = replace(record, points=round(points, 9), possible=item.points, criteria=())
        return CriteriaChange(entry=entry, judgement=judgement, after=after)
    missing = tuple(criterion.name for criterion in criteria if criterion.name not in shares)
    if missing:
        return CriteriaChange(entry=entry, judgement=judgement, after=None, missing=missing)
    parts = tuple(
        CriterionPoints(
            name=criterion.name,
            possible=criterion.points,
            points=round(shares[criterion.name] * criterion.points, 9),
        )
        for criterion in criteria
    )
    points = round(math.fsum(part.points or 0.0 for part in parts), 9)
    after = replace(record, points=points, possible=item.points, criteria=parts)
    return CriteriaChange(entry=entry, judgement=judgement, after=after)


def applied(change: CriteriaChange, by: str) -> PointsGiven:
    """Return the judgement with which somebody applies a change: still that of the person who graded."""
    assert change.after is not None  # noqa: S101 - those without are shown to a person
    earlier = change.judgement.record
    of = f"{earlier.points:g} of {earlier.possible:g}"
    reason = f"{by} applied the present criteria; by earlier ones {earlier.by} gave {of}"
    # what was suggested then was of the earlier criteria
    return replace(change.after, at=clock(), reason=reason, suggested=None)
