"""Input of class reports: scorecards, and the part of the evidence that they use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.reports.bars import MeasuredSpeedup
from grader.reports.numbers import amount, number

if TYPE_CHECKING:
    from grader.model.evidence import Evidence
    from grader.model.observation import Observation
    from grader.model.score import Scorecard, Total


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemEvidence:
    """Values of one item's observation that class reports use."""

    wall_s: float
    """Seconds that observing took."""
    fault: str = ""
    """The fault if nothing could be observed: `course`, `machine` or `grader`."""
    simulated: bool = False
    """Whether it was observed in a simulator and not on the device itself."""
    speedup: MeasuredSpeedup | None = None
    """The measured speedup with the rubric's present threshold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedSubmission:
    """One current scorecard, with the students it counts for."""

    students: tuple[str, ...]
    """Students whose current score it is: a student who left the team has another one."""
    card: Scorecard
    evidence: Mapping[str, ItemEvidence]
    """By item id."""

    @property
    def totals(self) -> Iterator[Total]:
        """The totals of `students`."""
        return (total for total in self.card.totals if total.student in self.students)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassView:
    """The scorecards of a class in one assignment, for staff."""

    assignment: str
    submissions: tuple[GradedSubmission, ...] = ()
    """Sorted by student or team."""
    absent: tuple[str, ...] = ()
    """Students on the roster without a score."""
    gpus: Mapping[str, int] | None = None
    """GPUs that an item needs, by item id; None if the rubric is not available."""
    scored_at: str = ""
    """The time of the newest score: ISO 8601, UTC."""
    rubrics: Mapping[str, int] | None = None
    """The number of submissions scored by each rubric, by its name and digest."""

    @property
    def untimed(self) -> tuple[str, ...]:
        """The students to whose submissions the late rule could not be applied, for they have no time."""
        return tuple(
            total.student for submission in self.submissions for total in submission.totals if total.untimed
        )


def item_evidence(evidence: Evidence, thresholds: Mapping[str, Any]) -> dict[str, ItemEvidence]:
    """Extract the values that class reports use; `thresholds` are those of the rubric, by item id."""
    return {
        name: ItemEvidence(
            wall_s=observation.wall_s,
            fault=observation.fault.value if observation.fault else "",
            simulated=observation.simulated,
            speedup=_speedup(observation, thresholds.get(name)),
        )
        for name, observation in evidence.observations.items()
    }


def _speedup(observation: Observation, at_least: Any) -> MeasuredSpeedup | None:
    # The rubric may have changed since: what counts is its threshold, not the one at the time of measuring.
    ratio, low, high = (amount(observation, name) for name in ("ratio", "ratio_low", "ratio_high"))
    threshold = number(at_least) or amount(observation, "threshold")
    if not ratio or not threshold:  # nothing measured, or nothing that a logarithm could show
        return None
    return MeasuredSpeedup(
        ratio=ratio, low=min(low or ratio, ratio), high=max(high or ratio, ratio), threshold=threshold
    )
