"""The marks of a class as its reports get them: cards, and the little of the evidence that they count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.reports.bars import Speedup
from grader.reports.numbers import amount, number

if TYPE_CHECKING:
    from grader.model.evidence import Evidence
    from grader.model.observation import Observation
    from grader.model.score import Scorecard, Total


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What is counted of one item's observation."""

    wall_s: float
    """Seconds that looking took."""
    fault: str = ""
    """Who has to act where nothing could be observed: `course`, `machine` or `grader`."""
    simulated: bool = False
    """Whether it was seen in a simulator and not on the device itself."""
    speedup: Speedup | None = None
    """What was measured, against the threshold that now holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandIn:
    """One mark that holds."""

    students: tuple[str, ...]
    """For whom it holds: who has left a team since has another one."""
    card: Scorecard
    seen: Mapping[str, Seen]
    """By item id."""

    @property
    def totals(self) -> Iterator[Total]:
        """What the students get for whom it holds."""
        return (total for total in self.card.totals if total.student in self.students)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassView:
    """The marks of a class in one assignment, with everything that staff may know."""

    assignment: str
    hand_ins: tuple[HandIn, ...] = ()
    """By the name they were handed in under."""
    absent: tuple[str, ...] = ()
    """Who is on the roster and has no mark."""
    gpus: Mapping[str, int] | None = None
    """How many GPUs an item is looked at with, by item id; None where the rubric is not at hand."""
    scored_at: str = ""
    """When the newest of the marks was given: ISO 8601, UTC."""
    rubrics: Mapping[str, int] | None = None
    """How many hand-ins are marked by each rubric, by its name and digest."""

    @property
    def untimed(self) -> tuple[str, ...]:
        """The students to whose submissions the late rule could not be applied, for they have no time."""
        return tuple(total.student for one in self.hand_ins for total in one.totals if total.untimed)


def seen_in(evidence: Evidence, thresholds: Mapping[str, Any]) -> dict[str, Seen]:
    """What is counted of each observation; `thresholds` are those of the rubric, by item id."""
    return {
        name: Seen(
            wall_s=observation.wall_s,
            fault=observation.fault.value if observation.fault else "",
            simulated=observation.simulated,
            speedup=_speedup(observation, thresholds.get(name)),
        )
        for name, observation in evidence.observations.items()
    }


def _speedup(observation: Observation, at_least: Any) -> Speedup | None:
    # The rubric may have changed since: what counts is its threshold, not the one at the time of measuring.
    ratio, low, high = (amount(observation, name) for name in ("ratio", "ratio_low", "ratio_high"))
    threshold = number(at_least) or amount(observation, "threshold")
    if not ratio or not threshold:  # nothing measured, or nothing that a logarithm could show
        return None
    return Speedup(
        ratio=ratio, low=min(low or ratio, ratio), high=max(high or ratio, ratio), threshold=threshold
    )
