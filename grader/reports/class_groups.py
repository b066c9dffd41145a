"""What happened to many in a class, told once: failures, open points and flags by their message."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.reports.words import Mark, mark
from grader.text import one_line

if TYPE_CHECKING:
    from grader.model.score import Line
    from grader.reports.class_view import ClassView, HandIn

ANY = "#"
"""What stands for a number."""
_NUMBER = re.compile(
    r"(?<![\w.])[-+]?"  # not the 64 of float64, nor the 1 of layer1
    r"(?:0x[0-9a-f]+|(?:\d+(?:\.\d+)?|\.\d+)(?:e[-+]?\d+)?)",
    re.IGNORECASE,
)
_LIST = re.compile(rf"{ANY}(?:,\s*{ANY})+")
_FAILED = frozenset({Mark.LOST, Mark.PARTIAL})


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Everything that one message was told of."""

    message: str
    """With its numbers folded."""
    example: str
    """The message as it was told first."""
    told: tuple[tuple[str, str], ...]
    """Who handed in, and the item; in the order of the class."""
    fault: str = ""
    """Whose doing it is, where somebody has to act before it can be observed."""

    @property
    def students(self) -> tuple[str, ...]:
        """Those who handed in, each once."""
        return tuple(dict.fromkeys(student for student, _ in self.told))

    @property
    def items(self) -> Counter[str]:
        """How often it was told of each item."""
        return Counter(item for _, item in self.told)


def fold(message: str) -> str:
    """A message without what differs from hand-in to hand-in: `#` for a number, `#, …` for several."""
    return _LIST.sub(f"{ANY}, …", _NUMBER.sub(ANY, one_line(" ".join(message.split()))))


def failures(view: ClassView) -> tuple[Group, ...]:
    """What points were lost by, the most frequent first; not what was skipped because of it."""
    return _grouped(
        (line.reason, "", hand_in, line) for hand_in, line in _lines(view) if mark(line) in _FAILED
    )


def open_points(view: ClassView) -> tuple[Group, ...]:
    """What points wait for, the most frequent first."""
    return _grouped(
        (line.reason, _fault(hand_in, line), hand_in, line)
        for hand_in, line in _lines(view)
        if mark(line) is Mark.OPEN
    )


def flags(view: ClassView, *, holding: bool) -> tuple[Group, ...]:
    """What a person may want to look at, the most frequent first: what holds marks up, or all else."""
    return _grouped(
        (flag, "", hand_in, line)
        for hand_in, line in _lines(view)
        for flag in (line.flags or ((line.reason,) if holding else ()))
        if (mark(line) is Mark.HELD) == holding
    )


def _lines(view: ClassView) -> Iterator[tuple[HandIn, Line]]:
    return ((hand_in, line) for hand_in in view.hand_ins for line in hand_in.card.lines)


def _fault(hand_in: HandIn, line: Line) -> str:
    seen = hand_in.seen.get(line.item)
    return seen.fault if seen is not None else ""


def _grouped(told: Iterable[tuple[str, str, HandIn, Line]]) -> tuple[Group, ...]:
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    examples: dict[tuple[str, str], str] = {}
    for message, fault, hand_in, line in told:
        key = (fold(message), fault)
        examples.setdefault(key, message)
        found.setdefault(key, []).append((hand_in.card.student, line.item))
    groups = [
        Group(message=key[0], example=examples[key], told=tuple(places), fault=key[1])
        for key, places in found.items()
    ]
    return tuple(sorted(groups, key=lambda group: (-len(group.students), group.message)))
