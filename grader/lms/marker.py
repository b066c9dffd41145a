"""The mark in a comment by which it is found again, and by which nothing is said twice.

It looks like `[grader 2.3f2a9c0b6d1e8f47]`: the number of the message to this student, and a digest of what
was said: which assignment, whom, how many points. So it also tells whether a grade that stands there is the
one that the comment spoke of.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from hashlib import sha256

from grader.lms.grades import spelled

_FORM = re.compile(r"\[grader (\d{1,6})\.([0-9a-f]{16})\]")


def found(text: str) -> tuple[str, ...]:
    """The markers in a text, in its order."""
    return tuple(match[0] for match in _FORM.finditer(text))


def says(markers: Sequence[str], target: str, person: str, points: Decimal) -> bool:
    """Whether the newest marker is of exactly these points."""
    number = _newest(markers)
    return number > 0 and _marker(number, target, person, points) in markers


def following(markers: Sequence[str], target: str, person: str, points: Decimal) -> str:
    """The marker for a new message after those that are there."""
    return _marker(_newest(markers) + 1, target, person, points)


def _newest(markers: Sequence[str]) -> int:
    return max((int(match[1]) for one in markers if (match := _FORM.fullmatch(one))), default=0)


def _marker(number: int, target: str, person: str, points: Decimal) -> str:
    said = "\n".join((str(number), target, person, spelled(points)))
    return f"[grader {number}.{sha256(said.encode()).hexdigest()[:16]}]"
