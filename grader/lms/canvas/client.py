"""The calls of Canvas' API that a posting needs, for one assignment.

After the documentation of its REST API and the sources of its controllers: everything that is sent is
form-encoded, lists come in pages, and updates of many grades are jobs whose progress is asked for.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from secrets import token_hex
from typing import Any
from urllib.parse import urljoin

from grader.lms.canvas.answer import LostAnswer, Refused, Response
from grader.lms.canvas.http import Http
from grader.lms.grades import spelled
from grader.lms.platform import Change

_INCLUDED = (("include[]", "submission_comments"), ("include[]", "rubric_assessment"))
_ENDED = frozenset({"completed", "failed"})
_POLLS = 80
"""With the waits between them over ten minutes."""


class Client:
    """One assignment of one course; see `Http` for what all calls raise."""

    def __init__(self, http: Http, course: int, assignment: int) -> None:
        self.http = http
        self._course = f"courses/{course}"
        self._assignment = f"{self._course}/assignments/{assignment}"

    def me(self) -> str:
        """The id of the account whose token we have."""
        return str(self.http.get("users/self").json()["id"])

    def assignment(self) -> Mapping[str, Any]:
        """The assignment."""
        found: Mapping[str, Any] = self.http.get(self._assignment).json()
        return found

    def students(self) -> Iterator[Mapping[str, Any]]:
        """Everyone who is enrolled as a student."""
        form = (("enrollment_type[]", "student"), ("include[]", "email"))
        return self.http.pages(f"{self._course}/users", form)

    def submissions(self) -> Iterator[Mapping[str, Any]]:
        """What is held of each student to whom it is assigned, with comments and rubric."""
        return self.http.pages(f"{self._assignment}/submissions", _INCLUDED)

    def submission(self, student: str) -> Mapping[str, Any]:
        """The same of one student."""
        found: Mapping[str, Any] = self.http.get(
            f"{self._assignment}/submissions/{student}", _INCLUDED
        ).json()
        return found

    def grade(self, change: Change, file: str = "") -> Mapping[str, Any]:
        """Send one student's change, with a file that was uploaded; what Canvas has then, with comments."""
        form = [(f"rubric_assessment[{name}][points]", spelled(of)) for name, of in change.rubric.items()]
        if change.points is not None:
            form.append(("submission[posted_grade]", spelled(change.points)))
        if change.comment:
            form += [("comment[text_comment]", change.comment), ("comment[group_comment]", "false")]
        if file:
            form.append(("comment[file_ids][]", file))
        path = f"{self._assignment}/submissions/{change.id}"
        found: Mapping[str, Any] = self.http.send("PUT", path, form).json()
        return found

    def grade_many(self, changes: Sequence[Change]) -> str:
        """Send grades and rubrics of many students; the id of the job, for it is done later."""
        form: list[tuple[str, str]] = []
        for one in changes:
            start = f"grade_data[{one.id}]"
            if one.points is not None:
                form.append((f"{start}[posted_grade]", spelled(one.points)))
            for name, points in one.rubric.items():
                form.append((f"{start}[rubric_assessment][{name}][points]", spelled(points)))
        answer = self.http.send("POST", f"{self._assignment}/submissions/update_grades", form).json()
        return str(answer["id"])

    def ended(self, job: str) -> bool:
        """Wait until a job is at its end, well or not; False if that takes too long."""
        for poll in range(_POLLS):
            if self.http.get(f"progress/{job}").json().get("workflow_state") in _ENDED:
                return True
            self.http.pause(min(poll, 3))
        return False

    def upload(self, student: str, page: Path) -> str:
        """Upload a file for a comment, in the three steps that Canvas prescribes; its id.

        Raises:
            LostAnswer: it is not sure to be there; sent anew it is another file, that no comment has yet.
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
        sent = self.http.upload(ticket["upload_url"], body, f"multipart/form-data; boundary={boundary}")
        return _file_id(self._confirmed(sent))

    def _confirmed(self, sent: Response) -> Mapping[str, Any]:
        """The third step: what stands where the answer points to."""
        location = sent.headers.get("location", "")
        found: Any
        if location and self.http.is_here(target := urljoin(sent.address, location)):
            found = self.http.get(target).json()
        elif sent.status >= 300:
            raise Refused(sent.status, "the upload leads to another host")
        else:
            found = sent.json()
        return found if isinstance(found, Mapping) else {}


def _file_id(found: Mapping[str, Any]) -> str:
    if "id" not in found:
        raise LostAnswer("the upload has no id")
    return str(found["id"])


def _multipart(
    boundary: str, fields: Sequence[tuple[str, str]], parameter: str, file: tuple[str, str, bytes]
) -> bytes:
    """A form with a file, which Canvas wants to be its last field."""
    name, kind, data = file
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{_quoted(key)}"\r\n\r\n{value}\r\n'
        for key, value in fields
    ]
    disposition = f'form-data; name="{_quoted(parameter)}"; filename="{_quoted(name)}"'
    parts.append(f"--{boundary}\r\nContent-Disposition: {disposition}\r\nContent-Type: {kind}\r\n\r\n")
    return "".join(parts).encode() + data + f"\r\n--{boundary}--\r\n".encode()


def _quoted(text: str) -> str:
    """As browsers write a name into a header of a part."""
    return text.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
