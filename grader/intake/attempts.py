"""Of several hand-ins of one student the newest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.errors import GraderError
from grader.intake.hand_in import HandIn
from grader.intake.names import Sender
from grader.intake.receive import sender_of_hand_in


def newest(
    hand_ins: Sequence[HandIn], roster: Mapping[str, str]
) -> tuple[tuple[HandIn, ...], tuple[str, ...]]:
    """The hand-ins without those of which a platform holds a later one, and a line for each that is left out.

    Only what a platform numbered is told apart: that a name stands twice says nothing of time.
    """
    latest: dict[tuple[str, str], tuple[HandIn, Sender]] = {}
    senders: list[Sender | None] = []
    for hand_in in hand_ins:
        try:
            sender = sender_of_hand_in(hand_in, roster)
        except GraderError:  # whoever grades it says what is wrong
            senders.append(None)
            continue
        senders.append(sender)
        other = latest.get(_key(sender))
        if other is None or (sender.attempt or 0) > (other[1].attempt or 0):
            latest[_key(sender)] = hand_in, sender
    kept: list[HandIn] = []
    older: list[str] = []
    for hand_in, who in zip(hand_ins, senders, strict=True):
        last = latest[_key(who)] if who else None
        if who and last and (who.attempt or 0) < (last[1].attempt or 0):
            older.append(f"{hand_in.name}: is an older attempt of {who.student}; {last[0].name} counts")
        else:
            kept.append(hand_in)
    return tuple(kept), tuple(older)


def _key(sender: Sender) -> tuple[str, str]:
    """What attempts have in common; the number alone tells them apart."""
    return sender.student, sender.file if sender.lms_id else ""
