"""Numbers in a passage, with their units, in digits and in words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from grader.matching.passage import FUNCTION_WORDS, Passage, words_of
from grader.matching.units import is_unit_word, unit_named

_NUMBER = re.compile(
    r"(?<![0-9A-Za-z_\u00c0-\u024f.,])(?P<sign>(?<![\w)])[-−])?"  # noqa: RUF001 - typographers' minus
    r"(?P<core>\d{1,40}(?:[.,]\d{1,40}){0,12}|[.,]\d{1,40})"
    r"(?:[eE](?P<e>[-+]?\d{1,3})(?!\w)|[^\S\n]?[x×*·][^\S\n]?10(?:\^|\*\*)\{?(?P<power>[-+−]?\d{1,3})(?!\d)\}?)?"  # noqa: RUF001 - as people write
)
_UNIT = re.compile(r"[^\S\n]{0,2}[-‐‑]?[^\S\n]?(?P<unit>%|[^\W\d_]{1,20}(?:/s)?)")  # noqa: RUF001 - all join words
_MARKER = re.compile(r"[^\S\n]{0,20}[-*•]?[^\S\n]?\(?(?P<number>\d{1,3})[.):](?=[^\S\n]{1,20}\S)")
"""The number of a list entry, at the beginning of a line; one alone that is not 1 may be what is meant."""
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b(?:[- ](?P<unit>order|degree|rank)\b)?", re.IGNORECASE)
"""Behind digits; the 3rd is no number, and 3rd-order is one."""
_BOUNDS = frozenset("<>≤≥±")
_POWERS = frozenset("^!+‰°²³¹⁰⁴⁵⁶⁷⁸⁹½¼¾")
_COMPARED = frozenset(
    """
    less fewer more greater larger smaller over under below above than most least minus plus exceeding up
    weniger mehr grosser größer kleiner hochstens höchstens mindestens uber über unter menos mas más moins
    """.split()  # noqa: SIM905 - a list of words
)
_COMPARED_BEHIND = frozenset({"more", "fewer", "less", "minus", "plus", "mehr", "weniger", "times", "mal"})
_LABELS = frozenset(
    """
    page seite p question frage q part task aufgabe exercise chapter section figure fig table
    """.split()  # noqa: SIM905 - a list of words
)
_NAMES = """
    0 zero null
    2 two zwei deux dos due
    3 three drei trois tres tre
    4 four vier quatre cuatro quattro
    5 five fünf funf fuenf cinq cinco cinque
    6 six sechs seis sei
    7 seven sieben sept siete sette
    8 eight acht huit ocho otto
    9 nine neun neuf nueve nove
    10 ten zehn dix diez dieci
    11 eleven elf onze once
    12 twelve zwölf zwolf zwoelf douze doce
    13 thirteen dreizehn treize trece
    14 fourteen vierzehn
    15 fifteen fünfzehn funfzehn quinze quince
    16 sixteen sechzehn seize
    17 seventeen siebzehn
    18 eighteen achtzehn
    19 nineteen neunzehn
    20 twenty zwanzig vingt veinte venti
"""
_WORDS: Mapping[str, int] = {
    name: int(value) for value, *names in map(str.split, _NAMES.strip().splitlines()) for name in names
}
_ONE = frozenset({"one", "ein", "eine", "eins", "un", "une", "uno", "una", "一"})
_NO_UNITS = frozenset((word,) for word in FUNCTION_WORDS)
_SIGNS = {sign: value for value, sign in enumerate("〇一二三四五六七八九十")}


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenNumber:
    """A number in a text."""

    values: frozenset[float]
    """What it may be; several where a comma or a dot can be read in two ways."""
    unit: str
    """The word or sign behind it; empty for none."""
    start: int
    end: int
    unit_end: int
    qualified: bool = False
    """Whether it is a bound, a reference in brackets, a power or the like, and not surely meant."""

    def agrees(self, value: float, tolerance: float) -> bool | None:
        """Tell whether it is this value; None if only one of its readings is."""
        readings = [math.isclose(v, value, rel_tol=max(tolerance, 1e-9), abs_tol=1e-12) for v in self.values]
        return True if all(readings) else None if any(readings) else False


def numbers_in(passage: Passage, unit: str = "") -> Iterator[WrittenNumber]:
    """Yield the numbers of an answer in order, without those of list entries, pages and copied questions.

    A word of a number and one of `unit`, a|b for either, may be joined to one word.
    """
    numbers = [*_digits(passage), *_words(passage), *(_joined(passage, unit) if unit else ())]
    yield from (n for n in sorted(numbers, key=lambda n: n.start) if passage.counts(n.start))


def in_unit(number: WrittenNumber, unit: str) -> WrittenNumber | None:
    """Return a number in the basic unit of `unit`; None if it has none, or one of another kind."""
    unit_meant, unit_written = unit_named(unit), unit_named(number.unit)
    if unit_meant is None or unit_written is None or unit_meant.dimension != unit_written.dimension:
        return None
    values = frozenset(value * factor for value in number.values for factor in unit_written.factors)
    return replace(number, values=values, end=number.unit_end)


def _digits(passage: Passage) -> Iterator[WrittenNumber]:
    text = passage.text
    begin_lines = [*re.finditer(rf"(?m)^{_MARKER.pattern}", text)]
    is_list = len(begin_lines) > 1 or any(int(m["number"]) == 1 for m in begin_lines)
    markers = {m.end() for m in begin_lines} if is_list else set[int]()
    alone = {m.end() for m in begin_lines} - markers
    labelled = {token.end for token in passage.tokens if token.word in _LABELS}
    for match in _NUMBER.finditer(text):
        before = len(text[max(0, match.start() - 3) : match.start()].rstrip(" .#:("))
        before += max(0, match.start() - 3)
        if before in labelled or any(end in markers for end in range(match.end(), match.end() + 2)):
            continue
        ordinal = _ORDINAL.match(text, match.end())
        if ordinal and not ordinal["unit"]:
            continue
        for values in _readings(match):
            number = _written(passage, values, match.start(), match.end())
            if any(end in alone for end in range(match.end(), match.end() + 2)):
                number = replace(number, qualified=True)
            yield replace(number, unit=ordinal["unit"], unit_end=ordinal.end()) if ordinal else number


def _written(passage: Passage, values: frozenset[float], start: int, end: int) -> WrittenNumber:
    unit = _UNIT.match(passage.text, end)
    if unit and words_of(unit["unit"])[:1] in _NO_UNITS:
        unit = None
    return WrittenNumber(
        values=values,
        unit=unit["unit"] if unit else "",
        start=start,
        end=end,
        unit_end=unit.end() if unit else end,
        qualified=_is_qualified(passage, start, end),
    )


def _is_qualified(passage: Passage, start: int, end: int) -> bool:
    text = passage.text
    before, behind = text[max(0, start - 3) : start].rstrip(), text[end : end + 3]
    reference = before.endswith("[") and behind.startswith("]") and len(text.strip()) > end - start + 2
    arrow = before.endswith(("->", "=>"))
    signs = (before[-1:] in _BOUNDS and not arrow) or behind[:1] in _POWERS
    before_it, behind_it = passage.words_before(start, 4), passage.words_behind(end, 3)
    return reference or signs or bool(before_it & _COMPARED or behind_it & _COMPARED_BEHIND)


def _readings(match: re.Match[str]) -> Iterator[frozenset[float]]:
    """Yield what each number of a match may be: `3,4,5` are three, and `1,000` is one or a thousand."""
    core = match["core"]
    exponent = int((match["e"] or match["power"] or "0").replace("−", "-"))  # noqa: RUF001 - typographers' minus
    sign = -1.0 if match["sign"] else 1.0
    separators = [c for c in core if c in ".,"]
    parts = re.split("[.,]", core)
    if not separators:
        texts = [{core}]
    elif len(separators) == 1:
        texts = [{core.replace(",", ".")}]
        if len(parts[1]) == 3 and 0 < len(parts[0]) <= 3 and parts[0] != "0":
            texts[0].add("".join(parts))
        elif separators == [","] and parts[0]:
            texts[0] |= set(parts)  # two numbers, or one as it is written in much of Europe
    elif all(len(part) == 3 for part in parts[1:]) and len(parts[0]) <= 3 and len(set(separators)) == 1:
        texts = [{"".join(parts)}]
    elif len(set(separators[:-1])) == 1 and separators[-1] != separators[0]:
        texts = [{f"{''.join(parts[:-1])}.{parts[-1]}"}]
    else:
        texts = [{part} for part in parts]
    for readings in texts:
        yield frozenset(_scaled(sign * float(reading), exponent) for reading in readings)


def _scaled(value: float, exponent: int) -> float:
    try:
        return float(value * 10.0**exponent)
    except OverflowError:
        return math.inf


def _words(passage: Passage) -> Iterator[WrittenNumber]:
    for token in passage.tokens:
        value = _WORDS.get(token.word, 1 if token.word in _ONE else _SIGNS.get(token.word))
        if value is None:
            continue
        yield _written(passage, frozenset({float(value)}), token.start, token.end)


def _joined(passage: Passage, unit: str) -> Iterator[WrittenNumber]:
    """Yield words as dreidimensional."""
    for token in passage.tokens:
        for name, value in _WORDS.items():
            rest = token.word.removeprefix(name)
            if rest != token.word and rest.isalpha() and is_unit_word(rest, unit):
                number = _written(passage, frozenset({float(value)}), token.start, token.end)
                yield replace(number, unit=rest, unit_end=token.end)


def is_article(passage: Passage, number: WrittenNumber) -> bool:
    """Tell whether a number in words may be an article or a pronoun, as `one` is."""
    return passage.text[number.start : number.end].casefold() in _ONE
