"""Moodle as a platform to post to: each grade is saved, and saved again only if it is not there then.

Saving a grade saves the feedback comment with it: without one in the call, Moodle empties what people wrote.
So every call has the present comment, with ours below it. A grade that is locked or overridden in Moodle's
gradebook is not saved, and the answer does not say so: it has to be read back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
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
from grader.errors import NotObservedError, UsageError
from grader.lms import marker
from grader.lms.http import LostAnswer, RequestRefused
from grader.lms.moodle_service import objects
from grader.lms.moodle_service.calls import WebService
from grader.model.magnitude import rounded
from grader.model.options import option
from grader.model.roster import Student

INFO = "core_webservice_get_site_info"
ASSIGNMENTS = "mod_assign_get_assignments"
METHODS = "core_grading_get_definitions"
PARTICIPANTS = "mod_assign_list_participants"
GRADES = "mod_assign_get_grades"
STATUS = "mod_assign_get_submission_status"
SAVE = "mod_assign_save_grade"
FUNCTIONS = (INFO, ASSIGNMENTS, METHODS, PARTICIPANTS, GRADES, STATUS, SAVE)
"""Functions that the token's service must allow."""
SENDS = 5
"""How often a grade is sent whose answer gets lost and that is not there when we read."""
_NOT_SAVED = "Moodle accepted it and did not save it: the grade is locked or overridden in its gradebook"
_NO_RIGHT = "1"
"""Moodle's code of a warning that comes instead of the grades."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MoodleOptions(PlatformOptions):
    """The assignments in Moodle, for posting."""

    assignments: Mapping[str, int] = option(
        "By assignment: the number in the address of its page, …/mod/assign/view.php?id=4242."
    )


class MoodlePlatform(Platform):
    """One assignment in Moodle, by the number in the address of its page."""

    name: ClassVar[str] = "moodle"
    title: ClassVar[str] = "Moodle"
    Options: ClassVar[type[PlatformOptions]] = MoodleOptions
    attaches_pages: ClassVar[bool] = False
    criteria: Mapping[str, str] = MappingProxyType({})

    @classmethod
    def connect(cls, options: MoodleOptions, assignment: str, token: str) -> Self:
        """Return an assignment of the course."""
        return cls(WebService(options.url, token), options.assignments[assignment])

    @classmethod
    def stand_in(
        cls, assignment: str, students: Sequence[Student], possible: float
    ) -> AbstractContextManager[PlatformStandIn]:
        """Play the platform on this machine."""
        from grader.lms.loopback import rehearsal

        return rehearsal.moodle(cls.Options, assignment, students, possible)

    def __init__(self, calls: WebService, module: int) -> None:
        self._calls = calls
        self._module = module
        self._key = f"{self.name} {urlsplit(calls.url).netloc} {module}"
        self._assignment: Mapping[str, Any] = {}
        self._me = ""
        self._planned: dict[str, Decimal | None] = {}
        """Everyone's points when we planned: who has others since was graded by somebody."""

    def target(self) -> Target:
        """Describe the assignment, and what prevents grading it."""
        assignment = self._details()
        arguments = {"cmids": [self._module], "areaname": "submissions", "activeonly": 0}
        areas = self._read(METHODS, arguments).get("areas", ())
        if not areas:
            raise NotObservedError(f"{self._key}: does not say how it is graded; the account may not see it")
        return objects.target(self._key, assignment, str(areas[0].get("activemethod") or ""))

    def grades(self) -> tuple[PlatformGrade, ...]:
        """Return everyone who can be graded there; sends a request for each of them."""
        blind = objects.is_blind(self._details())
        arguments = {
            "assignid": self._details()["id"],
            "groupid": 0,
            "filter": "",
            "includeenrolments": False,
        }
        users = [user for user in self._read(PARTICIPANTS, arguments) if isinstance(user, Mapping)]
        rows = self._rows()
        everyone = []
        for row, user in enumerate(users):
            person = objects.person(row, user, blind=blind)
            try:
                everyone.append(objects.grade(person, self._graded(person.id, rows), self._me))
            except RequestRefused as error:
                settled = f"cannot be read there ({error.message})"
                everyone.append(PlatformGrade(person=person, settled=settled))
        self._planned = {grade.person.id: grade.points for grade in everyone}
        return tuple(everyone)

    def apply(self, changes: Iterable[Change]) -> Iterator[Receipt]:
        """Save grades one by one: of many at once Moodle does not say which it took."""
        if not self._planned:
            self.grades()
        for change in changes:
            yield self._applied(change)

    def _applied(self, change: Change) -> Receipt:
        """Read, send what is missing, read again."""
        if change.page is not None or change.rubric:
            return Receipt.refused(change, "neither pages nor points of a rubric can be sent to Moodle")
        message, accepted = "", False
        for attempt in range(SENDS + 1):
            try:
                now = self._graded(change.id)
            except RequestRefused as error:
                return Receipt.refused(change, error.message)
            if self._is_there(change, now):
                return Receipt(student=change.student, answer=Answer.THERE)
            if not message and self._meanwhile(change, now):
                return Receipt.graded_meanwhile(change, now.points)
            if message or accepted:
                return Receipt.refused(change, message or _NOT_SAVED)
            if attempt == SENDS:
                break
            if attempt:
                self._calls.pause(attempt - 1)
            try:
                self._calls.send(SAVE, self._arguments(change, now))
                accepted = True
            except LostAnswer:
                continue
            except RequestRefused as error:
                message = error.message
        return Receipt.unknown(change, "the answers got lost, and the grade is not there")

    def _is_there(self, change: Change, now: objects.MoodleGrade) -> bool:
        """Tell whether all of a change is there, as far as Moodle takes it."""
        graded = change.points is None or now.points == rounded(change.points, objects.DIGITS)
        markers = marker.markers_in(now.comment)
        return graded and (
            not change.marker or not objects.takes_comments(self._details()) or change.marker in markers
        )

    def _arguments(self, change: Change, now: objects.MoodleGrade) -> Mapping[str, Any]:
        comment = objects.commented(now.comment, change.comment) if change.comment else now.comment
        editor = {"text": comment, "format": 1 if change.comment else now.format}
        points = now.points if change.points is None else change.points
        return {
            "assignmentid": self._details()["id"],
            "userid": change.id,
            "grade": "-1" if points is None else f"{points:f}",
            "attemptnumber": -1,
            "addattempt": False,
            "workflowstate": "",
            "applytoall": False,
            "plugindata": {"assignfeedbackcomments_editor": editor},
        }

    def _meanwhile(self, change: Change, now: objects.MoodleGrade) -> bool:
        """Tell whether somebody graded since we planned."""
        new = None if change.points is None else rounded(change.points, objects.DIGITS)
        return now.points not in {self._planned.get(change.id), new}

    def _graded(self, user: str, rows: Mapping[str, Mapping[str, Any]] | None = None) -> objects.MoodleGrade:
        """Read a student's grade; `rows` saves a request for everyone's."""
        status = self._calls.read(STATUS, {"assignid": self._details()["id"], "userid": user})
        if rows is None and not (status.get("feedback") or {}).get("grade"):
            rows = self._rows()
        return objects.graded((rows or {}).get(user), status)

    def _rows(self) -> Mapping[str, Mapping[str, Any]]:
        """Read everyone's grades by the student's id; some without a submission are missing."""
        answer = self._read(GRADES, {"assignmentids": [self._details()["id"]]})
        if any(str(row.get("warningcode")) == _NO_RIGHT for row in answer.get("warnings", ())):
            raise NotObservedError(f"{self._key}: this account may not grade there; give it a teacher's role")
        return {str(row["userid"]): row for entry in answer["assignments"] for row in entry["grades"]}

    def _details(self) -> Mapping[str, Any]:
        """Find the assignment among those of all courses of the token's account."""
        if self._assignment:
            return self._assignment
        info = self._read(INFO)
        self._me = str(info["userid"])
        if missing := set(FUNCTIONS) - {row["name"] for row in info.get("functions", ())}:
            need = ", ".join(sorted(missing))
            raise NotObservedError(f"{self._calls.url}: the token's service lacks {need}; add them there")
        rows = [row for course in self._read(ASSIGNMENTS)["courses"] for row in course["assignments"]]
        for row in rows:
            if int(row["cmid"]) == self._module:
                self._assignment = dict(row)
                return self._assignment
        inner = next((row for row in rows if int(row["id"]) == self._module), None)
        advice = f"is it {inner['cmid']}, {inner['name']}?" if inner else "enrol the account as a teacher"
        wrong = f"no course of the account has an assignment at /mod/assign/view.php?id={self._module}"
        raise UsageError(f"{self._calls.url}: {wrong}; {advice}")

    def _read(self, function: str, arguments: Mapping[str, Any] | None = None) -> Any:
        try:
            return self._calls.read(function, arguments)
        except RequestRefused as error:
            raise NotObservedError(f"{self._key}: {function}: {error.message}") from None
