"""The part of a score that one audience may know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from typing import Literal

from grader.model.drawing import Drawing
from grader.model.evidence import Evidence
from grader.model.rubric import Rubric
from grader.model.score import Scorecard
from grader.text import one_line

Audience = Literal["staff", "student"]
"""The readers of a view."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AudienceView:
    """A score with its evidence, reduced for one audience: all of it may be written to a report."""

    audience: Audience
    """The readers: staff may know everything."""
    rubric: Rubric
    evidence: Evidence
    scorecard: Scorecard
    whole: bool = True
    """Whether no item was left out."""
    later: int = 0
    """How many of the items that were left out are shown at a later time."""
    assignment_title: str = ""
    """The title of the assignment, for people; empty if only its name is known."""
    course_title: str = ""
    """The title of the course; empty if it is not known."""
    time_zone: tzinfo = UTC
    """The time zone of the course, that dates are shown in."""
    drawings: Mapping[str, tuple[Drawing, ...]] = field(default_factory=dict)
    """What the kinds show of the observations, by item id."""

    def __post_init__(self) -> None:
        """Make the names of files safe to show: nothing is opened by those of a view."""
        submission = self.evidence.submission
        shown = replace(
            submission,
            archive=one_line(submission.archive),
            files=tuple(map(one_line, submission.files)),
            dropped=tuple(map(one_line, submission.dropped)),
            unread=tuple(map(one_line, submission.unread)),
        )
        if shown != submission:
            object.__setattr__(self, "evidence", replace(self.evidence, submission=shown))
