"""Canvas as a platform to post to: each change is performed once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, ClassVar, Self
from urllib.parse import urlsplit

from grader.contracts.platform import (
    Answer,
    Change,
    Platform,
    PlatformGrade,
    PlatformOptions,
    PlatformStandIn,
    Receipt,
    Target,
)
from grader.errors import NotObservedError
from grader.lms.canvas import objects
from grader.lms.canvas.client import CanvasClient
from grader.lms.http import Http, LostAnswer, RequestRefused
from grader.lms.numbers import spelled
from grader.model.options import option
from grader.model.roster import Student

SENDS = 5
"""How often a change is sent whose answer gets lost and that is not there when we read."""
BULK_FROM = 3
"""At least so many grades without comments go together."""
BULK = 500
"""At most so many go together."""
_NOT_ALLOWED = 5
"""After so many refusals, and nothing that was taken, the account may not grade at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CanvasOptions(PlatformOptions):
    """The course and its assignments on Canvas, for posting."""

    course: int = option("The course's number there, as in the address of its pages.", above=0)
    rubrics: Mapping[str, Mapping[str, str]] = option(
        "By assignment, then by item: the id of a criterion of Canvas' own rubric that gets its points.",
        default_factory=dict,
    )


class CanvasPlatform(Platform):
    """One assignment on Canvas.

    Grades alone are sent many at a time, for sending them twice does no harm. Comments would show twice: each
    goes with its grade in a request of its own, before which we read whether its marker is there.
    """

    name: ClassVar[str] = "canvas"
    title: ClassVar[str] = "Canvas"
    Options: ClassVar[type[PlatformOptions]] = CanvasOptions
    attaches_pages: ClassVar[bool] = True
    criteria_key: ClassVar[str] = "rubrics"

    @classmethod
    def connect(cls, options: CanvasOptions, assignment: str, token: str) -> Self:
        """Return an assignment of the course."""
        platform = cls(Http(options.url, token), options.course, options.assignments[assignment])
        platform.criteria = options.rubrics.get(assignment, {})
        return platform

    @classmethod
    def stand_in(
        cls, assignment: str, students: Sequence[Student], possible: float
    ) -> AbstractContextManager[PlatformStandIn]:
        """Play the platform on this machine."""
        from grader.lms.loopback import rehearsal

        return rehearsal.canvas(cls.Options, assignment, students, possible)

    def __init__(self, http: Http, course: int, assignment: int) -> None:
        self.criteria: Mapping[str, str] = {}
        self._client = CanvasClient(http, course, assignment)
        self._http = http
        self._key = f"{self.name} {urlsplit(http.url).netloc} {course} {assignment}"
        self._me = ""
        self._planned: dict[str, Decimal | None] = {}
        """Everyone's points when we planned: who has others since was graded by somebody."""
        self._files: dict[str, str] = {}
        """Ids of uploaded pages, by the marker of their comment."""
        self._sent_markers: set[str] = set()
        """In a comment of whatever account they are not sent again."""
        self._taken = self._not_allowed = 0

    def target(self) -> Target:
        """Describe the assignment, and what prevents grading it."""
        try:
            return objects.target(self._key, self._client.assignment())
        except RequestRefused as error:
            raise self._as_a_whole(error) from None

    def grades(self) -> tuple[PlatformGrade, ...]:
        """Return everyone who is enrolled as a student."""
        try:
            self._me = self._me or self._client.me()
            submissions = self._submissions()
            everyone = tuple(
                objects.grade(objects.person(row, user), submissions.get(str(user["id"])), self._me)
                for row, user in enumerate(self._client.students())
            )
        except RequestRefused as error:
            raise self._as_a_whole(error) from None
        self._planned = {grade.person.id: grade.points for grade in everyone}
        return everyone

    def apply(self, changes: Iterable[Change]) -> Iterator[Receipt]:
        """Send changes: grades without comments together, everything else one by one."""
        if not self._me:
            self.grades()
        alone: list[Change] = []
        together: list[Change] = []
        for change in changes:
            (alone if change.comment else together).append(change)
        if len(together) < BULK_FROM:
            alone, together = together + alone, []
        for start in range(0, len(together), BULK):
            yield from self._many(together[start : start + BULK], read_first=start > 0)
        for change in alone:
            yield self._single(change)

    def _many(self, changes: Sequence[Change], *, read_first: bool) -> Iterator[Receipt]:
        """Send together what is missing; the rest is sent one by one, which gives the reason of each."""
        missing = list(changes)
        for attempt in range(SENDS):
            if read_first:
                yield from self._settled_now(missing)
            read_first = True
            if not missing:
                return
            try:
                ended = self._client.ended(self._client.grade_many(missing))
            except LostAnswer:
                self._http.pause(attempt)
                continue
            except RequestRefused:
                break
            if not ended:
                yield from (Receipt.unknown(change, "Canvas is still at work") for change in missing)
                return
            yield from self._settled_now(missing)
            break
        for change in missing:
            yield self._single(change)

    def _settled_now(self, missing: list[Change]) -> list[Receipt]:
        """Return receipts for what is there by now or may not be sent any more; remove it from `missing`."""
        try:
            now = self._submissions()
        except RequestRefused as error:
            raise self._as_a_whole(error) from None
        settled = {
            change.student: receipt
            for change in missing
            if change.id in now and (receipt := self._settled(change, now[change.id])) is not None
        }
        missing[:] = [change for change in missing if change.student not in settled]
        return list(settled.values())

    def _single(self, change: Change) -> Receipt:
        """Read, send what is missing, and again while answers get lost."""
        for attempt in range(SENDS):
            if attempt:
                self._http.pause(attempt)
            try:
                if (receipt := self._sent(change)) is not None:
                    return receipt
                cause = "the answer does not show it"
            except LostAnswer as error:
                cause = str(error)
                if error.unfinished and change.comment:  # sent again, both could come
                    break
            except RequestRefused as error:
                self._not_allowed += error.not_allowed
                if self._not_allowed >= _NOT_ALLOWED and not self._taken:
                    raise self._as_a_whole(error) from None
                return Receipt.refused(change, error.message)
            except OSError as error:
                return Receipt.refused(change, f"{change.page}: cannot be read ({error.strerror})")
        return self._settled(change, self._client.submission(change.id)) or Receipt.unknown(change, cause)

    def _sent(self, change: Change) -> Receipt | None:
        """Send what is missing; return None if it may not be there now."""
        now = self._client.submission(change.id)
        if (receipt := self._settled(change, now)) is not None:
            return receipt
        rest = self._rest(change, now)
        if rest.page is not None and change.marker not in self._files:
            self._files[change.marker] = self._client.upload(change.id, rest.page)
        self._sent_markers.add(rest.marker)
        after = self._client.grade(rest, self._files.get(change.marker, "") if rest.page else "")
        points = objects.points(after)
        if rest.points is not None and points is not None and points != rest.points:
            return Receipt.refused(change, f"Canvas made {spelled(points)} of it")
        if rest.rubric:  # the answer does not hold it
            after = self._client.submission(change.id)
        return self._settled(change, after)

    def _settled(self, change: Change, now: Mapping[str, Any]) -> Receipt | None:
        """Return a receipt if all of it is there or may not be sent any more; None to send it."""
        rest = self._rest(change, now)
        if rest.points is None and not rest.comment and not rest.rubric:
            self._taken += 1
            return Receipt(student=change.student, answer=Answer.THERE)
        if now.get("excused"):
            return Receipt.refused(change, "was excused there meanwhile")
        points = objects.points(now)
        if points not in {self._planned.get(change.id), change.points}:
            return Receipt.graded_meanwhile(change, points)
        return None

    def _rest(self, change: Change, now: Mapping[str, Any]) -> Change:
        """Return the part of a change that is not there yet."""
        rest = change
        if change.points == objects.points(now):
            rest = replace(rest, points=None)
        by = None if change.marker in self._sent_markers else self._me
        if change.marker in objects.markers(now, by):
            rest = replace(rest, comment="", marker="", page=None)
        entered = objects.rubric(now)
        if all(entered.get(name) == points for name, points in change.rubric.items()):
            rest = replace(rest, rubric={})
        return rest

    def _submissions(self) -> Mapping[str, Mapping[str, Any]]:
        return {str(row["user_id"]): row for row in self._client.submissions()}

    def _as_a_whole(self, error: RequestRefused) -> NotObservedError:
        """Return the error for a refusal that does not concern one student."""
        what = "this account may not do that" if error.not_allowed else "is not to be had"
        advice = "look at the ids in course.yaml and at the account's role in the course"
        return NotObservedError(f"{self._key}: {what} ({error.message}); {advice}")
