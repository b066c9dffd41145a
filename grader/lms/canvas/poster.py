"""Canvas as a platform that is posted to: changes get there once each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, ClassVar
from urllib.parse import urlsplit

from grader.errors import NotObservedError
from grader.lms.canvas import holdings
from grader.lms.canvas.answer import LostAnswer, Refused
from grader.lms.canvas.client import Client
from grader.lms.canvas.http import Http
from grader.lms.grades import spelled
from grader.lms.platform import Answer, Change, Held, Receipt, Target

SENDS = 5
"""So often is a change sent whose answer gets lost and that is not there when we look."""
BULK_FROM = 3
"""So many grades without comments go together."""
BULK = 500
"""So many at once, at most."""
_NOT_ALLOWED = 5
"""After so many refusals, and nothing that was taken, the account may not grade at all."""


class Canvas:
    """One assignment on Canvas.

    Grades alone are sent many at a time, for they may be said twice without harm. Comments would show twice:
    each goes with its grade in a request of its own, before which we look whether its marker is there.
    """

    name: ClassVar[str] = "canvas"

    def __init__(self, http: Http, course: int, assignment: int) -> None:
        self._client = Client(http, course, assignment)
        self._http = http
        self._key = f"{self.name} {urlsplit(http.url).netloc} {course} {assignment}"
        self._me = ""
        self._planned: dict[str, Decimal | None] = {}
        """What everyone had when we planned: who has something else since was graded by somebody."""
        self._files: dict[str, str] = {}
        """Pages that were uploaded, by the marker of their comment."""
        self._said: set[str] = set()
        """Markers that were sent: found under whatever name, they are not sent again."""
        self._taken = self._not_allowed = 0

    def target(self) -> Target:
        """The assignment, and what keeps grades off it."""
        try:
            return holdings.target(self._key, self._client.assignment())
        except Refused as error:
            raise self._as_a_whole(error) from None

    def held(self) -> tuple[Held, ...]:
        """Everyone who is enrolled as a student, with what Canvas has of them."""
        try:
            self._me = self._me or self._client.me()
            submissions = self._submissions()
            everyone = tuple(
                holdings.held(holdings.person(row, user), submissions.get(str(user["id"])), self._me)
                for row, user in enumerate(self._client.students())
            )
        except Refused as error:
            raise self._as_a_whole(error) from None
        self._planned = {one.person.id: one.points for one in everyone}
        return everyone

    def apply(self, changes: Iterable[Change]) -> Iterator[Receipt]:
        """Send changes: grades alone together, everything else one by one."""
        if not self._me:
            self.held()
        alone: list[Change] = []
        together: list[Change] = []
        for change in changes:
            (alone if change.comment else together).append(change)
        if len(together) < BULK_FROM:
            alone, together = together + alone, []
        for start in range(0, len(together), BULK):
            yield from self._many(together[start : start + BULK], look=start > 0)
        for change in alone:
            yield self._single(change)

    def _many(self, changes: Sequence[Change], *, look: bool) -> Iterator[Receipt]:
        """Send together what is missing; what does not get there so is sent one by one, for its reason."""
        missing = list(changes)
        for attempt in range(SENDS):
            if look:
                yield from self._looked(missing)
            look = True
            if not missing:
                return
            try:
                ended = self._client.ended(self._client.grade_many(missing))
            except LostAnswer:
                self._http.pause(attempt)
                continue
            except Refused:
                break
            if not ended:
                yield from (_unknown(one, "Canvas is still at work") for one in missing)
                return
            yield from self._looked(missing)
            break
        for change in missing:
            yield self._single(change)

    def _looked(self, missing: list[Change]) -> list[Receipt]:
        """Receipts for what is there by now, or may not be sent any more; takes them out of `missing`."""
        try:
            now = self._submissions()
        except Refused as error:
            raise self._as_a_whole(error) from None
        receipts = [self._settled(one, now[one.id]) for one in missing if one.id in now]
        found = [one for one in receipts if one is not None]
        settled = {one.student for one in found}
        missing[:] = [one for one in missing if one.student not in settled]
        return found

    def _single(self, change: Change) -> Receipt:
        """Look, send what is missing, and again while answers get lost."""
        for attempt in range(SENDS):
            if attempt:
                self._http.pause(attempt)
            try:
                if (receipt := self._sent(change)) is not None:
                    return receipt
                lost = "the answer does not show it"
            except LostAnswer as error:
                lost = str(error)
                if error.unfinished and change.comment:  # sent again, both could come
                    break
            except Refused as error:
                self._not_allowed += error.not_allowed
                if self._not_allowed >= _NOT_ALLOWED and not self._taken:
                    raise self._as_a_whole(error) from None
                return _refused(change, error.said)
            except OSError as error:
                return _refused(change, f"{change.page}: cannot be read ({error.strerror})")
        return self._settled(change, self._client.submission(change.id)) or _unknown(change, lost)

    def _sent(self, change: Change) -> Receipt | None:
        """Send what is not there; None if it is not sure to be there now."""
        now = self._client.submission(change.id)
        if (receipt := self._settled(change, now)) is not None:
            return receipt
        rest = self._rest(change, now)
        if rest.page is not None and change.marker not in self._files:
            self._files[change.marker] = self._client.upload(change.id, rest.page)
        self._said.add(rest.marker)
        after = self._client.grade(rest, self._files.get(change.marker, "") if rest.page else "")
        points = holdings.points(after)
        if rest.points is not None and points is not None and points != rest.points:
            return _refused(change, f"Canvas made {spelled(points)} of it")
        if rest.rubric:  # the answer does not hold it
            after = self._client.submission(change.id)
        return self._settled(change, after)

    def _settled(self, change: Change, now: Mapping[str, Any]) -> Receipt | None:
        """A receipt if all of it is there, or may not be sent any more; None if something is to be sent."""
        rest = self._rest(change, now)
        if rest.points is None and not rest.comment and not rest.rubric:
            self._taken += 1
            return Receipt(student=change.student, answer=Answer.THERE)
        if now.get("excused"):
            return _refused(change, "was excused there meanwhile")
        points = holdings.points(now)
        if points not in {self._planned.get(change.id), change.points}:
            shown = "nothing" if points is None else spelled(points)
            return _refused(change, f"was graded there meanwhile: now it is {shown}")
        return None

    def _rest(self, change: Change, now: Mapping[str, Any]) -> Change:
        """What of a change is not there yet."""
        rest = change
        if change.points == holdings.points(now):
            rest = replace(rest, points=None)
        by = None if change.marker in self._said else self._me
        if change.marker in holdings.markers(now, by):
            rest = replace(rest, comment="", marker="", page=None)
        there = holdings.rubric(now)
        if all(there.get(name) == of for name, of in change.rubric.items()):
            rest = replace(rest, rubric={})
        return rest

    def _submissions(self) -> Mapping[str, Mapping[str, Any]]:
        return {str(one["user_id"]): one for one in self._client.submissions()}

    def _as_a_whole(self, error: Refused) -> NotObservedError:
        """A refusal that is not of one student."""
        what = "this account may not do that" if error.not_allowed else "is not to be had"
        advice = "look at the ids in course.yaml and at the account's role in the course"
        return NotObservedError(f"{self._key}: {what} ({error.said}); {advice}")


def _refused(change: Change, said: str) -> Receipt:
    return Receipt(student=change.student, answer=Answer.REFUSED, said=said)


def _unknown(change: Change, said: str) -> Receipt:
    return Receipt(student=change.student, answer=Answer.UNKNOWN, said=f"{said}; run it again to look")
