"""Points that a person gave, as drawings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.matching.criteria import Criterion
from grader.model.drawing import Drawing, Paragraph, ValueTable
from grader.model.magnitude import number
from grader.model.observation import Observation


def points_drawings(criteria: Sequence[Criterion], observation: Observation) -> Iterator[Drawing]:
    """Yield the points that a person gave for each criterion, and who did, for staff."""
    facts = observation.facts
    rows = [row for row in facts.get("criteria_points", ()) if row[1] is not None]
    if criteria and rows:
        yield ValueTable(
            title="Points given",
            head=("Criterion", "Points", "Of"),
            rows=tuple((str(name), number(points), number(possible)) for name, points, possible in rows),
            at_most=len(rows),
        )
    if points := observation.quantities.get("points_given"):
        reason = f", because: {facts['given_reason']}" if facts.get("given_reason") else ""
        text = f"Points given by {points.taken_by}{reason}"
        yield Paragraph(text=text, moment=str(facts.get("given_at", "")), for_staff=True)
