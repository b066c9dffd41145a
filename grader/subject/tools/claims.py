"""Ratios that a report claims, and between which two functions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any

from .mentions import MATCHES, Mention, mentions, phrase
from .named_times import BEFORE, BEHIND, KEPT, distinct, numbers_in_units, written
from .numbers import Number, numbers
from .sentences import ENDS

FEW = 16
FAR = 300
"""What stands further away from a number in its sentence is not about it."""
Times = Mapping[str, Sequence[Sequence[Any]]]

_DEMANDS = re.compile(
    r"\b(?:at[ -]least|minimum|minimal|requires?|required|requirements?|threshold|must|should|asks?|asked"
    r"|demand(?:s|ed)?|wants?|wanted|need(?:s|ed)?|goal|target|could|would|expect(?:s|ed)?|ideal(?:ly)?"
    r"|theoretical(?:ly)?|theory|up to"
    r"|mindestens|gefordert\w*|verlangt\w*|sollte|könnte|würde|erwart\w*)\b|>=|\u2265|לפחות",
    re.IGNORECASE,
)
_DEMANDED_BEHIND = re.compile(
    r"[^\d.;]{0,40}\b(?:(?:was|is|were|are|as) (?:required|asked|demanded|expected|needed))", re.IGNORECASE
)
_NOT_OF_WHOLE_CALLS = re.compile(
    r"kernel|without|exclud|ohne|laptop|another|other machine|colab|first call|compil|warm|cores?\b"
    r"|threads?\b",
    re.IGNORECASE,
)
"""What a sentence on another ratio than that of the two functions' times may hold."""
_BOUND = re.compile(
    r"(?:exceeds?|over|above|(?:more|larger|greater|better) than|über|mehr als|מעל|יותר מ-?|>)"
    r"\W{0,4}(?:an? |of |factor |speed-?up |by |x){0,3}$",
    re.IGNORECASE,
)
_ROUGHLY = re.compile(
    r"(?:about|approx(?:imately|\.)?|around|roughly|nearly|almost|some|circa|ca\.|etwa|rund|ungefähr|fast|knapp"
    r"|environ|presque|casi|unos|כ-?|בערך|כמעט|约|около|примерно|[~\u2248\u223c])"
    r"\W{0,3}(?:an? |of |the |factor |speed-?up |by |x){0,4}$",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(?:fig(?:ure)?|table|section|part|question|page|hw)\W{0,3}$", re.IGNORECASE)
_COUNTED = re.compile(
    r"(?:(?:,| and| or|, and) ?\d+)*"  # all of `2, 4 and 8 cores`
    r"[^\w\n]{0,2}(?:cores?|threads?|blocks?|cpus?|gpus?|rounds?|runs?|rows?|columns?|elements"
    r"|[x\u00d7] ?\d)",
    re.IGNORECASE,
)
_THINGS = re.compile(r"\W{0,2}(?:threads?|blocks?|rows?|columns?|elements|matri\w+|pixels?)\b", re.IGNORECASE)
_ENUMERATED = re.compile(r"(?<![^\n])[^\S\n]*\d{1,2}[.)]\s")
"""A number that a heading or an entry of a list begins with."""
_ENDED = re.compile(r"[^\W\d_][^\W\d_][.;!?]\s+$|\d ?\w{0,8}[.;!?]\s+$")
_DIRECTLY = re.compile(r"[^\d%]{0,80}")
_VERSUS = re.compile(r"\s*(?:/|:|vs\.?|versus|over|to|against|gegen|zu|and|,)\s*", re.IGNORECASE)
_IS = re.compile(r"[\s:=\u2248~()x\u00d7-]*(?:is|was|=)?[\s:=\u2248~()x\u00d7-]*", re.IGNORECASE)
_THAN = re.compile(
    r"\b(?:than|over|vs\.?|versus|as fast as|as|compared (?:to|with)|relative to|against|als|wie|gegenüber"
    r"|gegen|que)"
    r"(?: the| that of| der| die| das| zu)?\W*$|מ-?\W*$",
    re.IGNORECASE,
)
"""What stands before the function that another is compared with."""
_DIVIDED = re.compile(r"\s*[/÷]\s*")
_EQUALS = re.compile(r"[\s)]*[=\u2248~]+\s*")
_SLASH = re.compile(r"\s*(?:/|vs\.?|:)\s*$", re.IGNORECASE)


@dataclass(slots=True, kw_only=True)
class _Sentence:
    start: int
    end: int
    names: list[Mention] = field(default_factory=list)
    numbers: list[Number] = field(default_factory=list)


def claims(text: str, words: str, taken: Times) -> list[list[Any]]:
    """Return ratios near some words, or written as multiples beside the names of functions.

    Each is [value, half a unit of the last digit, written as a multiple, text, names, certain, about]. It is
    certain that it is a ratio of the two `names` where it says so of itself, and no other name stands near;
    `about` is "roughly" or "over" where the value is not meant exactly. Times are none, and no counts of
    things; a demand ("at least 40") is no claim.
    """
    times_taken = {(entry[0], entry[1]) for entries in taken.values() for entry in entries}
    of_times = {n.start for n in numbers_in_units(text) if (n.value, n.half) in times_taken}
    headings = {match.end() - 2 for match in _ENUMERATED.finditer(text)}
    places = [(m.start(), m.end()) for m in islice(phrase(words).finditer(text), MATCHES)]
    bases = _tables(text, words, tuple(taken))
    ratios = []
    for sentence in _sentences(text, tuple(taken)):
        for index, number in enumerate(sentence.numbers):
            before = text[max(sentence.start, number.start - 40) : number.start]
            if number.timed or number.percent or number.value in (0, 1) or number.end in headings:
                continue
            if _NUMBERED.search(before) or _demanded(text, sentence, number):
                continue
            names, certain = _compared(text, sentence, index, taken)
            multiple = number.multiple and not _THINGS.match(text, number.end)
            counted = number.start in of_times or _COUNTED.match(text, number.end)
            near = any(start - BEFORE <= number.start and number.end <= end + BEHIND for start, end in places)
            says_so = multiple or (not counted and _says_so(text, sentence, index, places))
            if number.start in bases:
                names, certain, says_so = bases[number.start], len(bases[number.start]) == 2, True
            if (
                (multiple and (near or sentence.names))
                or says_so
                or (near and not counted and not _is_small(number))
            ):
                roughly = "over" if _BOUND.search(before) else "roughly" if _ROUGHLY.search(before) else ""
                certain = (
                    certain
                    and says_so
                    and not _NOT_OF_WHOLE_CALLS.search(
                        text, max(sentence.start, number.start - FAR), _end_of_line(text, number.end)
                    )
                )
                entry = [number.value, number.half, multiple, written(text, number)]
                ratios.append([*entry, sorted(names), certain, roughly])
    return distinct(sorted(ratios, key=lambda ratio: not ratio[5]))


def _sentences(text: str, names: Sequence[str]) -> Iterator[_Sentence]:
    """Yield sentences and entries of lists; a line that begins with a name begins one as well."""
    every = mentions(text, names)
    ends = {match.end() for match in ENDS.finditer(text)}
    for mention in every:
        line = text.rfind("\n", 0, mention.start) + 1
        if not text[line : mention.start].strip(" \t|*[]-\u2022"):
            ends.add(line)
        elif _ENDED.search(text, max(line, mention.start - FAR), mention.start):
            ends.add(mention.start)
    bounds = sorted({0, *ends, len(text)})
    sentences = [_Sentence(start=start, end=end) for start, end in pairwise(bounds)]
    for kind, parts in (("names", every), ("numbers", numbers(text))):
        at = 0
        for part in parts:
            while at < len(sentences) - 1 and part.start >= sentences[at].end:
                at += 1
            getattr(sentences[at], kind).append(part)
    yield from sentences


def _end_of_line(text: str, place: int) -> int:
    end = text.find("\n", place)
    return len(text) if end < 0 else end


def _demanded(text: str, sentence: _Sentence, number: Number) -> bool:
    """Tell whether the clause in front of a number says what is asked for, not what is."""
    before = text[max(sentence.start, number.start - BEFORE) : number.start]
    clause = re.split(r"[;:]|, (?:and|but|our|we)\b", before)[-1]
    return bool(_DEMANDS.search(clause) or _DEMANDED_BEHIND.match(text, number.end))


def _says_so(text: str, sentence: _Sentence, index: int, places: Sequence[tuple[int, int]]) -> bool:
    """Tell whether a number is called a ratio: right behind the word, `a / b: 56`, or `1.2 / 0.02 = 60`."""
    number = sentence.numbers[index]
    if _quotient(text, sentence, index):
        return True
    called = [
        end
        for start, end in places
        if max(sentence.start, number.start - FAR) <= start and end <= number.start
    ]
    if any(_DIRECTLY.fullmatch(text, end, number.start) for end in called):
        return True
    names = [name for name in sentence.names if number.start - FAR < name.end <= number.start]
    if not names or not _IS.fullmatch(text, names[-1].end, number.start):
        return False
    if called and _stands_behind(_THAN, text, sentence, names[-1]):  # `…, that over max_numba is 1.4`
        return True
    divided = len(names) > 1 and _SLASH.search(text, names[-2].end, names[-1].start)
    return bool(divided and _VERSUS.fullmatch(text, names[-2].end, names[-1].start))


def _quotient(text: str, sentence: _Sentence, index: int) -> tuple[Number, Number] | None:
    """Return the numbers whose division is written in front of a number."""
    if index < 2:
        return None
    above, below, result = sentence.numbers[index - 2 : index + 1]
    divided = _DIVIDED.fullmatch(text, above.end, below.start)
    equals = _EQUALS.fullmatch(text, below.end, result.start)
    return (above, below) if divided and equals else None


def _compared(text: str, sentence: _Sentence, index: int, taken: Times) -> tuple[tuple[str, ...], bool]:
    """Return the two functions that a number compares, and whether no others can be meant."""
    if quotient := _quotient(text, sentence, index):
        above, below = (_name_of(part, taken) for part in quotient)
        return tuple(filter(None, (above, below))), bool(above and below and above != below)
    number = sentence.numbers[index]
    names = [name for name in sentence.names if abs(name.start - number.start) < FAR]
    since = sentence.numbers[index - 1].end if index else sentence.start
    until = sentence.numbers[index + 1].start if index + 1 < len(sentence.numbers) else sentence.end
    before = [name for name in names if since <= name.start < number.start]
    behind = [name for name in names if number.end <= name.start < until]
    if len(_names(before)) == 2:
        return _names(before), True
    bases = [name for name in names if _stands_behind(_THAN, text, sentence, name)]
    others = [name for name in names if name not in bases]
    base = _nearest(bases, behind, before)
    other = _nearest(others, before, behind) if base else ()
    if len(base) == 1 and len(other) == 1 and base != other:
        return (*base, *other), True
    if not before and len(_names(behind)) == 2:
        return _names(behind), index == 0
    return _names([*before, *behind])[:2], False


def _stands_behind(words: re.Pattern[str], text: str, sentence: _Sentence, name: Mention) -> bool:
    return words.search(text, max(sentence.start, name.start - BEFORE), name.start) is not None


def _nearest(names: Sequence[Mention], *places: Sequence[Mention]) -> tuple[str, ...]:
    """Return those of the names that stand at the first place which has any, or all of them."""
    for place in places:
        if near := _names(name for name in names if name in place):
            return near
    return _names(names)


def _names(found: Iterator[Mention] | Sequence[Mention]) -> tuple[str, ...]:
    return _names_of(mention.name for mention in found)


def _is_small(number: Number) -> bool:
    """Tell whether a number may count cores or questions."""
    return number.whole and number.value <= FEW


def _names_of(names: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _name_of(number: Number, taken: Times) -> str:
    """Return whose time a number is, if it is that of one name alone."""
    names = [
        name
        for name, entries in taken.items()
        if any(abs(entry[0] - number.value) <= 1e-9 * number.value for entry in entries)
    ]
    return names[0] if len(names) == 1 else ""


def _tables(text: str, words: str, names: Sequence[str]) -> dict[int, tuple[str, ...]]:
    """Return by place the cells of a last column of ratios, with the name of the row and that of the base.

    The base is named in the head ("Speedup over max_cpu"), or is the row that has 1 there.
    """
    cells: dict[int, tuple[str, ...]] = {}
    place = 0
    lines = text.splitlines(keepends=True)
    for index, line in enumerate(lines):
        place += len(line)
        match = list(phrase(words).finditer(line))
        if not match or any(map(str.isdigit, line)):
            continue
        bases = _names(mention for mention in mentions(line, names) if mention.start > match[-1].start())
        others = line[match[-1].end() :]
        if len(others.split()) > 6:
            continue
        rows: list[tuple[str, Number, int]] = []
        start = place
        for row in lines[index + 1 : index + 1 + KEPT]:
            if not any(map(str.isalnum, row)) and row.strip():  # the line below a head in Markdown
                start += len(row)
                continue
            in_row, of_row = mentions(row, names), list(numbers(row))
            if len(_names(in_row)) != 1 or len(of_row) < 2 or in_row[0].start > of_row[0].start:
                break
            rows.append((in_row[0].name, of_row[-1], start))
            start += len(row)
        ones = [name for name, number, _ in rows if number.value == 1]
        base = bases if len(bases) == 1 else tuple(ones) if len(ones) == 1 else ()
        for name, number, at in rows:
            cells[at + number.start] = _names_of((name, *base))
    return cells
