"""Points that a person gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from grader.checks.judged import JudgedOptions
from grader.checks.points_drawings import points_drawings
from grader.config.points_file import MANUAL, WAITS
from grader.contracts.check import CheckKind
from grader.matching.criteria import Criterion, require_worth
from grader.model.drawing import Drawing, MarkedText
from grader.model.observation import Observation, Outcome
from grader.model.options import option
from grader.model.score import Award

if TYPE_CHECKING:
    from grader.contracts.context import CheckContext


class Manual(CheckKind):
    """Wait until a person has looked: the points are open, and come from `grader manual import`.

    Nothing runs, and no worker is started for it. What was given stays with the submission that was looked
    at: a new one waits again.
    """

    name: ClassVar[str] = MANUAL
    by_hand: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options(JudgedOptions):
        """The YAML keys."""

        asks: str = option(
            "What the person should look at; stands beside the empty points in the exported table.",
            judges=True,
            default="",
        )

        @property
        def request(self) -> str:
            """The request to the person."""
            return self.asks

    def complete(self, options: Options, others: Sequence[Options], *, points: float) -> Options:
        """Return the options as they are, if the criteria are worth the item's points."""
        del others
        require_worth(options.criteria, points)
        return options

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Say that it waits."""
        del options
        return Observation(item=context.item, outcome=Outcome.NOT_OBSERVED, note=WAITS, seed=context.seed)

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """Award what the person gave."""
        del related
        waits = Award(fraction=0.0, reason=WAITS, undecided=True)
        return award_given(observation, options.criteria) or waits

    def show(self, options: Options, observation: Observation) -> Iterable[Drawing]:
        """Draw the model answer, and the points of each criterion."""
        if options.model:
            yield MarkedText(title="Model answer", text=options.model)
        yield from points_drawings(options.criteria, observation)


def award_given(observation: Observation, criteria: Sequence[Criterion] = ()) -> Award | None:
    """Return the points that a person gave, as a share of what the item was worth then; None if nobody did.

    The hint has the feedback of criteria that did not get all of their points. If the criteria have changed
    since, the points stay as they are, and a flag says so.
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
