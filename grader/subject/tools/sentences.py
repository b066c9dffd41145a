"""The sentence around a place of a report, and whether it says what is, or weighs what could be."""

from __future__ import annotations

import re

LONGEST = 400
"""Characters on either side of a place that can be of its sentence."""

ENDS = re.compile(
    r"[.;!?]\s+(?=[^\W\d_a-z])|[\u3002\uff1b\uff01\uff1f]|\n\s*\n|(?<=\d)\n(?=[^\W\d_a-z])"
    r"|\n(?=\s*(?:[-\u2022*\u25aa\u25cf]|\[\*\]|\d{1,2}[.)])\s)"
)
"""Where a sentence or an entry of a list ends."""

_HYPOTHETICAL = re.compile(
    r"\b(?:if|unless|would|could|can ?not|can't|couldn't|may|might|must(?: not|n't)|not|never|no|nor|without"
    r"|instead|rather than|at most|up to|maximum|maximal\w*|max\.?|limit\w*|exceed\w*|more than|fail\w*"
    r"|error\w*|illegal|invalid|first tried|tried|for example|e\.g"
    r"|wenn|falls|würde\w*|könnte\w*|kann|nicht|kein\w*|höchstens|statt|mehr als|Grenze|Fehler"
    r"|si|pas|peut|ne|aucun|plus de|pourrait|serait|podría\w*|puede\w*|más de|como máximo|límite|sería|no se"
    r"|если|не|нельзя|больше|максим\w*|мог\w*)\b"
    r"|אם|לא|אין|לכל היותר|מקסימ|אפשר|如果|不能|不|最多|超过|可以|若|最大",
    re.IGNORECASE,
)


def sentence_at(text: str, start: int, end: int) -> str:
    """Return the sentence around a part of a text."""
    before, behind = text[max(0, start - LONGEST) : start], text[end : end + LONGEST]
    ends = list(ENDS.finditer(before + text[start : start + 1]))
    begins = ends[-1].end() if ends else 0
    stop = ENDS.search(behind)
    return before[begins:] + text[start:end] + (behind[: stop.start()] if stop else behind)


def hypothetical(sentence: str) -> bool:
    """Tell whether a sentence may say what is not, could be, or cannot be."""
    return _HYPOTHETICAL.search(sentence) is not None
