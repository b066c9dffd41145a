"""Terms and their synonyms in a passage, however they are inflected, joined or accented."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import product

from grader.matching.passage import Passage, Span, fold, words_of

CODE = frozenset("().[]=:+*^#<>{},")
"""A term with one of these is looked for as it stands, without spaces."""
_JOINT = re.compile(r"[^\S\n]*\n?[^\S\n]*[-_‐‑–/*`'\"]{0,3}[^\S\n]*\n?[^\S\n]*")  # noqa: RUF001 - all join words
_LONGEST_JOINT = 12
_SHORT = 4
"""Words of fewer letters have no endings but a plural."""
_ENDINGS = ("", "s", "es", "e", "en", "n", "ern", "er", "ers", "em", "ed", "ing", "ly", "ion", "ions")
_E_ENDINGS = ("e", "es", "ed", "ing", "er", "ers", "en", "em", "ern", "ion", "ions", "ely")
_Y_ENDINGS = ("y", "ies", "ied", "ying", "ier", "iers", "ys")
_ADJECTIVES = ("", "s", "e", "en", "er", "em", "es", "n")
"""Endings of the words before the last one of a term."""
_LONG = 6
"""Words of more letters may be given with one of these endings."""
_VOWELS = frozenset("aeiou")
_LATIN_ENDS = "\u0250"
_STEM = 4
_FREE_ENDING = 3
"""Words of other alphabets may differ in so many last letters, behind a stem of four."""


def find_term(passage: Passage, synonyms: str) -> tuple[Span, ...]:
    """Return the spans at which one of `a|b` stands in the passage, copied questions left out."""
    spans = sorted({span for term in synonyms.split("|") for span in _find(passage, term.strip())})
    return tuple(span for span in spans if passage.counts(span[0]))


def sentences_with(passage: Passage, words: tuple[str, ...]) -> frozenset[int]:
    """Return the indexes of sentences in which one of the words stands."""
    return frozenset(
        passage.sentence_at(start)
        for synonyms in words
        for term in synonyms.split("|")
        for start, _ in _find(passage, term.strip())
    )


def _find(passage: Passage, term: str) -> Iterator[Span]:
    if not any(map(str.isalnum, term)):
        return
    if CODE & set(term):
        yield from _code(passage.text, term)
    else:
        yield from _words(passage, term)


def _words(passage: Passage, term: str) -> Iterator[Span]:
    """Join tokens until they are as long as the term: whether it is one word or two is a matter of taste."""
    words = words_of(term)
    if not words:
        return
    forms, beginnings, longest, stem = forms_of(words)
    tokens, text = passage.tokens, passage.text
    for index, token in enumerate(tokens):
        joined, end = "", token.start
        for following in tokens[index : index + longest]:
            if joined and not _joins(text, end, following.start):
                break
            joined += following.word
            end = following.end
            if not (joined in beginnings or (stem and stem.startswith(joined[:_STEM]))):
                break
            if joined in forms or (stem and _shares_stem(joined, stem)):
                yield token.start, end


def _joins(text: str, end: int, start: int) -> bool:
    return start - end <= _LONGEST_JOINT and _JOINT.fullmatch(text, end, start) is not None


@lru_cache(maxsize=1024)
def forms_of(words: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str], int, str]:
    """Return all spellings of a term, their beginnings, the length of the longest, and a term not in Latin.

    Words before the last one have the endings of adjectives only, and none in terms of four words.
    """
    *before, last = words
    plain = len(words) > 3 or not all(map(str.isalpha, words))
    heads = [(word,) if plain else _adjectives(word) for word in before]
    forms = frozenset("".join(parts) for parts in product(*heads, _inflected(last)))
    whole = "".join(words)
    other = len(words) == 1 and last[0].isalpha() and last[0] > _LATIN_ENDS and len(last) > _STEM
    longest = max(map(len, forms)) + (_FREE_ENDING if other else 0)
    beginnings = frozenset(form[:end] for form in forms for end in range(1, len(form) + 1))
    return forms, beginnings, longest, whole if other else ""


def _adjectives(word: str) -> tuple[str, ...]:
    bases = [
        word,
        *(word.removesuffix(e) for e in _ADJECTIVES[2:7] if word.endswith(e) and len(word) > _LONG),
    ]
    return tuple(dict.fromkeys(base + ending for base in bases for ending in _ADJECTIVES))


def _inflected(word: str) -> tuple[str, ...]:
    if not word.isalpha() or word[-1] > _LATIN_ENDS:
        return (word, f"{word}s") if word[-1:].isascii() and word.isalnum() and word[0].isalpha() else (word,)
    if len(word) < _SHORT:
        return word, f"{word}s"
    bases = {word}
    for ending, stands_for in (
        ("ies", "y"),
        ("es", ""),
        ("s", ""),
        ("ing", ""),
        ("ing", "e"),
        ("ed", ""),
        ("ed", "e"),
    ):
        base = word.removesuffix(ending) + stands_for
        if word.endswith(ending) and not word.endswith("ss") and len(base) >= _SHORT:
            bases.add(base)
    return tuple({form for base in bases for form in (base, *_forms(base))} | {word})


def _forms(base: str) -> Iterator[str]:
    stem, last = base[:-1], base[-1]
    if last == "y" and stem[-1] not in _VOWELS:
        yield from (stem + ending for ending in _Y_ENDINGS)
    elif last == "e":
        yield from (stem + ending for ending in _E_ENDINGS)
    else:
        yield from (base + ending for ending in _ENDINGS)
        if last not in _VOWELS and stem[-1] in _VOWELS:
            yield from (base + last + ending for ending in ("ed", "ing", "er"))


def _shares_stem(joined: str, term: str) -> bool:
    """Tell whether two words of an alphabet whose endings are not listed differ only in these."""
    stem = term[: max(_STEM, len(term) - 2)]
    return joined.startswith(stem) and len(joined) <= len(term) + _FREE_ENDING


def _code(text: str, term: str) -> Iterator[Span]:
    """Find a term with its brackets and operators; spaces and case make no difference.

    Behind the dot of a bare name, as `.to`, there is none: "That is all. To move it" does not have it.
    """
    squeezed = "".join(fold(c) for c in term if not c.isspace())
    parts = [(fold(c), index) for index, c in enumerate(text) if not c.isspace()]
    whole = "".join(part for part, _ in parts)
    places = [index for part, index in parts for _ in part]
    at = whole.find(squeezed) if squeezed else -1
    while at >= 0:
        start, end = places[at], places[at + len(squeezed) - 1] + 1
        cut_before = squeezed[0].isalnum() and start > 0 and _goes_on(text[start - 1])
        cut_dot = squeezed[0] == "." and squeezed[1:].isalnum() and text[start + 1].isspace()
        cut_behind = squeezed[-1].isalnum() and end < len(text) and _goes_on(text[end])
        if not (cut_before or cut_dot or cut_behind):
            yield start, end
        at = whole.find(squeezed, at + len(squeezed))


def _goes_on(character: str) -> bool:
    return character.isalnum() or character == "_"
