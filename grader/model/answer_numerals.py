"""Numbers of questions that are not written in digits: `iv.`, `④`, `四、`, `Question four`."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from grader.model.answer_labels import ANSWER_WORDS, LABEL_CHARACTERS, QUESTION_WORDS, behind_lead

ENGLISH = tuple(
    """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty
    """.split()  # noqa: SIM905 - a list of words
)
HAN = "一二三四五六七八九"
LEAST_IN_PART = 3
"""So many lines of one part, as 1.1, 1.2 and 1.3, number questions and no chapters."""

LEAST_IN_LINE = 4
"""So many numbers in order, from 1 on, within one line begin answers."""

_IN_LINE = re.compile(
    rf"(?:(?<=\s)|^)(?:(?:{QUESTION_WORDS}|{ANSWER_WORDS})\s?\.?\s?#?)?\(?(?P<number>\d{{1,2}})\s?[.):](?=\s)",
    re.IGNORECASE,
)
_ROMAN = r"x{0,2}(?:ix|iv|v?i{0,3})"
_NUMERALS = re.compile(
    rf"""
    (?P<keyword> (?:{QUESTION_WORDS}|{ANSWER_WORDS}) \s? \.? \s? (?:no\.?|number)? \s? [#(]? \s? )
        (?: (?P<roman> (?=[ivx]) {_ROMAN} ) | (?P<english> {"|".join(reversed(ENGLISH))} )
          | (?P<han> [{HAN}十]{{1,3}} ) ) (?= [\s.):,|\u9898-] | $ )
    | (?P<open> [(\uff08]? ) (?: (?P<bare_roman> (?=[ivx]) {_ROMAN} ) | (?P<bare_han> [{HAN}十]{{1,3}} ) )
        (?= \s? [.):\u3001\uff0e\uff09\uff1a] )
    | (?P<sign> [\u2460-\u249b\u24eb-\u24f4\u2776-\u2793] ) [.):]?
    | p \d{{1,2}} [\s._-]? (?P<in_part> q \s? \d{{1,2}} )
    | (?: \# | \u2116 | n[\u00b0\u00ba]\.? | nr\.? | no\.? ) \s? (?P<number> \d{{1,2}} ) (?= \s )
    | (?P<spaced> \d{{1,2}} ) (?= [^\S\n]+ [^\W\d] )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_DOTTED = re.compile(r"\s*(?P<part>\d{1,2})\.(?P<number>\d{1,2})[.):]?(?=\s)")


def lines_in_digits(lines: Sequence[str]) -> list[str]:
    """Return lines with the numbers at their beginnings in digits, as `4. ` for `iv) `, `④ ` and `1.4 `.

    It takes more for a number than should be in a text that numbers its answers in usual ways.
    """
    dotted = [_DOTTED.match(line[:LABEL_CHARACTERS]) for line in lines]
    parts = Counter(match["part"] for match in dotted if match)
    part = next((part for part, count in parts.most_common(1) if count >= LEAST_IN_PART), "")
    return [
        f"{match['number']}. {line[match.end() :]}" if match and match["part"] == part else _in_digits(line)
        for line, match in zip(lines, dotted, strict=True)
    ]


def parts_of_line(line: str) -> list[str]:
    """Split a line that holds many answers before their numbers; return it alone if it does not."""
    starts: list[int] = []
    for match in _IN_LINE.finditer(line):
        if int(match["number"]) == len(starts) + 1:
            starts.append(match.start())
    if len(starts) < LEAST_IN_LINE:
        return [line]
    ends = [*starts[1:], len(line)]
    head = [line[: starts[0]]] if line[: starts[0]].strip() else []
    return [*head, *(line[start:end] for start, end in zip(starts, ends, strict=True))]


def _in_digits(line: str) -> str:
    start = behind_lead(line)
    match = _NUMERALS.match(line, start) or _NUMERALS.match(line)
    if match is None:
        return line
    rest = line[match.end() :]
    if match["in_part"]:
        return f"{match['in_part']}{rest}"
    if sign := match["sign"]:
        return f"{unicodedata.numeric(sign):.0f}. {rest}"
    if digits := match["number"] or match["spaced"]:
        return f"{digits}. {rest}"
    roman, han = match["roman"] or match["bare_roman"], match["han"] or match["bare_han"]
    if roman:
        number = _roman(roman.lower())
    else:
        number = _han(han) if han else ENGLISH.index(match["english"].lower()) + 1
    return f"{match['keyword'] or match['open'] or ''}{number}{rest}"


def _roman(numeral: str) -> int:
    values = ["ivx".index(letter) for letter in numeral]
    worth = [(1, 5, 10)[value] for value in values]
    return sum(
        -one if place + 1 < len(worth) and one < worth[place + 1] else one for place, one in enumerate(worth)
    )


def _han(numeral: str) -> int:
    tens, ten, ones = numeral.rpartition("十")
    return 10 * (HAN.find(tens) + 1 or 1) * bool(ten) + (HAN.find(ones[:1]) + 1 if ones else 0)
