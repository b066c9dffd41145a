"""Points that people gave, as rows: the last one of an item counts, and is laid over the evidence."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, RowMapping, Select, insert, select

from grader.config.codec import dumps
from grader.config.points_file import CriterionPoints, PointsGiven, judged
from grader.gradebook.origin import account, now
from grader.gradebook.rows import revive
from grader.gradebook.tables import POINTS, SUBMISSIONS
from grader.model.evidence import Evidence
from grader.model.observation import Observation, Outcome
from grader.model.submission import Submission

_NAMES = (
    "id",
    "item",
    "points",
    "possible",
    "by",
    "given_at",
    "comment",
    "reason",
    "criteria",
    "suggested",
    "withdrawn",
    "undoes",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One row of points."""

    number: int
    submission: int
    """The number of the submission's row."""
    student: str
    """The student, or the team."""
    record: PointsGiven
    undoes: int | None = None
    """The number of the row that this one takes back."""


def judgement_rows(assignment: str) -> Select[Any]:
    """Select all rows of points of an assignment, the oldest first; see `read_judgement`."""
    return (
        select(POINTS.c.submission, SUBMISSIONS.c.student, SUBMISSIONS.c.digest)
        .add_columns(*(POINTS.c[name] for name in _NAMES))
        .join(SUBMISSIONS, SUBMISSIONS.c.id == POINTS.c.submission)
        .where(SUBMISSIONS.c.assignment == assignment)
        .order_by(POINTS.c.id)
    )


def read_judgement(row: RowMapping) -> Judgement:
    """Read a row of `judgement_rows`."""
    criteria = revive(tuple[CriterionPoints, ...], row.criteria) if row.criteria else None
    return Judgement(
        number=row.id,
        submission=row.submission,
        student=row.student,
        record=PointsGiven(
            item=row.item,
            points=row.points,
            possible=row.possible,
            by=row.by,
            at=row.given_at,
            comment=row.comment,
            reason=row.reason,
            criteria=criteria,
            submission=row.digest,
            withdrawn=bool(row.withdrawn),
            suggested=row.suggested,
        ),
        undoes=row.undoes,
    )


def judgements_of(connection: Connection, submission: Submission) -> list[Judgement]:
    """Read all judgements of the files of a submission, the oldest first, whatever archive they came in."""
    rows = judgement_rows(submission.assignment).where(
        SUBMISSIONS.c.student == submission.student, SUBMISSIONS.c.digest == submission.digest
    )
    return [read_judgement(row) for row in connection.execute(rows).mappings()]


def latest(judgements: Iterable[Judgement]) -> dict[str, Judgement]:
    """Return the judgement of each item that counts, also if it withdraws points."""
    return {judgement.record.item: judgement for judgement in judgements}


def lay_over(
    observations: Mapping[str, Observation], records: Iterable[PointsGiven]
) -> dict[str, Observation]:
    """Merge judgements into stored observations, whose points may be older."""
    merged = dict(observations)
    for record in records:
        observation = merged.get(record.item)
        if observation is None and record.withdrawn:
            continue
        bare = Observation(item=record.item, outcome=Outcome.NOT_OBSERVED)
        if observation is None or _differs(observation, record):
            merged[record.item] = judged(observation or bare, record)
    return merged


def _differs(observation: Observation, record: PointsGiven) -> bool:
    """Tell whether an observation has other points than a judgement."""
    points = observation.quantities.get("points_given")
    if points is None or record.withdrawn:
        return (points is None) is not record.withdrawn
    facts = observation.facts
    stored = (points.value, points.taken_by, facts.get("given_at", ""), facts.get("comment", ""))
    return stored != (record.points, record.by, record.at, record.comment)


def with_judgements(connection: Connection, evidence: Evidence) -> Evidence:
    """Merge the judgements that count into evidence; return the same object if it has them already."""
    records = [each.record for each in latest(judgements_of(connection, evidence.submission)).values()]
    merged = lay_over(evidence.observations, records)
    same = all(merged[name] is evidence.observations.get(name) for name in merged)
    return evidence if same else replace(evidence, observations=merged)


def add_judgement(
    connection: Connection,
    submission: int,
    record: PointsGiven,
    *,
    undoes: int | None = None,
) -> int:
    """Add a row of points; return its number."""
    criteria = "" if record.criteria is None else dumps(record.criteria)
    row = {
        "submission": submission,
        "item": record.item,
        "points": record.points,
        "possible": record.possible,
        "by": record.by,
        "given_at": record.at,
        "comment": record.comment,
        "reason": record.reason,
        "criteria": criteria,
        "suggested": record.suggested,
        "withdrawn": int(record.withdrawn),
        "undoes": undoes,
        "account": account(),
        "at": now(connection),
    }
    key: Any = connection.execute(insert(POINTS), row).inserted_primary_key
    return int(key[0])


def undoable(judgements: Collection[Judgement], by: str) -> Judgement | None:
    """Return the last judgement of a person that is not taken back yet, of an assignment; None if none is."""
    undone = {each.undoes for each in judgements}
    mine = [
        each
        for each in judgements
        if each.record.by == by and each.undoes is None and each.number not in undone
    ]
    return max(mine, key=lambda each: each.number, default=None)


def before(judgements: Iterable[Judgement], judgement: Judgement) -> Judgement | None:
    """Return what counted for an item before a judgement, without what was taken back; None for nothing."""
    same = [
        each
        for each in judgements
        if (each.student, each.record.submission, each.record.item)
        == (judgement.student, judgement.record.submission, judgement.record.item)
    ]
    undone = {each.undoes for each in same}
    earlier = [
        each
        for each in same
        if each.number < judgement.number and each.undoes is None and each.number not in undone
    ]
    return earlier[-1] if earlier else None


def records_in(evidence: Evidence) -> list[PointsGiven]:
    """Return the judgements that are merged into evidence."""
    records = []
    for name, observation in evidence.observations.items():
        quantities, facts = observation.quantities, observation.facts
        points, possible = (quantities.get(key) for key in ("points_given", "points_possible"))
        if points is None or possible is None:
            continue
        rows = facts.get("criteria_points")
        criteria = (
            None
            if rows is None
            else tuple(CriterionPoints(name=str(title), points=of, possible=most) for title, of, most in rows)
        )
        records.append(
            PointsGiven(
                item=name,
                points=float(points.value or 0),
                possible=float(possible.value or 0),
                by=points.taken_by,
                at=str(facts.get("given_at", "")),
                comment=str(facts.get("comment", "")),
                reason=str(facts.get("given_reason", "")),
                criteria=criteria,
                submission=evidence.submission.digest,
                suggested=facts.get("given_suggested"),
            )
        )
    return records


def add_points(connection: Connection, submission: int, evidence: Evidence) -> bool:
    """Add the points given by people that are not recorded yet; return whether one of them counts.

    Points that are newer here still count.
    """
    judgements = judgements_of(connection, evidence.submission)
    recorded, current = {_key_of(each.record) for each in judgements}, latest(judgements)
    counts = False
    for record in records_in(evidence):
        if _key_of(record) in recorded:
            continue
        add_judgement(connection, submission, record)
        newer = current.get(record.item)
        if newer is not None and newer.record.at > record.at:
            add_judgement(connection, submission, newer.record)
        else:
            counts = True
    return counts


def _key_of(record: PointsGiven) -> tuple[object, ...]:
    return (record.item, record.points, record.possible, record.by, record.at, record.comment)
