"""Words of an answer for which no criterion accounts: beside one of them no program decides."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from grader.matching.criteria import Criterion
from grader.matching.passage import FUNCTION_WORDS, Passage, Span, words_of
from grader.matching.terms import find_term

_BRACKETS = re.compile(r"[(\[{<]([^()\[\]{}<>]{1,200})[)\]}>]")
_ENTRIES = re.compile(r"\s*[,;x×*、，]\s*")  # noqa: RUF001 - crosses and Chinese commas
_LONGEST_ENTRY = 3
_MARKER = re.compile(r"(?m)^[^\S\n]{0,20}(?:[-*•][^\S\n]{1,3})?\(?(?:\d{1,3}|[a-z])[.):](?=\s)")
_WORTH = re.compile(r"[\[(]?\b\d{1,3}[^\S\n]?(?:pts?|points?|Punkte?|分|puntos?)\b[\])]?", re.IGNORECASE)
"""What a copied question is worth."""
_LONGEST_SHOWN = 40


def names_in_brackets(text: str, start: int = 0) -> Iterator[tuple[Span, int]]:
    """Yield the lists of short names in brackets, as `(samples, steps, features)`, and how many they are."""
    for match in _BRACKETS.finditer(text, start):
        entries = _ENTRIES.split(match[1].strip())
        if len(entries) > 1 and all(1 <= len(words_of(entry)) <= _LONGEST_ENTRY for entry in entries):
            yield match.span(), len(entries)


def unaccounted(
    passage: Passage, spans: Sequence[Span], criteria: Sequence[Criterion], beside: Sequence[str]
) -> str:
    """Return the first word or number for which nothing accounts; empty if there is none.

    Accounted for are the matched `spans`, the words that criteria ask for as company, those of `beside`,
    function words, numbers of list entries, lists of names in brackets behind a number that counts them, and
    sentences without a match that have words of the question alone, as a copy over two lines leaves. Numbers
    are of no account where no criterion asks for a number or a shape.
    """
    counted = any(c.match and (c.match.number or c.match.shape) for c in criteria)
    near = tuple(words for criterion in criteria if criterion.match for words in criterion.match.near)
    accounted = [*spans, *(span for words in (*near, *beside) for span in find_term(passage, words))]
    accounted += [match.span() for sign in (_MARKER, _WORTH) for match in sign.finditer(passage.text)]
    accounted += _question_alone(passage, spans)
    if counted:
        accounted += _counting_lists(passage.text, spans)
    places = {place for start, end in accounted for place in range(start, end)}
    for token in passage.tokens:
        if token.word in FUNCTION_WORDS or not passage.counts(token.start):
            continue
        if not counted and token.word.isdecimal():
            continue
        if any(place not in places for place in range(token.start, token.end)):
            return passage.text[token.start : min(token.end, token.start + _LONGEST_SHOWN)]
    return ""


def _question_alone(passage: Passage, spans: Sequence[Span]) -> Iterator[Span]:
    matched = {passage.sentence_at(start) for start, _ in spans}
    for index, sentence in enumerate(passage.sentences):
        words = {token.word for token in passage.tokens[sentence.first : sentence.last]}
        if index not in matched and words <= passage.question_words | FUNCTION_WORDS:
            yield sentence.start, sentence.end


def _counting_lists(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    """Yield lists of names without a match in them; one behind a number must have as many entries."""
    for (start, end), count in names_in_brackets(text):
        if any(begin < end and stop > start for begin, stop in spans):
            continue
        before = [text[begin:stop] for begin, stop in spans if stop <= start and not text[stop:start].strip()]
        if all(not word.isdecimal() or int(word) == count for word in before):
            yield start, end
