"""A Moodle on this machine's loopback: some functions of its web service, held strictly to what they take.

It is made after the sources of mod_assign, core_grading and the REST server, and it is not Moodle. Whatever a
client sends that those do not know is refused, as Moodle does, and noted in `violations`. Two habits of
Moodle's are kept on purpose: saving a grade without a comment empties the comment that stands there, and a
grade that is locked in the gradebook is silently not saved.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qsl

from grader.lms.loopback.server import LoopbackServer, Trouble

TOKEN = "0123456789abcdef0123456789abcdef"  # noqa: S105 - of nobody
ME, TEACHER = 900, 77
MODULE, INSTANCE = 4242, 17
PATH = "/webservice/rest/server.php?moodlewsrestformat=json"
_COMMON = {
    "wstoken": r".*",
    "wsfunction": r"\w+",
    "moodlewssettingraw": "[01]",
    "moodlewssettingfileurl": "[01]",
}
_EDITOR = r"plugindata\[assignfeedbackcomments_editor\]"
FUNCTIONS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "core_webservice_get_site_info": ({}, {}),
    "mod_assign_get_assignments": ({}, {r"courseids\[\d+\]": r"\d+"}),
    "core_grading_get_definitions": (
        {r"cmids\[0\]": r"\d+", "areaname": "submissions"},
        {"activeonly": "[01]"},
    ),
    "mod_assign_list_participants": (
        {"assignid": r"\d+", "groupid": r"\d+", "filter": ".*"},
        {"skip": r"\d+", "limit": r"\d+", "onlyids": "[01]", "includeenrolments": "[01]"},
    ),
    "mod_assign_get_grades": ({r"assignmentids\[0\]": r"\d+"}, {"since": r"\d+"}),
    "mod_assign_get_submission_status": ({"assignid": r"\d+"}, {"userid": r"\d+"}),
    "mod_assign_save_grade": (
        {
            "assignmentid": r"\d+",
            "userid": r"\d+",
            "grade": r"-?\d+(\.\d+)?",
            "attemptnumber": r"-1|\d+",
            "addattempt": "[01]",
            "workflowstate": "[a-zA-Z]*",
            "applytoall": "[01]",
        },
        {rf"{_EDITOR}\[text\]": r"(?s).*", rf"{_EDITOR}\[format\]": "[0-4]"},
    ),
}
"""By name: the parameters that are required and those that are not, each with its form."""


def exception(code: str, message: str, kind: str = "moodle_exception") -> Trouble:
    """Return a refusal as Moodle sends it: with 200."""
    return Trouble(200, {"exception": kind, "errorcode": code, "message": message})


class LoopbackMoodle(LoopbackServer):
    """One course with one assignment; use it as a context."""

    def __init__(self, students: int = 3) -> None:
        super().__init__()
        self.assignment: dict[str, Any] = {
            "id": INSTANCE,
            "cmid": MODULE,
            "course": 5,
            "name": "HW1",
            "grade": 10,
            "teamsubmission": 0,
            "blindmarking": 0,
            "revealidentities": 0,
            "markingworkflow": 0,
        }
        self.comments_enabled = "1"
        self.method: str | None = None
        self.allowed = set(FUNCTIONS)
        self.may_grade = True
        self.users: dict[int, dict[str, Any]] = {}
        self.grades: dict[int, dict[str, Any]] = {}
        self.comments: dict[int, str] = {}
        self.locked: set[int] = set()
        self.refused: set[int] = set()
        self.never_there: set[int] = set()
        self.calls: list[str] = []
        self.saved: list[tuple[int, float]] = []
        for number in range(1, students + 1):
            self.enroll(100 + number, f"s{number:03}")

    def enroll(self, number: int, login: str) -> None:
        """Enrol a student."""
        self.users[number] = {
            "id": number,
            "username": login,
            "idnumber": f"S{number}",
            "email": f"{login}@uni.edu",
            "fullname": f"Student {login}",
            "submitted": True,
            "requiregrading": True,
        }

    @property
    def is_blind(self) -> bool:
        """Tell whether names are hidden."""
        return bool(self.assignment["blindmarking"] and not self.assignment["revealidentities"])

    def grade(self, number: int, points: Any, grader: Any = TEACHER) -> None:
        """Enter a grade as a person does on the grading page."""
        self.grades[number] = {"grade": points, "grader": grader}

    def scores(self) -> dict[int, float | None]:
        """Return the grades by student."""
        return {number: float(grade["grade"]) for number, grade in self.grades.items()}

    def count(self, function: str) -> int:
        """Count the calls of a function."""
        return sum(name == function for name in self.calls)

    def perform(self, request: Any, *, between: bool) -> Any:
        """Answer a request."""
        if request.command != "POST" or request.path != PATH:
            raise self.violation(f"{request.command} {request.path}")
        if TOKEN in str(request.headers):
            raise self.violation("the token is in a header")
        if request.headers.get("Content-Type") != "application/x-www-form-urlencoded":
            raise self.violation(f"content type {request.headers.get('Content-Type')}")
        pairs = parse_qsl(request.body.decode(), keep_blank_values=True, strict_parsing=True)
        form = dict(pairs)
        if len(form) < len(pairs):
            raise self.violation("a parameter is given twice")
        function = form.get("wsfunction", "")
        self.calls.append(function)
        if form.get("wstoken") != TOKEN:
            raise exception("invalidtoken", "Invalid token - token not found")
        if function not in self.allowed:
            raise exception("accessexception", "Access control exception", "webservice_access_exception")
        self._check(form, *FUNCTIONS[function])
        return getattr(self, f"_{function.partition('_get_')[2] or function.split('_', 2)[2]}")(form, between)

    def _check(self, form: Any, required: dict[str, str], optional: dict[str, str]) -> None:
        for name, value in form.items():
            allowed = {**_COMMON, **required, **optional}
            forms = [form for pattern, form in allowed.items() if re.fullmatch(pattern, name)]
            if not forms or not re.fullmatch(forms[0], value):
                raise self._invalid(f"parameter {name}={value!r}")
        missing = [pattern for pattern in required if not any(re.fullmatch(pattern, name) for name in form)]
        if missing:
            raise self._invalid(f"without {missing}")

    def _invalid(self, what: str) -> Trouble:
        self.violation(what)
        return exception("invalidparameter", f"Invalid parameter value detected ({what})")

    def _site_info(self, form: Any, between: bool) -> Any:
        functions = [{"name": name, "version": "2024100700"} for name in sorted(self.allowed)]
        return {"sitename": "Loopback", "userid": ME, "functions": functions}

    def _assignments(self, form: Any, between: bool) -> Any:
        enabled = {
            "plugin": "comments",
            "subtype": "assignfeedback",
            "name": "enabled",
            "value": self.comments_enabled,
        }
        other = enabled | {"id": 1, "plugin": "file", "value": "1"}
        assignment = self.assignment | {"configs": [other, enabled | {"id": 2}]}
        return {"courses": [{"id": 5, "fullname": "GPUs", "assignments": [assignment]}], "warnings": []}

    def _definitions(self, form: Any, between: bool) -> Any:
        if form.get("activeonly") == "1" and not self.method:
            raise exception("invalid_method_name", "Invalid grading method")
        if form["cmids[0]"] != str(MODULE):
            raise exception("invalidrecord", "Can not find data record in database.")
        area = {"cmid": MODULE, "component": "mod_assign", "areaname": "submissions", "definitions": []}
        return {"areas": [area | {"activemethod": self.method}], "warnings": []}

    def _list_participants(self, form: Any, between: bool) -> Any:
        self._is_ours(form["assignid"])
        if self.is_blind:
            return [
                {"id": number, "fullname": f"Participant {number + 5000}", "submitted": True}
                for number in self.users
            ]
        return list(self.users.values())

    def _is_ours(self, number: str) -> None:
        if number != str(INSTANCE):
            raise exception("invalidrecord", "Can not find data record in database table assign.")

    def _row(self, number: int) -> Any:
        if number not in self.grades:
            return None
        grade, points = self.grades[number], self.grades[number]["grade"]
        shown = points if points is None or isinstance(points, str) else f"{points:.5f}"
        return {"id": number, "userid": number, "attemptnumber": 0, "grader": grade["grader"], "grade": shown}

    def _grades(self, form: Any, between: bool) -> Any:
        self._is_ours(form["assignmentids[0]"])
        if not self.may_grade:
            warning = {
                "itemid": INSTANCE,
                "warningcode": "1",
                "message": "No access rights in module context",
            }
            return {"assignments": [], "warnings": [warning]}
        rows = [self._row(number) for number in self.grades if number not in self.never_there]
        if not rows:
            return {"assignments": [], "warnings": [{"itemid": INSTANCE, "warningcode": "3"}]}
        return {"assignments": [{"assignmentid": INSTANCE, "grades": rows}], "warnings": []}

    def _submission_status(self, form: Any, between: bool) -> Any:
        self._is_ours(form["assignid"])
        number = int(form["userid"])
        if number not in self.users:
            raise exception("usernotincourse", "The user is not in this course")
        row, text = self._row(number), self.comments.get(number, "")
        graded = row is not None and row["grade"] not in {None, "", "-1.00000"}
        graded = graded and not self.is_blind  # the gradebook gets no grade of somebody anonymous
        if not graded and not text:
            return {"lastattempt": {"graded": False}, "warnings": []}
        if form.get("moodlewssettingfileurl") != "0":
            text = text.replace("@@PLUGINFILE@@", f"{self.url}/webservice/pluginfile.php/9")
        if form.get("moodlewssettingraw") != "1":
            text = f'<div class="no-overflow">{text}</div>'
        field: dict[str, Any] = {
            "name": "comments",
            "description": "Feedback comments",
            "text": text,
            "format": 0,
        }
        plugins: list[dict[str, Any]] = [{"type": "file", "name": "Files"}]
        if self.comments_enabled == "1":
            plugins.append({"type": "comments", "name": "Feedback comments", "editorfields": [field]})
        row = row or {"id": number, "userid": number, "grade": "-1.00000", "grader": TEACHER}
        return {"feedback": {"grade": row, "gradefordisplay": "", "plugins": plugins}, "warnings": []}

    def _save_grade(self, form: Any, between: bool) -> Any:
        self._is_ours(form["assignmentid"])
        number = int(form["userid"])
        if number in self.refused:
            raise exception("nopermissions", "Sorry, but you do not currently have permissions to do that")
        if form["applytoall"] == "1" or form["addattempt"] == "1":
            self.violation("a grade for others, or another attempt")
        if self.method:
            self.violation("a grade where a form is used")
        if number not in self.locked:
            self.grades[number] = {"grade": float(form["grade"]), "grader": ME}
            self.saved.append((number, float(form["grade"])))
        if between:
            raise Trouble(500, "Error writing to database")
        if self.comments_enabled == "1":
            self.comments[number] = form.get("plugindata[assignfeedbackcomments_editor][text]", "")
        raise Trouble(200, None)
