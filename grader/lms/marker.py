"""Idempotency keys embedded in posted comments.

One looks like `[grader 2.3f2a9c0b6d1e8f47]`: the number of the comment to this student, and a digest over the
assignment, the student and the points. So it also proves that a present grade is the one of the comment.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from hashlib import sha256

from grader.contracts.platform import MARKER
from grader.lms.numbers import spelled


def markers_in(text: str) -> tuple[str, ...]:
    """Return the markers in a text, in its order."""
    return tuple(match[0] for match in MARKER.finditer(text))


def is_newest(markers: Sequence[str], target: str, person: str, points: Decimal) -> bool:
    """Tell whether the newest marker is of exactly these points."""
    number = _newest(markers)
    return number > 0 and _marker(number, target, person, points) in markers


def following(markers: Sequence[str], target: str, person: str, points: Decimal) -> str:
    """Return the marker for a new comment after those that are there."""
    return _marker(_newest(markers) + 1, target, person, points)


def _newest(markers: Sequence[str]) -> int:
    return max((int(match[1]) for marker in markers if (match := MARKER.fullmatch(marker))), default=0)


def _marker(number: int, target: str, person: str, points: Decimal) -> str:
    content = "\n".join((str(number), target, person, spelled(points)))
    return f"[grader {number}.{sha256(content.encode()).hexdigest()[:16]}]"
