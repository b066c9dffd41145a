"""The calls of Canvas' REST API that posting needs, for one assignment.

Made after its documentation and the sources of its controllers: requests are form-encoded, lists come in
pages, and updates of many grades are jobs with a progress.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from secrets import token_hex
from typing import Any
from urllib.parse import urljoin

from grader.contracts.platform import Change
from grader.lms.http import Http, LostAnswer, RequestRefused, Response
from grader.lms.numbers import spelled

API = "api/v1"
_INCLUDED = (("include[]", "submission_comments"), ("include[]", "rubric_assessment"))
_ENDED = frozenset({"completed", "failed"})
_POLLS = 80
"""With the waits between them over ten minutes."""


class CanvasClient:
    """One assignment of one course; see `Http` for the errors of all calls."""

    def __init__(self, http: Http, course: int, assignment: int) -> None:
        self.http = http
        self._course = f"{API}/courses/{course}"
        self._assignment = f"{self._course}/assignments/{assignment}"

    def me(self) -> str:
        """Return the id of the token's account."""
        return str(self.http.get(f"{API}/users/self").json()["id"])

    def assignment(self) -> Mapping[str, Any]:
        """Return the assignment."""
        assignment: Mapping[str, Any] = self.http.get(self._assignment).json()
        return assignment

    def students(self) -> Iterator[Mapping[str, Any]]:
        """Yield everyone who is enrolled as a student."""
        form = (("enrollment_type[]", "student"), ("include[]", "email"))
        return self.http.pages(f"{self._course}/users", form)

    def submissions(self) -> Iterator[Mapping[str, Any]]:
        """Yield the submission object of each student to whom it is assigned, with comments and rubric."""
        return self.http.pages(f"{self._assignment}/submissions", _INCLUDED)

    def submission(self, student: str) -> Mapping[str, Any]:
        """Return the submission object of one student."""
        path = f"{self._assignment}/submissions/{student}"
        submission: Mapping[str, Any] = self.http.get(path, _INCLUDED).json()
        return submission

    def grade(self, change: Change, file: str = "") -> Mapping[str, Any]:
        """Send one student's change with an uploaded file; return the submission object after it."""
        form = [(f"rubric_assessment[{name}][points]", spelled(of)) for name, of in change.rubric.items()]
        if change.points is not None:
            form.append(("submission[posted_grade]", spelled(change.points)))
        if change.comment:
            form += [("comment[text_comment]", change.comment), ("comment[group_comment]", "false")]
        if file:
            form.append(("comment[file_ids][]", file))
        path = f"{self._assignment}/submissions/{change.id}"
        submission: Mapping[str, Any] = self.http.send("PUT", path, form).json()
        return submission

    def grade_many(self, changes: Sequence[Change]) -> str:
        """Send grades and rubrics of many students; return the id of the job that enters them later."""
        form: list[tuple[str, str]] = []
        for change in changes:
            start = f"grade_data[{change.id}]"
            if change.points is not None:
                form.append((f"{start}[posted_grade]", spelled(change.points)))
            for name, points in change.rubric.items():
                form.append((f"{start}[rubric_assessment][{name}][points]", spelled(points)))
        answer = self.http.send("POST", f"{self._assignment}/submissions/update_grades", form).json()
        return str(answer["id"])

    def ended(self, job: str) -> bool:
        """Wait until a job has completed or failed; return False if that takes too long."""
        for poll in range(_POLLS):
            if self.http.get(f"{API}/progress/{job}").json().get("workflow_state") in _ENDED:
                return True
            self.http.pause(min(poll, 3))
        return False

    def upload(self, student: str, page: Path) -> str:
        """Upload a file for a comment, in the three steps that Canvas prescribes; return its id.

        Raises:
            LostAnswer: it may be there or not; a second upload is another file, which no comment has yet.
            OSError: the file cannot be read.
        """
        data = page.read_bytes()
        kind = mimetypes.guess_type(page.name)[0] or "application/octet-stream"
        form = (("name", page.name), ("size", str(len(data))), ("content_type", kind))
        path = f"{self._assignment}/submissions/{student}/comments/files"
        ticket = self.http.send("POST", path, form).json()
        fields = [(str(name), str(value)) for name, value in ticket["upload_params"].items()]
        boundary = token_hex(16)
        body = _multipart(boundary, fields, str(ticket.get("file_param") or "file"), (page.name, kind, data))
        response = self.http.upload(ticket["upload_url"], body, f"multipart/form-data; boundary={boundary}")
        return _file_id(self._confirmed(response))

    def _confirmed(self, response: Response) -> Mapping[str, Any]:
        """Do the third step: read the address in the header Location."""
        location = response.headers.get("location", "")
        if location and self.http.is_here(target := urljoin(response.address, location)):
            file = self.http.get(target).json()
        elif response.status >= 300:
            raise RequestRefused(response.status, "the upload leads to another host")
        else:
            file = response.json()
        return file if isinstance(file, Mapping) else {}


def _file_id(file: Mapping[str, Any]) -> str:
    if "id" not in file:
        raise LostAnswer("the upload has no id")
    return str(file["id"])


def _multipart(
    boundary: str, fields: Sequence[tuple[str, str]], parameter: str, file: tuple[str, str, bytes]
) -> bytes:
    """Return a form with a file, which Canvas requires to be the last field."""
    name, kind, data = file
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{_quoted(key)}"\r\n\r\n{value}\r\n'
        for key, value in fields
    ]
    disposition = f'form-data; name="{_quoted(parameter)}"; filename="{_quoted(name)}"'
    parts.append(f"--{boundary}\r\nContent-Disposition: {disposition}\r\nContent-Type: {kind}\r\n\r\n")
    return "".join(parts).encode() + data + f"\r\n--{boundary}--\r\n".encode()


def _quoted(text: str) -> str:
    """Return a name as browsers write it into a header of a part."""
    return text.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
