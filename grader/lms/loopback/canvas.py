"""A Canvas on this machine's loopback: a few endpoints of its API, held strictly to what is documented.

It is made after the documentation of the REST API and the sources of Canvas' controllers, and it is not
Canvas. Whatever a client does that the documentation does not know is refused and noted in `violations`.
"""

from __future__ import annotations

import json
import re
from email.parser import BytesParser
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from grader.lms.loopback.server import FAULTS, LoopbackServer, Trouble  # noqa: F401 - for tests

TOKEN = "7~loopback-token"  # noqa: S105 - of nobody
ME = 900
COURSE, ASSIGNMENT = 1234, 4242
_UPDATE = {
    r"submission\[posted_grade\]": r"-?\d+(\.\d+)?",
    r"submission\[excuse\]": r"true|false",
    r"comment\[text_comment\]": r"(?s).+",
    r"comment\[group_comment\]": r"true|false",
    r"comment\[file_ids\]\[\]": r"\d+",
    r"rubric_assessment\[[^\]]+\]\[points\]": r"-?\d+(\.\d+)?",
    r"rubric_assessment\[[^\]]+\]\[comments\]": r"(?s).*",
}
_BULK = {
    r"grade_data\[\d+\]\[posted_grade\]": r"-?\d+(\.\d+)?",
    r"grade_data\[\d+\]\[excuse\]": r"true|false",
    r"grade_data\[\d+\]\[text_comment\]": r"(?s).+",
    r"grade_data\[\d+\]\[file_ids\]\[\]": r"\d+",
    r"grade_data\[\d+\]\[rubric_assessment\]\[[^\]]+\]\[points\]": r"-?\d+(\.\d+)?",
}
_LIST = {r"per_page": r"\d+", r"page": r"bookmark:\w+"}
_WITH = {r"include\[\]": r"submission_comments|rubric_assessment"}
_USERS = {r"enrollment_type\[\]": r"student", r"include\[\]": r"email"}
_TICKET = {r"name": r".+", r"size": r"\d+", r"content_type": r"\w+/[\w.+-]+"}


def unauthorized() -> Trouble:
    """Return the refusal of what the token's owner may not do."""
    error = [{"message": "user not authorized to perform that action"}]
    return Trouble(403, {"status": "unauthorized", "errors": error})


def missing() -> Trouble:
    """Return the answer for what does not exist."""
    return Trouble(404, {"errors": [{"message": "The specified resource does not exist."}]})


OF = f"courses/{COURSE}/assignments/{ASSIGNMENT}"
ENDPOINTS: tuple[tuple[str, str, dict[str, str], str], ...] = (
    ("GET", "users/self", {}, "_me"),
    ("GET", f"courses/{COURSE}", {}, "_course"),
    ("GET", OF, {}, "_assignment"),
    ("GET", f"courses/{COURSE}/(?:search_)?users", _LIST | _USERS, "_users"),  # both are documented
    ("GET", f"{OF}/submissions", _LIST | _WITH, "_submissions"),
    ("GET", rf"{OF}/submissions/(\d+)", _WITH, "_submission"),
    ("PUT", rf"{OF}/submissions/(\d+)", _UPDATE, "_update"),
    ("POST", f"{OF}/submissions/update_grades", _BULK, "_queue"),
    ("POST", rf"{OF}/submissions/(\d+)/comments/files", _TICKET, "_ticket"),
    ("GET", r"progress/(\d+)", {}, "_progress"),
    ("GET", r"files/(\d+)/confirm", {}, "_confirm"),
)
"""Method, path, parameters that are documented with their form, and who answers."""


class LoopbackCanvas(LoopbackServer):
    """One course with one assignment; use it as a context."""

    def __init__(self, students: int = 3, *, page_most: int = 7, port: int = 0) -> None:
        super().__init__(port=port)
        self.assignment: dict[str, Any] = {
            "id": ASSIGNMENT,
            "name": "HW1",
            "course_id": COURSE,
            "points_possible": 10.0,
            "grading_type": "points",
            "published": True,
            "moderated_grading": False,
        }
        self.users: dict[int, dict[str, Any]] = {}
        self.records: dict[int, dict[str, Any]] = {}
        for number in range(1, students + 1):
            self.enroll(100 + number, f"s{number:03}")
        self.comments: list[dict[str, Any]] = []
        self.graded: list[tuple[int, float, int]] = []
        self.page_most = page_most
        self.files: dict[int, dict[str, Any]] = {}
        self.jobs: dict[int, dict[str, Any]] = {}
        self.tickets: dict[str, dict[str, str]] = {}
        self._bookmarks: dict[str, int] = {}

    def enroll(self, number: int, login: str, **keys: Any) -> None:
        """Enrol a student."""
        self.users[number] = {
            "id": number,
            "name": f"Student {login}",
            "sortable_name": f"{login}, Student",
            "login_id": login,
            "sis_user_id": f"S{number}",
            "email": f"{login}@uni.edu",
        }
        self.records[number] = {
            "id": number * 10,
            "assignment_id": ASSIGNMENT,
            "user_id": number,
            "entered_score": None,
            "grader_id": None,
            "excused": None,
            "points_deducted": None,
            "rubric_assessment": {},
            **keys,
        }

    def grade(self, number: int, score: Any, grader: Any = 77) -> None:
        """Enter a grade as a person does in the gradebook."""
        self.records[number] |= {"entered_score": score, "grader_id": grader}
        self.graded.append((number, score, grader))

    def comment(self, number: int, text: str, author: Any = ME, files: Any = ()) -> None:
        """Add a comment, ours unless another author is named."""
        self.comments.append(
            {
                "id": len(self.comments) + 1,
                "user": number,
                "author_id": author,
                "comment": text,
                "files": files,
            }
        )

    def comments_of(self, number: int) -> list[str]:
        """Return the comments of a student."""
        return [comment["comment"] for comment in self.comments if comment["user"] == number]

    def scores(self) -> dict[int, float | None]:
        """Return the grades by student."""
        return {number: record["entered_score"] for number, record in self.records.items()}

    def perform(self, request: Any, *, between: bool) -> Any:
        """Answer a request."""
        split = urlsplit(request.path)
        if TOKEN in request.path or TOKEN.encode() in request.body:
            raise self.violation("the token is in an address or a body")
        signed = request.headers.get("Authorization")
        if split.path.startswith("/files/"):
            if signed:
                raise self.violation("the token went to the file store")
            return self._store(request, split.path.split("/")[-1])
        if signed != f"Bearer {TOKEN}":
            error = {"errors": [{"message": "Invalid access token."}]}
            raise Trouble(401, error, **{"WWW-Authenticate": 'Bearer realm="canvas-lms"'})
        request.between = between
        request.query = parse_qsl(split.query, keep_blank_values=True)
        request.form = self._form(request) if request.command in {"PUT", "POST"} else []
        for method, pattern, allowed, name in ENDPOINTS:
            match = re.fullmatch(pattern, split.path.removeprefix("/api/v1/"))
            if match and method == request.command:
                self._check(request.query if method == "GET" else request.form, allowed)
                return getattr(self, name)(request, *map(int, match.groups()))
        raise missing()

    def _form(self, request: Any) -> Any:
        kind = request.headers.get("Content-Type", "")
        if kind != "application/x-www-form-urlencoded":
            raise self.violation(f"{request.command} with content type {kind!r}")
        return parse_qsl(request.body.decode(), keep_blank_values=True, strict_parsing=bool(request.body))

    def _check(self, fields: Any, allowed: dict[str, str]) -> None:
        for name, value in fields:
            forms = [form for pattern, form in allowed.items() if re.fullmatch(pattern, name)]
            if not forms or not re.fullmatch(forms[0], value):
                raise self.violation(f"parameter {name}={value!r}")

    def _me(self, _: Any) -> Any:
        return {"id": ME, "name": "Grader"}

    def _course(self, _: Any) -> Any:
        return {"id": COURSE, "name": "GPUs"}

    def _assignment(self, _: Any) -> Any:
        return self.assignment

    # lists

    def _users(self, request: Any) -> Any:
        return self._page(request, [self.users[number] for number in sorted(self.users)])

    def _submissions(self, request: Any) -> Any:
        everyone = [self.records[number] for number in sorted(self.records)]
        return [self._shown(record, _included(request)) for record in self._page(request, everyone)]

    def _submission(self, request: Any, number: int) -> Any:
        return self._shown(self._assigned(number), _included(request))

    def _page(self, request: Any, everything: Any) -> Any:
        query = dict(request.query)
        size = min(int(query.get("per_page", 10)), self.page_most)
        start = self._bookmarks.get(query.get("page", "").removeprefix("bookmark:"), 0)
        rest = [(name, value) for name, value in request.query if name != "page"]
        links = []
        for rel, at in (("current", start), ("next", start + size), ("first", 0)):
            if at < len(everything) or rel != "next":
                bookmark = f"{at:x}z{len(everything):x}"
                self._bookmarks[bookmark] = at
                pairs = [*rest, ("page", f"bookmark:{bookmark}")]
                again = "&".join(f"{name}={value}" for name, value in pairs)
                links.append(f'<{self.url}{urlsplit(request.path).path}?{again}>; rel="{rel}"')
        request.links = ",".join(links)
        return everything[start : start + size]

    def _assigned(self, number: int) -> Any:
        if number not in self.users:
            raise missing()
        if number not in self.records:
            raise unauthorized()
        return self.records[number]

    def _shown(self, record: Any, included: Any) -> Any:
        entered, deducted = record["entered_score"], record["points_deducted"]
        score = entered if entered is None or not deducted else entered - deducted
        shown = {name: value for name, value in record.items() if name != "rubric_assessment"}
        shown |= {"score": score, "grade": None if score is None else f"{score:g}"}
        shown["workflow_state"] = "unsubmitted" if score is None else "graded"
        if "submission_comments" in included:
            shown["submission_comments"] = [
                {name: comment[name] for name in ("id", "author_id", "comment")}
                for comment in self.comments
                if comment["user"] == record["user_id"]
            ]
        if "rubric_assessment" in included and record["rubric_assessment"]:
            shown["rubric_assessment"] = record["rubric_assessment"]
        return json.loads(json.dumps(shown))

    # grades and comments

    def _update(self, request: Any, number: int) -> Any:
        form = _nested(request.form)
        graded = form.get("submission", {}).get("posted_grade")
        if (
            graded is not None
            and self.assignment["moderated_grading"]
            and not self.assignment.get("released")
        ):
            raise unauthorized()
        record = self._assigned(number)
        self._grade(record, form.get("submission", {}), form.get("rubric_assessment"))
        if request.between:
            raise Trouble(500, {"errors": [{"message": "An error occurred."}]})
        if comment := form.get("comment"):
            self._say(number, comment.get("text_comment"), comment.get("file_ids", ()))
        return self._shown(record, {"submission_comments"})

    def _grade(self, record: Any, form: Any, rubric: Any) -> None:
        if "posted_grade" in form:
            score = float(form["posted_grade"])
            if record["entered_score"] != score:
                self.graded.append((record["user_id"], score, ME))
            record |= {"entered_score": score, "grader_id": ME, "excused": False}
        if form.get("excuse") == "true":
            record |= {"entered_score": None, "excused": True}
        if rubric:
            criteria = {row["id"] for row in self.assignment.get("rubric", ())}
            if not criteria & set(rubric):
                raise Trouble(400, {"message": "invalid rubric_assessment"})
            record["rubric_assessment"] = {
                name: {"points": float(row["points"])} for name, row in rubric.items() if name in criteria
            }

    def _say(self, number: int, text: str, files: Any) -> None:
        names = []
        for file in files:
            stored = self.files.get(int(file))
            if stored is None or not stored["confirmed"]:
                raise unauthorized()
            names.append((stored["name"], stored["data"]))
        self.comment(number, text, files=tuple(names))

    def _queue(self, request: Any) -> Any:
        grades = _nested(request.form).get("grade_data")
        if not grades:
            raise Trouble(400, {"error": "'grade_data' parameter required"})
        if not self.assignment["published"]:
            raise unauthorized()
        job = len(self.jobs) + 1
        self.jobs[job] = {
            "id": job,
            "workflow_state": "queued",
            "completion": 0,
            "message": None,
            "data": grades,
        }
        return self._job(job)

    def _progress(self, _: Any, job: int) -> Any:
        if job not in self.jobs:
            raise missing()
        state = self.jobs[job]
        if state["workflow_state"] == "queued":
            state |= {"workflow_state": "running", "completion": 40}
        elif state["workflow_state"] == "running":
            unknown = [number for number in state["data"] if int(number) not in self.records]
            for number, form in state["data"].items():
                if int(number) in self.records:
                    self._grade(self.records[int(number)], form, form.get("rubric_assessment"))
                    if "text_comment" in form:
                        self._say(int(number), form["text_comment"], form.get("file_ids", ()))
            state |= {"workflow_state": "failed" if unknown else "completed", "completion": 100}
            if unknown:
                state["message"] = f"Couldn't find User(s) with API ids {', '.join(map(repr, unknown))}"
        return self._job(job)

    def _job(self, job: int) -> Any:
        shown = {name: value for name, value in self.jobs[job].items() if name != "data"}
        return {**shown, "tag": "submissions_update", "url": f"{self.url}/api/v1/progress/{job}"}

    # files

    def _ticket(self, request: Any, number: int) -> Any:
        self._assigned(number)
        form = dict(request.form)
        ticket = f"t{len(self.tickets) + 1}"
        self.tickets[ticket] = form
        store = f"http://localhost:{self.port}/files/{ticket}"  # another host, as far as anybody can tell
        return {"upload_url": store, "upload_params": {"key": ticket, "policy": "p"}, "file_param": "file"}

    def _store(self, request: Any, ticket: str) -> Any:
        kind = request.headers.get("Content-Type", "")
        head = f"Content-Type: {kind}\r\n\r\n".encode()
        parts: Any = BytesParser().parsebytes(head + request.body).get_payload()
        names = [part.get_param("name", header="content-disposition") for part in parts]
        ticket_form = self.tickets.get(ticket)
        if ticket_form is None or sorted(names[:-1]) != ["key", "policy"] or names[-1] != "file":
            raise self.violation(f"upload with the fields {names}")
        data = parts[-1].get_payload(decode=True)
        if len(data) != int(ticket_form["size"]):
            raise self.violation("upload of another size than was said")
        # it does not fetch the address of the third step, which Canvas calls optional after a 201
        by_canvasapi = request.headers.get("User-Agent", "").startswith("python-canvasapi")
        file = len(self.files) + 1
        self.files[file] = {"name": ticket_form["name"], "data": data, "confirmed": by_canvasapi}
        address = f"{self.url}/api/v1/files/{file}/confirm"
        raise Trouble(201, {"id": file, "url": address, "location": address}, Location=address)

    def _confirm(self, _: Any, file: int) -> Any:
        self.files[file]["confirmed"] = True
        return {"id": file, "url": f"{self.url}/files/{file}", "filename": self.files[file]["name"]}


def _included(request: Any) -> set[str]:
    return {value for name, value in request.query if name == "include[]"}


def _nested(form: Any) -> dict[str, Any]:
    """Read `a[b][]=1` as Rails does."""
    tree: dict[str, Any] = {}
    for name, value in form:
        first, *steps = re.findall(r"[^\[\]]+|\[\]", name)
        listed = bool(steps) and steps[-1] == "[]"
        keys = [first, *(steps[:-1] if listed else steps)]
        inner: dict[str, Any] = tree
        for key in keys[:-1]:
            inner = inner.setdefault(key, {})
        if listed:
            inner.setdefault(keys[-1], []).append(value)
        else:
            inner[keys[-1]] = value
    return tree
