"""Words of an answer for which no criterion accounts: beside one of them no program decides."""

from __future__ import annotations

import re
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
    are of no account where no criterion asks for a number or a shape. What is called or looked up, as `f(` or
    `.f`, needs a match, or a term of `beside` that is code.
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
    return ""


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
        if all(not word.isdecimal() or int(word) == count for word in before):
            yield start, end
