"""The award of points that a person gave, for every kind that leaves items to people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from grader.model.observation import Observation
from grader.model.score import Award

if TYPE_CHECKING:
    from grader.matching.criteria import Criterion


def award_given(observation: Observation, criteria: Sequence[Criterion] = ()) -> Award | None:
    """Return the award of the points that a person gave; None if nobody gave any.

    It is a whole award, which `award` returns as it is: `if by_hand := award_given(observation): return
    by_hand`. Its fraction is the share of what the item was worth then. If the criteria have changed since,
    the points stay as they are, and a flag says so.

    Args:
        observation: what `award` was given.
        criteria: those of the item; the hint has the feedback of each that did not get all of its points.
    """
    quantities = (observation.quantities.get(name) for name in ("points_given", "points_possible"))
    points, most = (float(quantity.value or 0) if quantity else None for quantity in quantities)
    if points is None or most is None:
        return None
    facts = observation.facts
    comment = " ".join(str(facts.get("comment", "")).split())  # may be in paragraphs
    reason = f"a person gave {points:g} of {most:g}" + (f": {comment}" if comment else "")
    rows = facts.get("criteria_points", ())
    share_by_name = {str(name): part / of for name, part, of in rows if of and part is not None}
    feedback = (c.feedback for c in criteria if share_by_name.get(c.name, 1.0) < 1)
    flags: tuple[str, ...] = ()
    if "criteria_points" in facts and {str(name): of for name, _, of in rows} != {
        criterion.name: criterion.points for criterion in criteria
    }:
        flags = (f"the criteria have changed since a person gave {points:g} of {most:g}; the points stay",)
    return Award(
        fraction=points / most if most else 1.0,
        reason=reason,
        hint=" ".join(filter(None, feedback)),
        flags=flags,
    )
