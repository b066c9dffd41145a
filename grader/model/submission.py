"""The submission: student, assignment, files and digest."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """One accepted submission; it never holds a score."""

    student: str
    """The student, or the team; safe as the name of a folder."""
    assignment: str
    """The assignment's name."""
    archive: str
    """The archive's file name."""
    digest: str
    """`sha256:…` over the accepted files, so a repacked archive is the same work."""
    files: tuple[str, ...]
    """Accepted files, relative to the workspace, sorted."""
    dropped: tuple[str, ...] = ()
    """Files of the archive that were ignored, sorted."""
    unread: tuple[str, ...] = ()
    """Archives among these that were not looked into, each with why: `code.zip holds an encrypted file`."""
    top: str = ""
    """The folder of the archive that is the workspace, with a slash at its end; empty for the top of it."""
    members: tuple[str, ...] = ()
    """The students of a team; empty if `student` is one student."""
    submitted_at: datetime | None = None
    """The submission time, from the LMS or `--submitted-at`; None applies no late rule."""
    in_future: bool = False
    """Whether that time was more than an hour ahead when it was given: it is wrong and may cost no points."""
    marked_late: bool = False
    """Whether the LMS marked it late; for information, because its clock and rule are not the rubric's."""
    lms_id: str | None = None
    """The id in the archive's name: in Canvas a user's or an anonymous submission's, in Moodle one of a
    participant or a group, which have another one in every assignment."""
    attempt: int | None = None
    """The LMS's number of an attempt: larger is later, None is first or unknown."""
    chosen: str = ""
    """Why it counts: `the newest of 2 attempts, before hw.zip`; empty if it was the only upload."""

    @property
    def students(self) -> tuple[str, ...]:
        """All students who get a score for it."""
        return self.members or (self.student,)
