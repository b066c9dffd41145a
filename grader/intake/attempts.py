"""Which hand-ins are attempts of one student at the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from grader.errors import GraderError
from grader.intake.hand_in import HandIn
from grader.intake.names import Sender
from grader.intake.receive import sender_of_hand_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """One hand-in, and those of the same student that a platform numbered as earlier ones."""

    newest: HandIn
    older: tuple[HandIn, ...] = ()
    """The later first."""


def attempts_of(hand_ins: Sequence[HandIn], roster: Mapping[str, str]) -> tuple[Attempts, ...]:
    """The hand-ins, those together that are attempts at one, in the order in which the first of each stands.

    Only what a platform numbered is told apart: that a name stands twice says nothing of time.
    """
    numbered: dict[tuple[str, str] | int, list[tuple[int, HandIn]]] = {}
    for place, hand_in in enumerate(hand_ins):
        key: tuple[str, str] | int = place
        number = 0
        with suppress(GraderError):  # whoever grades it says what is wrong
            sender = sender_of_hand_in(hand_in, roster)
            number = sender.attempt or 0
            if sender.lms_id and number not in {other for other, _ in numbered.get(_key(sender), ())}:
                key = _key(sender)
        numbered.setdefault(key, []).append((number, hand_in))
    found = []
    for attempts in numbered.values():
        newest, *older = (one for _, one in sorted(attempts, key=lambda pair: -pair[0]))
        found.append(Attempts(newest=newest, older=tuple(older)))
    return tuple(found)


def _key(sender: Sender) -> tuple[str, str]:
    """What attempts have in common; the number alone tells them apart."""
    return sender.student, sender.file
