"""Points that a person gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from grader.config.points_file import MANUAL, WAITS
from grader.contracts.check import CheckKind
from grader.matching.criteria import Criterion, criteria_problem
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
    class Options:
        """The YAML keys."""

        asks: str = option(
            "What the person should look at; stands beside the empty points in the exported table.",
            judges=True,
            default="",
        )
        model: str = option(
            "The model answer, beside which a person reads; students see it when their grade is final and "
            "published.",
            judges=True,
            secret=True,
            default="",
        )
        criteria: tuple[Criterion, ...] = option(
            "The parts of the item; together they are worth what it is, and a person gives points for each.",
            judges=True,
            secret=True,
            default=(),
        )

        def __post_init__(self) -> None:
            """Refuse criteria that share a name."""
            if problem := criteria_problem(self.criteria):
                raise ValueError(problem)

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Say that it waits."""
        del options
        return Observation(item=context.item, outcome=Outcome.NOT_OBSERVED, note=WAITS, seed=context.seed)

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """What the person gave."""
        del options, related
        return award_given(observation) or Award(fraction=0.0, reason=WAITS, undecided=True)


def award_given(observation: Observation) -> Award | None:
    """The points that a person gave, as a share of what the item was worth then; None if nobody did."""
    given, possible = (observation.quantities.get(name) for name in ("points_given", "points_possible"))
    if given is None or possible is None:
        return None
    points, most = float(given.value or 0), float(possible.value or 0)
    comment = " ".join(str(observation.facts.get("comment", "")).split())  # may be in paragraphs
    reason = f"a person gave {points:g} of {most:g}" + (f": {comment}" if comment else "")
    return Award(fraction=points / most if most else 1.0, reason=reason)
