"""Words of an answer for which no criterion accounts: beside one of them no program decides."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from grader.matching.criteria import Criterion
from grader.matching.passage import FUNCTION_WORDS, Passage, Span, words_of
from grader.matching.terms import CODE, find_term

_BRACKETS = re.compile(r"[(\[{<]([^()\[\]{}<>]{1,200})[)\]}>]")
_ENTRIES = re.compile(r"\s*[,;x×*、，]\s*")  # noqa: RUF001 - crosses and Chinese commas
_LONGEST_ENTRY = 3
_MARKER = re.compile(r"(?m)^[^\S\n]{0,20}(?:[-*•][^\S\n]{1,3})?\(?(?:\d{1,3}|[a-z])[.):](?=\s)")
_WORTH = re.compile(r"[\[(]?\b\d{1,3}[^\S\n]?(?:pts?|points?|Punkte?|分|puntos?)\b[\])]?", re.IGNORECASE)
"""What a copied question is worth."""
_FIRST_NUMBER = re.compile(r"\d{1,9}(?!\d)")
_LONGEST_SHOWN = 40
_ARROWS = re.compile(r"[-=\u2013\u2014]+>|<[-=\u2013\u2014]+(?!\d)")
_EMPTY_SIGNS = frozenset("=|`$\u2192\u21d2\u279c\u27a1\u00b4")
"""Symbols that separate or set off, and say nothing of what stands beside them."""
_BULLETS = frozenset("\u25cf\u25cb\u25a0\u25a1\u25aa\u25ab\u25e6\u25c6\u25c7\u25b6\u25ba\u27a2\u27a4\u2756")
_OVERLAY = 1
"""The class of combining marks that strike through a letter."""
_SPEAKING_SIGNS = re.compile(r"[!\u00a1%@\u203d\u2030\uff01\u2020\u2021]|/=")
"""Punctuation that says something: `!x`, `/=`, `50 %`."""


def names_in_brackets(text: str, start: int = 0) -> Iterator[tuple[Span, int]]:
    """Yield the lists of short names in brackets, as `(samples, steps, features)`, and how many they are."""
    for match in _BRACKETS.finditer(text, start):
        entries = _ENTRIES.split(match[1].strip())
        if len(entries) > 1 and all(1 <= len(words_of(entry)) <= _LONGEST_ENTRY for entry in entries):
            yield match.span(), len(entries)


def unaccounted(
    passage: Passage, spans: Sequence[Span], criteria: Sequence[Criterion], beside: Sequence[str]
) -> str:
    """Return the first word, number or sign for which nothing accounts; empty if there is none.

    Accounted for are the matched `spans`, the words that criteria ask for as company, those of `beside`,
    function words, numbers of list entries, lists of names in brackets behind a number that counts them, and
    sentences without a match that have words of the question alone, as a copy over two lines leaves. Numbers
    are of no account where no criterion asks for a number or a shape. What is called or looked up, as `f(` or
    `.f`, needs a match, or a term of `beside` that is code. Signs are of no account if they only separate;
    others, as those of `≠ 3`, `3 + 1`, `~3` and a cross behind an answer, change what it says.
    """
    counted = any(c.match and (c.match.number or c.match.shape) for c in criteria)
    near = tuple(words for criterion in criteria if criterion.match for words in criterion.match.near)
    terms = [term for words in beside for term in words.split("|")]
    code = _places((*spans, *_spans(passage, (term for term in terms if CODE & set(term)))))
    plain = code | _places(_spans(passage, (*near, *terms)))
    signs = (match.span() for sign in (_MARKER, _WORTH) for match in sign.finditer(passage.text))
    lists = _counting_lists(passage.text, spans) if any(c.match and c.match.number for c in criteria) else ()
    plain |= _places((*signs, *lists, *_question_alone(passage, spans)))
    for token in passage.tokens:
        named = _is_named(passage.text, token.start, token.end)
        if not passage.counts(token.start) or (token.word in FUNCTION_WORDS and not named):
            continue
        if token.word.isdecimal() and not counted:
            continue
        if not (code if named else plain).issuperset(range(token.start, token.end)):
            return passage.text[token.start : min(token.end, token.start + _LONGEST_SHOWN)]
    return next(
        (sign for start, sign in _signs(passage.text) if start not in plain and passage.counts(start)), ""
    )


def _signs(text: str) -> Iterator[tuple[int, str]]:
    """Yield the signs that say something, and where they stand."""
    for match in _SPEAKING_SIGNS.finditer(text):
        yield match.start(), match[0]
    arrows = _places(match.span() for match in _ARROWS.finditer(text))
    for place, sign in enumerate(text):
        symbol = unicodedata.category(sign)[0] == "S" and sign not in _EMPTY_SIGNS | _BULLETS
        if (symbol or unicodedata.combining(sign) == _OVERLAY) and place not in arrows:
            yield place, sign


def _spans(passage: Passage, terms: Iterable[str]) -> Iterator[Span]:
    return (span for synonyms in terms for span in find_term(passage, synonyms))


def _places(spans: Iterable[Span]) -> set[int]:
    return {place for start, end in spans for place in range(start, end)}


def _is_named(text: str, start: int, end: int) -> bool:
    """Tell whether a word is called or looked up in something, as `f(` and `.f` are."""
    return text[start].isalpha() and (text[end : end + 1] == "(" or text[start - 1 : start] == ".")


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
        numbers = [int(number[0]) for word in before if (number := _FIRST_NUMBER.match(word))]
        if all(number == count for number in numbers):
            yield start, end
