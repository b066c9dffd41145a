"""Numbers as reports write them: thousands, decimal commas, powers of ten, units of time, multiples."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_WORDS_OF_UNITS = {
    1e-9: r"ns|nanosec\w*|nanosek\w*",
    1e-6: r"[u\u03bc]s(?:ec\w*)?|microsec\w*|mikrosek\w*|microsegundos?|מיקרושני\w*|мкс",
    1e-3: r"ms(?:ecs?)?|millisec\w*|millisek\w*|milisegundos?|מילי ?שני\w*|מילישני\w*|мс",
    1.0: r"s|secs?|seconds?|sek|sekunden?|secondes?|segundos?|שני\w*|שנ'|сек\w*",
    60.0: r"min|minutes?|minuten?|minutos?|דקות|мин\w*",
}
"""By how many seconds the unit has; in English, German, French, Spanish, Hebrew and Russian."""
_SIGNS_OF_UNITS = {1e-6: "微秒", 1e-3: "毫秒", 1.0: "秒", 60.0: "分钟"}
"""Of Chinese, where no space ends a word."""
_UNIT = (
    rf"(?P<unit>(?:{'|'.join(_WORDS_OF_UNITS.values())})(?![\w/])|(?:{'|'.join(_SIGNS_OF_UNITS.values())}))"
)
_COMPARED = (
    r"(?=[\s-]+(?:as|faster|slower|quicker|speed|improvement|better|shorter|smaller|longer|less|more|higher"
    r"|larger|bigger|greater|the|acceleration|so|schneller|langsamer|kürzer|länger|mehr|weniger|plus|moins"
    r"|más|menos))"
)
"""What stands behind `56 times` where it is no count, as of runs."""
_SUFFIX = (
    rf"[xX\u00d7](?!\w)(?! ?\d)|-?times{_COMPARED}|-?fold\b|-?mal{_COMPARED}|-?fache?[nrs]?\b|fois\b|veces\b"
    r"|раза?\b|倍"
)
_NUMBER = re.compile(
    r"(?:(?<![\w.,])|(?<=\b[xX])|(?<=[\u00d7*\u4e00-\u9fff]))"
    r"(?P<digits>(?:\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})+,\d{3})(?:\.\d+)?(?![\d,])|\d+(?:[.,]\d+)?|\.\d+)"
    r"(?:[eE](?P<e>[-+]?\d{1,3})"
    r"| ?[x\u00d7*\u22c5\u00b7] ?10 ?"
    r"(?:(?:\^|\*\*) ?[{(]?(?P<power>[-+]?\d{1,3})[})]?|(?P<ten>-\d{1,3})))?(?!\d)"
    rf"[\s-]?(?:(?i:{_UNIT})|(?P<suffix>{_SUFFIX})|(?P<percent>%))?"
)
_MULTIPLE = re.compile(
    r"(?:(?:^|[^\d\s])\s*(?<!\w)[xX\u00d7*]|פי"
    r"|\b(?:factor|faktor|facteur)(?: (?:of|by|von|de))?)[\s~\u2248-]{0,3}$",
    re.IGNORECASE,
)
"""What stands before a multiple, as in `x56` or "a factor of 56", but not in `1000 x 1000`."""
_LONGEST_BEFORE = 24
_VARIES = re.compile(r"(?:\u00b1|\+/?-)\s*$")
"""What stands before the spread of a time, as in `2.41 s ± 12 ms`."""
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_COMMA_AS_POINT = re.compile(r"(?<![\d.,])(?:0,\d|\d+,\d\d?(?![\d,]))")
_A_POINT = re.compile(r"\d\.\d")


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number and how it is written."""

    start: int
    """Of its first digit."""
    end: int
    """Behind its unit, if it has one."""
    value: float
    """In seconds where it has a unit of time."""
    half: float
    """Half a unit of its last digit: what rounding may have taken."""
    timed: bool
    multiple: bool
    """Written as 56x, x56, 56 times as fast, 56-fold or a factor of 56."""
    whole: bool
    percent: bool


def numbers(text: str) -> Iterator[Number]:
    """Yield all numbers of a text, in its order; the spread of a time is none of them."""
    comma_as_point = _COMMA_AS_POINT.search(text) and not _A_POINT.search(text)
    for match in _NUMBER.finditer(text):
        start, digits = match.start("digits"), match["digits"]
        before = text[max(0, start - _LONGEST_BEFORE) : start]
        if _VARIES.search(before):
            continue
        thousands = digits.count(",") > 1 or (not comma_as_point and _THOUSANDS.fullmatch(digits))
        digits = digits.replace(",", "" if thousands else ".")
        exponent = int(match["e"] or match["power"] or match["ten"] or 0)
        scale = 10.0**exponent * (seconds_of(match["unit"]) if match["unit"] else 1.0)
        decimals = len(digits.partition(".")[2])
        yield Number(
            start=start,
            end=match.start() + len(match[0].rstrip(" \n\t-")),
            value=float(digits) * scale,
            half=0.5 * 10.0**-decimals * scale,
            timed=match["unit"] is not None,
            multiple=bool(match["suffix"] or _MULTIPLE.search(before)),
            whole=decimals == 0 and not exponent,
            percent=match["percent"] is not None,
        )


def seconds_of(unit: str) -> float:
    """Return how many seconds a unit has."""
    for seconds, signs in _SIGNS_OF_UNITS.items():
        if unit == signs:
            return seconds
    return next(
        seconds for seconds, words in _WORDS_OF_UNITS.items() if re.fullmatch(words, unit, re.IGNORECASE)
    )
