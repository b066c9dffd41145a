"""Failures, open points and flags of a class, grouped by message."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.model.observation import Fault
from grader.reports.words import LineState, open_reason, state_of
from grader.text import one_line

if TYPE_CHECKING:
    from grader.model.score import Line
    from grader.reports.class_view import ClassView, GradedSubmission

ANY = "#"
"""Placeholder for a number in a folded message."""
_NUMBER = re.compile(
    r"(?<![\w.])[-+]?"  # not the 64 of float64, nor the 1 of layer1
    r"(?:0x[0-9a-f]+|(?:\d+(?:\.\d+)?|\.\d+)(?:e[-+]?\d+)?)",
    re.IGNORECASE,
)
_TITLES = re.compile(r'((?:waits for|needs) (?:"[^"]*"(?:, )?)+)')
"""Titles of items, whose numbers are names."""
_BY_HAND = re.compile(r"(a person gave \S+ of \S+): .*")
"""Points by hand; the comment behind them is for one student."""
_PLACE = re.compile(r" \(\S+:\d+, in \w+\(\)\)")
"""The line of one student's program at which it raised."""
_DISTURBANCES = re.compile(r" \([^()]*\)")
"""What disturbed one measurement, behind the number of its rounds."""
_LIST = re.compile(rf"{ANY}(?:,\s*{ANY})+")
LONGEST = 400
"""Characters of a message."""
_FAILED = frozenset({LineState.LOST, LineState.PARTIAL})


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """All items that have one message."""

    message: str
    """With its numbers folded."""
    text: str
    """The first message of the group, with its numbers; the middle of a long one is left out."""
    numbers_differ: bool = False
    """Whether other messages of the group have other numbers."""
    places: tuple[tuple[str, str], ...]
    """Student and item of each, in the order of the class."""
    fault: str = ""
    """The fault (course, machine or grader) for which somebody has to act; empty if there is none."""

    @property
    def students(self) -> tuple[str, ...]:
        """The students of the group, each once."""
        return tuple(dict.fromkeys(student for student, _ in self.places))

    @property
    def items(self) -> Counter[str]:
        """The number of places by item."""
        return Counter(item for _, item in self.places)


def fold(message: str) -> str:
    """Replace the numbers of a message by `#`, and lists of them by `#, …`, so that messages group.

    Titles of items keep theirs; comments on points by hand, and the lines at which programs raised, are
    left out.
    """
    parts = _TITLES.split(_without_details(message))
    parts[::2] = (_LIST.sub(f"{ANY}, …", _NUMBER.sub(ANY, part)) for part in parts[::2])
    return "".join(parts)


def _without_details(message: str) -> str:
    return _BY_HAND.sub(r"\1", _PLACE.sub("", one_line(" ".join(message.split()))))


def failures(view: ClassView) -> tuple[Group, ...]:
    """Group the reasons for lost points, the most frequent first, without skipped items."""
    return _grouped(
        (line.reason, "", submission, line) for submission, line in _lines(view) if state_of(line) in _FAILED
    )


def open_points(view: ClassView, *, for_person: bool) -> tuple[Group, ...]:
    """Group the reasons for open points, the most frequent first.

    Either those for which somebody has to act, or those that another run may decide: on a machine with a GPU,
    in a quieter hour, or after an item that is needed.
    """
    return _grouped(
        (_why_open(submission, line), _fault(submission, line), submission, line)
        for submission, line in _lines(view)
        if state_of(line) is LineState.OPEN and _needs_person(submission, line) == for_person
    )


def _why_open(submission: GradedSubmission, line: Line) -> str:
    """Return why points are open; one reason for all that a busy machine leaves open."""
    reason = open_reason(line)
    return _DISTURBANCES.sub("", reason) if _is_busy(submission, line) else reason


def _is_busy(submission: GradedSubmission, line: Line) -> bool:
    evidence = submission.evidence.get(line.item)
    return evidence is not None and evidence.fault == Fault.BUSY


def _needs_person(submission: GradedSubmission, line: Line) -> bool:
    return line.for_person in {True, None} or bool(_fault(submission, line))


def flags(view: ClassView, *, holding: bool = False, decided: bool = False) -> tuple[Group, ...]:
    """Group flags, the most frequent first: those that hold, those `decided` by a person, or all others."""
    return _grouped(
        (flag, "", submission, line)
        for submission, line in _lines(view)
        for flag in (line.flags or ((line.reason,) if holding else ()))
        if (state_of(line) is LineState.HELD) == holding and _by_person(submission, line) == decided
    )


def _lines(view: ClassView) -> Iterator[tuple[GradedSubmission, Line]]:
    return ((submission, line) for submission in view.submissions for line in submission.card.lines)


def _by_person(submission: GradedSubmission, line: Line) -> bool:
    evidence = submission.evidence.get(line.item)
    return evidence is not None and evidence.by_person


def _fault(submission: GradedSubmission, line: Line) -> str:
    """Return the fault for which somebody has to act; empty if there is none."""
    evidence = submission.evidence.get(line.item)
    return evidence.fault if evidence is not None and not _is_busy(submission, line) else ""


def _grouped(messages: Iterable[tuple[str, str, GradedSubmission, Line]]) -> tuple[Group, ...]:
    places_by_message: dict[tuple[str, str], list[tuple[str, str]]] = {}
    texts: dict[tuple[str, str], dict[str, None]] = {}
    for message, fault, submission, line in messages:
        key = (fold(message), fault)
        texts.setdefault(key, {})[_without_details(message)] = None
        places_by_message.setdefault(key, []).append((submission.card.student, line.item))
    groups = [
        Group(
            message=key[0],
            text=one_line(next(iter(texts[key])), LONGEST),
            numbers_differ=len(texts[key]) > 1,
            places=tuple(places),
            fault=key[1],
        )
        for key, places in places_by_message.items()
    ]
    return tuple(sorted(groups, key=lambda group: (-len(group.students), -len(group.places), group.message)))
