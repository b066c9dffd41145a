"""The words, marks and numbers that every report shares."""

from __future__ import annotations

import re
from enum import Enum

from grader.model.observation import Outcome
from grader.model.score import Line, Standing

_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls: terminals obey them, XML forbids them
    "\u200e\u200f\u202a-\u202e\u2066-\u2069"  # would reorder what stands beside them
    "\ud800-\udfff\ufffe\uffff]"  # cannot be encoded, or not be parsed
)


class Mark(Enum):
    """What became of one line, for people."""

    FULL = "earned"
    PARTIAL = "partly earned"
    LOST = "not earned"
    SKIPPED = "skipped"
    OPEN = "open"
    HELD = "held"


_NEVER_RAN = frozenset({Outcome.SKIPPED.value, Outcome.NOT_OBSERVED.value, "missing"})
_UNSETTLED = {Standing.PROVISIONAL: Mark.OPEN, Standing.HELD: Mark.HELD}


def mark(line: Line) -> Mark:
    """What became of a line; a final line that never ran was skipped."""
    if line.standing in _UNSETTLED:
        return _UNSETTLED[line.standing]
    if line.outcome in _NEVER_RAN:
        return Mark.SKIPPED
    if line.outcome == Outcome.OBSERVED and line.points >= line.possible:
        return Mark.FULL
    return Mark.PARTIAL if line.points > 0 else Mark.LOST


def clean(text: str) -> str:
    r"""Text without what a terminal would obey or a parser would refuse, shown as `\x1b` instead."""
    return _UNPRINTABLE.sub(_spelled, text.replace("\r\n", "\n"))


def shorten(text: str, limit: int) -> str:
    """Head and tail of a text of more than `limit` characters, and how much is missing between them."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{text[-half:]}"


def number(value: float) -> str:
    """Points for people: `3`, `2.5`, `0.33`."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def out_of(points: float, possible: float) -> str:
    """`2.5 / 3`; never rounded so far that something lost looks like nothing lost."""
    shown, whole = number(points), number(possible)
    if shown == whole and points < possible:
        shown, whole = f"{points:.9g}", f"{possible:.9g}"
    return f"{shown} / {whole}"


def counted(amount: float, noun: str) -> str:
    """`1 point`, `2.5 points`."""
    return f"{number(amount)} {noun}" if amount == 1 else f"{number(amount)} {noun}s"


def standing_of(of: Standing, pending: float) -> str:
    """The sentence for a standing with `pending` points open."""
    open_points = f"{counted(pending, 'point')} still open, neither earned nor lost"
    return {
        Standing.FINAL: "Final.",
        Standing.PROVISIONAL: f"Provisional: {open_points}.",
        Standing.HELD: "Held: a person has to look first" + (f"; {open_points}." if pending else "."),
    }[of]


def _spelled(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
