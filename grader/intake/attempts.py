"""Groups uploads that are attempts of one student at the same work."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from grader.errors import GraderError
from grader.intake.names import Sender
from grader.intake.receive import sender_of_upload
from grader.intake.upload import Upload
from grader.model.roster import Roster

Key = tuple[str, str | None, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptGroup:
    """The newest upload of a student, with the earlier attempts that a platform numbered."""

    newest: Upload
    older: tuple[Upload, ...] = ()
    """Earlier attempts, the latest first."""


def attempts_of(uploads: Sequence[Upload], roster: Roster) -> tuple[AttemptGroup, ...]:
    """Group uploads by student, in the order of each student's first one.

    Only attempts that a platform numbered are grouped: a repeated name alone gives no order in time, and
    neither do the numbers of two members of a team.
    """
    numbered: dict[Key | int, list[tuple[int, Upload]]] = {}
    for place, upload in enumerate(uploads):
        key: Key | int = place
        number = 0
        with suppress(GraderError):  # the error is reported when it is graded
            sender = sender_of_upload(upload, roster)
            number = sender.attempt or 0
            if sender.lms_id and number not in {other for other, _ in numbered.get(_key(sender), ())}:
                key = _key(sender)
        numbered.setdefault(key, []).append((number, upload))
    groups = []
    for attempts in numbered.values():
        newest, *older = (upload for _, upload in sorted(attempts, key=lambda pair: -pair[0]))
        groups.append(AttemptGroup(newest=newest, older=tuple(older)))
    return tuple(groups)


def _key(sender: Sender) -> Key:
    """Return the key that all attempts at one work share: of a team a platform numbers each member's own."""
    return sender.student, sender.lms_id, sender.file
