"""Moodle as a platform that is posted to: each grade is saved, and saved again only if it is not there then.

Saving a grade saves the feedback comment with it: without one in the call, Moodle empties what people wrote.
So every call has the comment that stands there, with ours below it. A grade that is locked or overridden in
Moodle's gradebook is not saved, and Moodle does not say so: only looking tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, ClassVar

from grader.errors import NotObservedError, UsageError
from grader.lms import marker
from grader.lms.grades import rounded, spelled
from grader.lms.moodle_service import holdings
from grader.lms.moodle_service.calls import Calls, LostAnswer, Refused
from grader.lms.platform import Answer, Change, Held, Receipt, Target

INFO = "core_webservice_get_site_info"
ASSIGNMENTS = "mod_assign_get_assignments"
METHODS = "core_grading_get_definitions"
PARTICIPANTS = "mod_assign_list_participants"
GRADES = "mod_assign_get_grades"
STATUS = "mod_assign_get_submission_status"
SAVE = "mod_assign_save_grade"
FUNCTIONS = (INFO, ASSIGNMENTS, METHODS, PARTICIPANTS, GRADES, STATUS, SAVE)
"""What the token's service must allow."""
SENDS = 5
"""So often is a grade sent whose answer gets lost and that is not there when we look."""
_NOT_KEPT = "Moodle said yes and did not keep it: the grade is locked or overridden in its gradebook"
_NO_RIGHT = "1"
"""Moodle's code of a warning instead of what was asked for."""


class Moodle:
    """One assignment in Moodle, by the number in the address of its page."""

    name: ClassVar[str] = "moodle"

    def __init__(self, calls: Calls, module: int) -> None:
        self._calls = calls
        self._module = module
        self._key = f"{self.name} {calls.host} {module}"
        self._assignment: Mapping[str, Any] = {}
        self._me = ""
        self._planned: dict[str, Decimal | None] = {}
        """What everyone had when we planned: who has something else since was graded by somebody."""

    def target(self) -> Target:
        """The assignment, and what keeps grades off it."""
        assignment = self._found()
        asked = {"cmids": [self._module], "areaname": "submissions", "activeonly": 0}
        areas = self._read(METHODS, asked).get("areas", ())
        if not areas:
            raise NotObservedError(f"{self._key}: does not tell how it is graded; the account may not see it")
        return holdings.target(self._key, assignment, str(areas[0].get("activemethod") or ""))

    @property
    def takes_comments(self) -> bool:
        """Whether a comment can go with a grade."""
        return holdings.takes_comments(self._found())

    def held(self) -> tuple[Held, ...]:
        """Everyone who can be graded there; asks for each of them."""
        blind = holdings.is_blind(self._found())
        asked = {"assignid": self._found()["id"], "groupid": 0, "filter": "", "includeenrolments": False}
        users = [one for one in self._read(PARTICIPANTS, asked) if isinstance(one, Mapping)]
        rows = self._rows()
        everyone = []
        for row, user in enumerate(users):
            one = holdings.person(row, user, blind=blind)
            try:
                everyone.append(holdings.held(one, self._graded(one.id, rows), self._me))
            except Refused as error:
                settled = f"cannot be looked at there ({error.said})"
                everyone.append(Held(person=one, settled=settled))
        self._planned = {one.person.id: one.points for one in everyone}
        return tuple(everyone)

    def apply(self, changes: Iterable[Change]) -> Iterator[Receipt]:
        """Save grades one by one: of many at once Moodle does not tell which it took."""
        if not self._planned:
            self.held()
        for change in changes:
            yield self._applied(change)

    def _applied(self, change: Change) -> Receipt:
        """Look, send what is missing, look again."""
        if change.page is not None or change.rubric:
            return _refused(change, "neither pages nor points of a rubric can be sent to Moodle")
        said, kept = "", False
        for attempt in range(SENDS + 1):
            try:
                now = self._graded(change.id)
            except Refused as error:
                return _refused(change, error.said)
            if self._is_there(change, now):
                return Receipt(student=change.student, answer=Answer.THERE)
            if why := said or self._meanwhile(change, now) or (_NOT_KEPT if kept else ""):
                return _refused(change, why)
            if attempt == SENDS:
                break
            if attempt:
                self._calls.pause(attempt - 1)
            try:
                self._calls.send(SAVE, self._arguments(change, now))
                kept = True
            except LostAnswer:
                continue
            except Refused as error:
                said = error.said
        lost = "the answers got lost, and the grade is not there; run it again to look"
        return Receipt(student=change.student, answer=Answer.UNKNOWN, said=lost)

    def _is_there(self, change: Change, now: holdings.Graded) -> bool:
        """Whether all of a change stands there, as far as it can."""
        graded = change.points is None or now.points == rounded(change.points, holdings.DIGITS)
        told = not change.marker or not self.takes_comments or change.marker in marker.found(now.comment)
        return graded and told

    def _arguments(self, change: Change, now: holdings.Graded) -> Mapping[str, Any]:
        comment = holdings.commented(now.comment, change.comment) if change.comment else now.comment
        editor = {"text": comment, "format": 1 if change.comment else now.format}
        points = now.points if change.points is None else change.points
        return {
            "assignmentid": self._found()["id"],
            "userid": change.id,
            "grade": "-1" if points is None else f"{points:f}",
            "attemptnumber": -1,
            "addattempt": False,
            "workflowstate": "",
            "applytoall": False,
            "plugindata": {"assignfeedbackcomments_editor": editor},
        }

    def _meanwhile(self, change: Change, now: holdings.Graded) -> str:
        """Why it may not be sent any more: somebody graded since we planned."""
        new = None if change.points is None else rounded(change.points, holdings.DIGITS)
        if now.points in {self._planned.get(change.id), new}:
            return ""
        shown = "nothing" if now.points is None else spelled(now.points)
        return f"was graded there meanwhile: now it is {shown}"

    def _graded(self, user: str, rows: Mapping[str, Mapping[str, Any]] | None = None) -> holdings.Graded:
        """What a student has now; `rows` saves asking for everyone's grades."""
        status = self._calls.read(STATUS, {"assignid": self._found()["id"], "userid": user})
        if rows is None and not (status.get("feedback") or {}).get("grade"):
            rows = self._rows()
        return holdings.graded((rows or {}).get(user), status)

    def _rows(self) -> Mapping[str, Mapping[str, Any]]:
        """Everyone's grades by the student's id; it leaves out some who never handed in there."""
        answer = self._read(GRADES, {"assignmentids": [self._found()["id"]]})
        if any(str(one.get("warningcode")) == _NO_RIGHT for one in answer.get("warnings", ())):
            raise NotObservedError(f"{self._key}: this account may not grade there; give it a teacher's role")
        return {str(row["userid"]): row for one in answer["assignments"] for row in one["grades"]}

    def _found(self) -> Mapping[str, Any]:
        """The assignment, among those of all courses of our account."""
        if self._assignment:
            return self._assignment
        info = self._read(INFO)
        self._me = str(info["userid"])
        if missing := set(FUNCTIONS) - {one["name"] for one in info.get("functions", ())}:
            need = ", ".join(sorted(missing))
            raise NotObservedError(f"{self._calls.url}: the token's service lacks {need}; add them there")
        there = [one for course in self._read(ASSIGNMENTS)["courses"] for one in course["assignments"]]
        for one in there:
            if int(one["cmid"]) == self._module:
                self._assignment = dict(one)
                return self._assignment
        named = next((one for one in there if int(one["id"]) == self._module), None)
        advice = f"is it {named['cmid']}, {named['name']}?" if named else "enrol the account as a teacher"
        wrong = f"no course of the account has an assignment at /mod/assign/view.php?id={self._module}"
        raise UsageError(f"{self._calls.url}: {wrong}; {advice}")

    def _read(self, function: str, arguments: Mapping[str, Any] | None = None) -> Any:
        try:
            return self._calls.read(function, arguments)
        except Refused as error:
            raise NotObservedError(f"{self._key}: {function}: {error.said}") from None


def _refused(change: Change, said: str) -> Receipt:
    return Receipt(student=change.student, answer=Answer.REFUSED, said=said)
