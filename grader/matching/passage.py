"""An answer's text as tokens and sentences, with spellings folded and negations marked."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeAlias

Span: TypeAlias = tuple[int, int]
"""Where a part of a text begins, and where it has ended."""

LONGEST = 20_000
"""Characters of an answer that are matched."""
LONGEST_HEADING = 160
COPIED_TOKENS = 5
"""A sentence of at least so many tokens that stand in the question in this order is copied from it."""

STRUCK_TEXT = re.compile(r"~~(?s:.*?)(?:~~|\Z)|(?:\S[\u0335-\u0338])+")
"""What a writer struck out, as readers of documents mark it (of a mark that nothing closes, the rest), or
letter by letter with the strokes that Unicode has for it."""

_NO_SPACES = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1100, 0x11FF),
    (0x3040, 0x30FF),  # Japanese kana
    (0x3400, 0x9FFF),
    (0xAC00, 0xD7AF),  # Korean: its particles are joined to words
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)
"""Scripts in which no space ends a word: each character is a token."""
_LATIN_ENDS = 0x250
_END = re.compile(r"(?<![.!?;])[.!?;]++(?=\s|$)|[。！？；।]|\n")  # noqa: RUF001 - they end Chinese sentences
_ENDS_LINE = frozenset(".!?;。！？；|")  # noqa: RUF001 - they end Chinese sentences
_COLONS = re.compile("[:：\\t]")  # noqa: RUF001 - as above
_ASKS = frozenset("?？")  # noqa: RUF001 - as above
_MARKUP = " `*_\"'("
_LONGEST_MARKUP = 8
_HEADING = re.compile(r"[:：]\**[^\S\n]*$")  # noqa: RUF001 - as above
_CONTRACTED = re.compile(r"n['’]t\b", re.IGNORECASE)  # noqa: RUF001 - as word processors write it
_NEGATORS = frozenset(
    """
    not no never without cannot cant dont doesnt isnt arent wont neither nor none non nothing except excluding
    instead rather unlike wrong false incorrect nicht kein keine keinen keiner keines keinem ohne nie niemals
    weder falsch ausser außer ne pas sans aucun aucune jamais sin nunca tampoco ningun ninguna
    senza mai nao sem не нет без ни никогда नहीं नही बिना मत
    """.split()  # noqa: SIM905 - a list of words in seven languages
)
_NEGATING_SIGNS = frozenset("不没沒無无非未否勿")
_NEGATING_WORDS = ("ない", "ません", "なく", "않", "아니", "없", "ไม่")


@dataclass(frozen=True, slots=True)
class WordToken:
    """A word or a number; of scripts without spaces a character."""

    word: str
    """Folded: without case, accents and typographic variants."""
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, table row or list entry, with the headings above it."""

    start: int
    end: int
    first: int
    """The index of its first token."""
    last: int
    """The index behind its last token."""
    headings: tuple[int, ...] = ()
    """The indexes of sentences that end in a colon and stand above it, as above a list."""


class Passage:
    """A text in which criteria are looked for; `aside` are the spans that are no part of the answer."""

    def __init__(self, text: str, question: str = "", aside: Sequence[Span] = ()) -> None:
        self.text = text[:LONGEST]
        self._context = question, aside
        self.tokens = tuple(_tokens(self.text))
        self._starts = [token.start for token in self.tokens]
        self.sentences = tuple(_sentences(self.text, self._starts))
        self._sentence_starts = [sentence.start for sentence in self.sentences]
        question_words = [token.word for token in _tokens(question[:LONGEST])]
        copied = f" {' '.join(question_words)} "
        self.question_words = frozenset(question_words)
        self._excluded = [
            _is_copied(self, sentence, copied) or any(a <= sentence.start < b for a, b in aside)
            for sentence in self.sentences
        ]
        self._negators = tuple(_negators(self))
        self._questions = frozenset(
            index
            for index, s in enumerate(self.sentences)
            if self.text[s.start : s.end].rstrip()[-1:] in _ASKS
        )

    @cached_property
    def without_struck(self) -> Passage:
        """The passage with blanks in place of what its writer struck out; itself if nothing was."""
        text = STRUCK_TEXT.sub(lambda struck: re.sub(".", " ", struck[0]), self.text)
        return self if text == self.text else Passage(text, *self._context)

    def sentence_at(self, position: int) -> int:
        """Return the index of the sentence that a position lies in."""
        return max(0, bisect_right(self._sentence_starts, position) - 1)

    def counts(self, position: int) -> bool:
        """Tell whether a position lies in the answer, and not in a copied question or a page number."""
        return not self._excluded[self.sentence_at(position)]

    def scope(self, position: int) -> frozenset[int]:
        """Return the indexes of the sentence at a position and of the headings above it."""
        index = self.sentence_at(position)
        return frozenset({index, *self.sentences[index].headings})

    def negated(self, spans: Sequence[Span]) -> frozenset[int]:
        """Return the indexes of questions, and of sentences with a negation outside of the `spans`."""
        inside = {position for start, end in _merged(spans) for position in range(start, end)}
        negated = {self.sentence_at(start) for start, _ in self._negators if start not in inside}
        return self._questions | negated

    def words_before(self, position: int, count: int) -> frozenset[str]:
        """Return the last words before a position, of the same sentence."""
        index = bisect_left(self._starts, position)
        first = max(index - count, self.sentences[self.sentence_at(position)].first)
        return frozenset(token.word for token in self.tokens[first:index])

    def words_behind(self, position: int, count: int) -> frozenset[str]:
        """Return the first words at or behind a position, of the same sentence."""
        index = bisect_left(self._starts, position)
        last = min(index + count, self.sentences[self.sentence_at(max(0, position - 1))].last)
        return frozenset(token.word for token in self.tokens[index:last])


@lru_cache(maxsize=4096)
def fold(character: str) -> str:
    """Return a character without case and typographic variants; of a Latin letter without its accent."""
    plain = unicodedata.normalize("NFKD", character)
    if ord(plain[0]) < _LATIN_ENDS:
        plain = "".join(c for c in plain if not unicodedata.combining(c))
    else:
        plain = unicodedata.normalize("NFC", plain)
    return plain.casefold()


def words_of(text: str) -> tuple[str, ...]:
    """Return the folded tokens of a text."""
    return tuple(token.word for token in _tokens(text))


def _tokens(text: str) -> Iterator[WordToken]:
    start = 0
    parts: list[str] = []
    for index, character in enumerate(text):
        alone = _stands_alone(character)
        marks = parts and unicodedata.category(character).startswith("M")
        if parts and (alone or not (character.isalnum() or marks)):
            yield WordToken("".join(parts), start, index)
            parts = []
        if alone:
            yield WordToken(fold(character), index, index + 1)
        elif character.isalnum():
            if not parts:
                start = index
            parts.append(fold(character))
        elif marks and not unicodedata.combining(character):  # vowels of Indic scripts are marks
            parts.append(character)
    if parts:
        yield WordToken("".join(parts), start, len(text))


def _stands_alone(character: str) -> bool:
    code = ord(character)
    return code >= _NO_SPACES[0][0] and any(low <= code <= high for low, high in _NO_SPACES)


def _sentences(text: str, starts: list[int]) -> Iterator[Sentence]:
    begin = index = 0
    headings: tuple[int, ...] = ()
    ends = [match for match in _END.finditer(text) if not _wraps(text, match)]
    for end in [*(match.end() for match in ends), len(text)]:
        line = text[begin:end]
        if line.strip():
            yield Sentence(
                begin, end, bisect_right(starts, begin - 1), bisect_right(starts, end - 1), headings
            )
            if len(line) <= LONGEST_HEADING and _HEADING.search(line.rstrip()):
                headings = (index,)
            index += 1
        elif begin < end:
            headings = ()
        begin = end


def _wraps(text: str, end: re.Match[str]) -> bool:
    """Tell whether a line break stands within a sentence: before a word in small letters, without labels."""
    place = end.start()
    if end[0] != "\n" or not place or text[place - 1] in _ENDS_LINE or text[place - 1].isspace():
        return False
    following = text[end.end() : end.end() + _LONGEST_MARKUP].lstrip(_MARKUP)
    if not following or not following[0].islower():
        return False
    begins = text.rfind("\n", max(0, place - LONGEST_HEADING), place) + 1
    ends = text.find("\n", end.end(), end.end() + LONGEST_HEADING)
    return not _COLONS.search(text, begins, ends if ends >= 0 else end.end() + LONGEST_HEADING)


def _merged(spans: Sequence[Span]) -> Iterator[Span]:
    """Yield spans that do not overlap and cover the same positions."""
    end = 0
    for start, stop in sorted(spans):
        if stop > end:
            yield max(start, end), stop
            end = stop


def _is_copied(passage: Passage, sentence: Sentence, question: str) -> bool:
    words = [token.word for token in passage.tokens[sentence.first : sentence.last]]
    return len(words) >= COPIED_TOKENS and f" {' '.join(words)} " in question


def _negators(passage: Passage) -> Iterator[Span]:
    for token in passage.tokens:
        in_name = "_" in passage.text[token.end : token.end + 1]  # non_blocking
        if (token.word in _NEGATORS and not in_name) or token.word in _NEGATING_SIGNS:
            yield token.start, token.end
    for match in _CONTRACTED.finditer(passage.text):
        yield match.span()
    for word in _NEGATING_WORDS:
        at = passage.text.find(word)
        while at >= 0:
            yield at, at + len(word)
            at = passage.text.find(word, at + len(word))


FUNCTION_WORDS = frozenset(
    words_of(
        """
        a an the and or as by for from in into is are be has have of on that this these it its to with also
        both each either such respectively can may you we i they use uses using used call called so
        then answer eg
        und oder als auch für von im ist sind hat haben der die das ein eine einen mit man den dem zum
        zur wie etwa jeweils zb beispiel bzw antwort
        y o e el la los las un una de del en es son tiene tienen para con por como ejemplo
        también respectivamente
        et ou le les des du est sont ont pour avec aussi dans
        और या है हैं का के की को में से जैसे
        的 是 为 和 与 及 或 也 可 以 用 使 在 个 分 别 其 中 即 有 例 如 等
        """
    )
)
"""Words that change nothing of what stands beside them."""
