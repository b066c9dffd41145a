"""Input of class reports: scorecards, and the part of the evidence that they use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING

from grader.model.drawing import Gauge
from grader.reports import layout

if TYPE_CHECKING:
    from grader.model.drawing import Drawing
    from grader.model.evidence import Evidence
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
    by_person: bool = False
    """Whether somebody gave points for it: what a flag asked a person to look at is decided."""
    gauge: Gauge | None = None
    """A measured value against the rubric's present threshold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedSubmission:
    """One current scorecard, with the students it counts for."""

    students: tuple[str, ...]
    """Students whose current score it is: a student who left the team has another one."""
    card: Scorecard
    evidence: Mapping[str, ItemEvidence]
    """By item id."""
    upload: str = ""
    """Which of several uploads counts, and why; empty if there was one."""

    @property
    def totals(self) -> Iterator[Total]:
        """The totals of `students`."""
        return (total for total in self.card.totals if total.student in self.students)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassView:
    """The scorecards of a class in one assignment, for staff."""

    assignment: str
    assignment_title: str = ""
    """The title of the assignment, for people; empty if only its name is known."""
    course_title: str = ""
    """The title of the course; empty if it is not known."""
    time_zone: tzinfo = UTC
    """The time zone of the course, that dates are shown in."""
    submissions: tuple[GradedSubmission, ...] = ()
    """Sorted by student or team."""
    absent: tuple[str, ...] = ()
    """Students on the roster without a score."""
    strangers: tuple[str, ...] = ()
    """Students with a score who are not on the roster; nobody if there is none."""
    same_files: tuple[tuple[str, ...], ...] = ()
    """Groups of students or teams with the same accepted files, which are not the course's own."""
    gpus: Mapping[str, int] | None = None
    """GPUs that an item needs, by item id; None if the rubric is not available."""
    scored_at: str = ""
    """The time of the newest score: ISO 8601, UTC."""
    rubrics: Mapping[str, int] | None = None
    """The number of submissions scored by each rubric, by its name and digest."""

    @property
    def uploads(self) -> tuple[str, ...]:
        """For each submission that is one of several uploads, whose it is, which one counts, and why."""
        return tuple(f"{each.card.student}: {each.upload}" for each in self.submissions if each.upload)

    @property
    def untimed(self) -> tuple[str, ...]:
        """The students to whose submissions the late rule could not be applied, for they have no time."""
        return tuple(
            total.student for submission in self.submissions for total in submission.totals if total.untimed
        )

    @property
    def in_future(self) -> tuple[str, ...]:
        """The students whose late submissions have a time that was more than an hour ahead."""
        totals = (total for submission in self.submissions for total in submission.totals)
        return tuple(total.student for total in totals if total.late and total.late.in_future)


def item_evidence(evidence: Evidence, drawings: Mapping[str, Sequence[Drawing]]) -> dict[str, ItemEvidence]:
    """Extract the values that class reports use; `drawings` are what the kinds show, by item id."""
    return {
        name: ItemEvidence(
            wall_s=observation.wall_s,
            fault=observation.fault.value if observation.fault else "",
            simulated=observation.simulated,
            by_person="points_given" in observation.quantities,
            gauge=_gauge(drawings.get(name, ())),
        )
        for name, observation in evidence.observations.items()
    }


def _gauge(drawings: Iterable[Drawing]) -> Gauge | None:
    """Return the first gauge that a logarithmic scale can show."""
    gauges = (drawing for drawing in drawings if isinstance(drawing, Gauge))
    return next((gauge for gauge in gauges if layout.gauge(gauge) and gauge.value and gauge.needed), None)
