"""Where the names of functions stand in a report, and which part of it a ratio is about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice

MATCHES = 400

_NOT_A_LINE_BREAK = re.compile(r"[^\n]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A name at a place of a text."""

    name: str
    start: int
    end: int


@cache
def phrase(words: str) -> re.Pattern[str]:
    """Return a pattern for any of `a|b`, whatever joins the words: `max_cpu` matches "Max-CPU"."""
    alternatives = []
    for alternative in words.split("|"):
        parts = [re.escape(part) for part in re.split(r"[\s_-]+", alternative.strip()) if part]
        if parts:
            alternatives.append(r"[\s_-]{0,3}".join(parts))
    return re.compile(rf"(?<!\w)(?:{'|'.join(alternatives) or '(?!)'})(?!\w)", re.IGNORECASE)


def full_name(name: str) -> str:
    """Return the first of `a|b`: the function's own name, which others abbreviate."""
    return name.partition("|")[0]


def mentions(text: str, names: Sequence[str]) -> list[Mention]:
    """Return where names stand, in order; a name within a longer one is none."""
    matches = sorted(
        (
            Mention(name=name, start=match.start(), end=match.end())
            for name in names
            for match in islice(phrase(name).finditer(text), MATCHES)
        ),
        key=lambda mention: (mention.start, -mention.end),
    )
    apart: list[Mention] = []
    for mention in matches:
        if not apart or mention.start >= apart[-1].end:
            apart.append(mention)
    return apart


def about(text: str, names: Sequence[str], part: str, elsewhere: str) -> str:
    """Blank what is about something else: from a word of `elsewhere` on to the next of `part` or full name.

    Places stay as they are, and so do line breaks.
    """
    if not elsewhere:
        return text
    here = "|".join(filter(None, (part, *map(full_name, names))))
    turns = sorted(
        (match.start(), away)
        for words, away in ((here, False), (elsewhere, True))
        for match in islice(phrase(words).finditer(text), MATCHES)
    )
    pieces, start, blank = [], 0, False
    for place, away in (*turns, (len(text), False)):
        pieces.append(_NOT_A_LINE_BREAK.sub(" ", text[start:place]) if blank else text[start:place])
        start, blank = place, away
    return "".join(pieces)
