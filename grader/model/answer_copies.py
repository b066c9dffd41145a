"""Questions that a student copied into a document: where a copy begins, and where it ends."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

WHOLE = 0.6
"""The share of a question's words from which a copy of its beginning is one, wherever it ends."""
FIRST_WORDS = 3
"""The words after which a copy may end with a sentence or a line."""
SURE_WORDS = 5
"""The words from which a copy tells which question it is, whatever number stands before it."""
SKIPPED = 3
"""The words of a question that may be missing in one place of its copy."""
SIMILAR = 0.75
"""The similarity of two spellings of one word."""
QUESTION_WORDS = 200
SENTENCE_ENDS = frozenset(".?!:;\u3002\uff1f\uff01\uff1a")

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W_]+(?:['\u2019][^\W_]+)?")
"""A word, or one character where no spaces stand between words."""
_POINTS = re.compile(
    r"[\s*_]*[\[(]?\s*\d+(?:\.\d+)?\s*(?:pts?|points?|marks?|punkte?|%|\u5206)\.?\s*[\])]?[\s*_:.-]*",
    re.IGNORECASE,
)
_MARKED_POINTS = re.compile(
    r"[\[(]\s*\d+(?:\.\d+)?\s*(?:pts?|points?|marks?|punkte?|%)\.?\s*[\])]", re.IGNORECASE
)


_QUOTING = re.compile(r"[\s*_`\"'\u201c\u201d]")
"""Blanks and marks around a word, which a copy may have or not."""
_SENTENCE_END = re.compile(rf"[{''.join(SENTENCE_ENDS)}](?:\s|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedQuestion:
    """The beginning of a question as a student repeats it."""

    question: str
    share: float
    """The share of the question's words that are repeated."""
    words: int
    line: int
    """The line in which the copy ends, counted from the one in which it begins."""
    end: int
    """Where it ends in that line."""
    ended: bool
    """Whether a sentence or the line ends there."""

    @property
    def sure(self) -> bool:
        """Whether it tells which question this is without a number."""
        return self.share >= WHOLE and (self.words >= SURE_WORDS or self.share == 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionWords:
    """A question, split to be compared."""

    label: str
    words: tuple[str, ...]
    sentences: frozenset[int]
    """After how many words a sentence ends."""
    called: frozenset[int]
    """The words before a parenthesis, as in `method(s)`."""
    marks: Mapping[int, str]
    """By how many words a sentence has, the marks behind its last one without blanks, as in `backward()?`."""


def question_words(label: str, text: str) -> QuestionWords:
    """Split the text of a question, without its points."""
    plain = _MARKED_POINTS.sub(" ", text)
    matches = list(_WORD.finditer(plain))[:QUESTION_WORDS]
    ends = [*(match.start() for match in matches[1:]), len(plain)]
    gaps = [plain[match.end() : end] for match, end in zip(matches, ends[: len(matches)], strict=True)]
    marks = {
        number: _QUOTING.sub("", gap)
        for number, gap in enumerate(gaps, start=1)
        if gap.lstrip()[:1] in SENTENCE_ENDS or _SENTENCE_END.search(gap) or number == len(matches)
    }
    called = (number for number, match in enumerate(matches) if plain[match.end() :].startswith("("))
    return QuestionWords(
        label=label,
        words=tuple(match[0].lower() for match in matches),
        sentences=frozenset(marks),
        called=frozenset(called),
        marks=marks,
    )


def copy_at(lines: Sequence[str], start: int, questions: Iterable[QuestionWords]) -> CopiedQuestion | None:
    """Find the question that is repeated from a place in the first line on; the longest copy counts."""
    first = _WORD.search(lines[0], start) or next(filter(None, map(_WORD.search, lines[1:])), None)
    if first is None:
        return None
    word = first[0].lower()
    begun = (question for question in questions if any(_alike(word, begin) for begin in question.words[:2]))
    copies = [copy for question in begun if (copy := _copied(lines, start, question))]
    return max(copies, key=lambda copy: (copy.share, copy.words), default=None)


def behind_points(line: str, start: int) -> int:
    """Skip the points of a question, such as `[6 pts]`."""
    match = _POINTS.match(line, start)
    return match.end() if match else start


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text that tell what it is about."""
    return frozenset(word for match in _WORD.finditer(text) if len(word := match[0].lower()) > 3)


def _copied(lines: Sequence[str], start: int, question: QuestionWords) -> CopiedQuestion | None:
    """Follow a question word by word; a word that is not in it ends its copy."""
    expected = question.words
    position = matched = 0
    last: tuple[int, int] = (0, start)
    at_line_end: CopiedQuestion | None = None
    for number, line in enumerate(lines):
        if number and matched:
            at_line_end = _accepted(lines, question, matched, position, last) or at_line_end
        for match in _WORD.finditer(line, start if number == 0 else 0):
            place = _place(question, position, match)
            if place is None or (matched == 0 and place > 1):
                copy = _accepted(lines, question, matched, position, last)
                # an answer may begin with the next word of the question: `…is used` / `to(), cuda()`
                within_line = copy is not None and copy.line > 0 and not copy.ended
                return at_line_end if at_line_end and (within_line or copy is None) else copy
            matched += 1
            position = place + 1
            last = (number, match.end())
            if position == len(expected):
                return _accepted(lines, question, matched, position, last)
    return _accepted(lines, question, matched, position, last)


def _place(question: QuestionWords, position: int, match: re.Match[str]) -> int | None:
    """Return which of the next words of a question a word is; None if it is another one, or a call."""
    word = match[0].lower()
    called = match.string.startswith("(", match.end())
    for place in range(position, min(position + SKIPPED + 1, len(question.words))):
        if _alike(question.words[place], word) and (not called or place in question.called):
            return place
    return None


def _accepted(
    lines: Sequence[str], question: QuestionWords, matched: int, position: int, last: tuple[int, int]
) -> CopiedQuestion | None:
    number, end = last
    total = len(question.words)
    if not matched or not total:
        return None
    end = _behind_marks(lines[number], end, question.marks.get(position, ""))
    rest = lines[number][end:].lstrip(" \t)\"'\u201d*_")
    ended = not rest or (
        rest[0] in SENTENCE_ENDS and (position in question.sentences or matched > FIRST_WORDS)
    )
    share = matched / total
    long_enough = matched >= FIRST_WORDS and (ended or (share >= WHOLE and matched > FIRST_WORDS))
    if not (long_enough or (share == 1.0 and ended)):
        return None
    line = lines[number]
    while end < len(line) and (line[end] in SENTENCE_ENDS or line[end] in " \t)\"'\u201d*_"):
        end += 1
    return CopiedQuestion(
        question=question.label,
        share=share,
        words=matched,
        line=number,
        end=behind_points(line, end),
        ended=ended,
    )


def _behind_marks(line: str, start: int, marks: str) -> int:
    """Skip the marks with which a sentence of the question ends, as far as they are repeated there."""
    place = end = start
    for mark in marks:
        while place < len(line) and _QUOTING.match(line, place):
            place += 1
        if line[place : place + 1] != mark:
            break
        place = end = place + 1
    return end


@lru_cache(maxsize=4096)
def _alike(one: str, other: str) -> bool:
    """Tell whether two words are one, spelled alike."""
    if one == other:
        return True
    if min(len(one), len(other)) < 4 or abs(len(one) - len(other)) > 2:
        return False
    return SequenceMatcher(None, one, other, autojunk=False).ratio() >= SIMILAR
