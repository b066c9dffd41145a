"""Numbers as reports write them: thousands, decimal commas, powers of ten, units of time, multiples."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_SECONDS = {"n": 1e-9, "u": 1e-6, "\u03bc": 1e-6, "mic": 1e-6, "ms": 1e-3, "mil": 1e-3, "min": 60.0, "s": 1.0}
"""By how the unit begins."""
_UNIT = (
    r"(?P<unit>ns|nanosec\w*|[u\u03bc]s(?:ec\w*)?|microsec\w*|ms(?:ecs?)?|millisec\w*|s|secs?|seconds?"
    r"|min|minutes?)(?![\w/])"
)
_NUMBER = re.compile(
    r"(?:(?<![\w.,])|(?<=\b[xX])|(?<=[\u00d7*]))"
    r"(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,])|\d+(?:[.,]\d+)?|\.\d+)"
    r"(?:[eE](?P<e>[-+]?\d{1,3})| ?[x\u00d7*\u22c5] ?10 ?\^? ?\{?(?P<ten>-\d{1,3})\}?)?(?!\d)"
    rf"\s?(?:{_UNIT}|(?P<suffix>[xX\u00d7](?!\w)(?! ?\d)|times\b|-?fold\b)|(?P<percent>%))?"
)
_MULTIPLE = re.compile(r"(?:^|[^\d\s])\s*[xX\u00d7*] ?$")
"""What stands before a multiple, as in `x56`, but not in `1000 x 1000`."""
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
    """Written as 56x, x56, 56 times or 56-fold."""
    whole: bool
    percent: bool


def numbers(text: str) -> Iterator[Number]:
    """Yield all numbers of a text, in its order."""
    comma_as_point = _COMMA_AS_POINT.search(text) and not _A_POINT.search(text)
    for match in _NUMBER.finditer(text):
        start, digits = match.start("digits"), match["digits"]
        thousands = digits.count(",") > 1 or (not comma_as_point and _THOUSANDS.fullmatch(digits))
        digits = digits.replace(",", "" if thousands else ".")
        exponent = int(match["e"] or match["ten"] or 0)
        scale = 10.0**exponent * (_seconds(match["unit"]) if match["unit"] else 1.0)
        decimals = len(digits.partition(".")[2])
        yield Number(
            start=start,
            end=match.start() + len(match[0].rstrip()),
            value=float(digits) * scale,
            half=0.5 * 10.0**-decimals * scale,
            timed=match["unit"] is not None,
            multiple=bool(match["suffix"] or _MULTIPLE.search(text[max(0, start - 6) : start])),
            whole=decimals == 0 and not exponent,
            percent=match["percent"] is not None,
        )


def _seconds(unit: str) -> float:
    return next(seconds for start, seconds in _SECONDS.items() if unit.startswith(start))
