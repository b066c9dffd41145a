"""Lines at the end of a run on times of submission: unknown, changed, or still to come."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo
from typing import TYPE_CHECKING

from grader.model.magnitude import counted
from grader.reports.words import local_time
from grader.text import one_line

if TYPE_CHECKING:
    from grader.grading.score import Graded

NAMED = 5
"""More submissions whose time changed are counted, not named."""


class SubmissionTimes:
    """Collects whose times are unknown, other than before or in the future, and yields a line on each."""

    def __init__(self, zone: tzinfo) -> None:
        """Take the time zone of the course."""
        self._zone = zone
        self._changed: dict[str, str] = {}
        """By student, the times of the same files as known before and as given now, where they differ."""
        self._in_future: set[str] = set()
        """Students whose times of submission have not come yet."""
        self._held_by_time = False
        """Whether one of these times would cost points."""
        self._unknown: dict[str, set[str]] = {}
        """By rubric, the students whose submissions have no time, where that is needed for the late rule."""

    def add(self, result: Graded, *, is_tried: bool) -> None:
        """Note the times of a graded submission; of one that is only tried, not that it has none."""
        now, before = result.submission.submitted_at, result.time_before
        if now and before and now != before:
            times = " -> ".join(local_time(time, self._zone) for time in (before, now))
            self._changed[result.submission.student] = times
        if result.submission.in_future:
            self._in_future.add(result.submission.student)
            lates = (total.late for total in result.scorecard.totals)
            self._held_by_time |= any(late is not None and late.in_future for late in lates)
        untimed = {total.student for total in result.scorecard.totals if total.untimed}
        if untimed and not is_tried:
            self._unknown.setdefault(result.rubric.name, set()).update(untimed)

    def unknown(self) -> Iterator[str]:
        """Yield a line for each rubric whose late rule needs times that nobody gave."""
        for rubric, students in self._unknown.items():
            names = ", ".join(one_line(student) for student in sorted(students))
            yield (
                f"{rubric}: has a late rule, which takes nothing off where no time of submission is "
                f"known, as for {counted(len(students), 'student')}; name a list by --times that has "
                f"them: {names}"
            )

    def changed(self) -> Iterator[str]:
        """Yield a line if submissions have another time than was known of the same files."""
        if self._changed:
            named = [f"{one_line(name)} {times}" for name, times in sorted(self._changed.items())[:NAMED]]
            yield (
                f"{counted(len(self._changed), 'submission')} got another time than was known before; are "
                f"the times meant for all? {', '.join(named)}{', …' if len(self._changed) > NAMED else ''}"
            )

    def in_future(self) -> Iterator[str]:
        """Yield a line if times lie in the future."""
        if self._in_future:
            names = ", ".join(one_line(student) for student in sorted(self._in_future))
            stays_open = (
                " What lateness costs stays open until the time is corrected." if self._held_by_time else ""
            )
            yield (
                f"{counted(len(self._in_future), 'submission')} came in later than now, by the times "
                f"that were given; are date and time zone right? {names}.{stays_open}"
            )
