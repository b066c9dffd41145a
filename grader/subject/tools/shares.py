"""Accuracies and shares of a time in the sentences of a report."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from .mentions import MATCHES
from .named_times import KEPT, written
from .numbers import Number, numbers
from .sentences import ENDS, hypothetical

FAR = 60
"""What stands further away from a number is not about it."""
LEAST_FRACTION = 0.05
"""Smaller decimal fractions beside the word are errors of rounding."""
_ACCURACY = re.compile(
    r"\b(?:accurac(?:y|ies)|genauigkeit|trefferquote|exactitude|précision|exactitud|точност\w*|doğruluk)\b|דיוק|准确率|準確率|正确率|精度",
    re.IGNORECASE,
)
_DIRECTLY = re.compile(
    r"(?:[\s:=|(\"'~\u2248\u4e3a]|\b(?:is|was|of|reaches|reached|ends?|at|the|final|test|set|on|training|after|epochs?|about|network|our"
    r"|ist|war|beträgt|liegt|bei|von|est|de|es|del?|составляет|равна)\b|היא|של|是|达到|为)*",
    re.IGNORECASE,
)
_DEMANDED = re.compile(
    r"\b(?:at least|above|over|more than|must|should|required?|requirement|asked|goal|target|mindestens"
    r"|gefordert\w*|über|plus de|más de|не менее|выше)\b|לפחות|מעל|至少|超过|>=?|\u2265",
    re.IGNORECASE,
)
_OF_ANOTHER = re.compile(
    r"\s*(?:of (?:the )?(?:baseline|first|that|reference)|higher|lower|more|better|less|worse|als|than)\b",
    re.IGNORECASE,
)
_OF_A_TIME = re.compile(
    r"(?:%|percent)[^.;\n]{0,30}\b(?:of|der|del?|du|от) (?:[\w-]+ ){0,4}?"
    r"(?:times?|runtime|run|duration|call|gesamtzeit|laufzeit|zeit|temps|tiempo|времени)\b"
    r"|时间|מהזמן|מזמן",
    re.IGNORECASE,
)
_COMPARES = re.compile(
    r"\b(?:faster|slower|speed-?ups?|than|less|more|accurac\w*|respectively|cores?|schneller|langsamer|als|plus|moins|más|menos|versus|vs)\b"
    r"|\b(?:T4|P100|V100|A100|H\d00|RTX|GTX|colab|laptop)\b|每|核",
    re.IGNORECASE,
)


def accuracies(text: str) -> list[list[Any]]:
    """Return each [value as a fraction, half a unit of its last digit, what is written, certain].

    It is certain where the number stands directly behind the word, and no demand does ("at least 95 %").
    """
    entries: dict[tuple[float, float], list[Any]] = {}
    for sentence in _sentences(text):
        words = [(m.start(), m.end()) for m in islice(_ACCURACY.finditer(sentence), MATCHES)]
        for number in numbers(sentence) if words else ():
            near = [(s, e) for s, e in words if number.start - FAR <= e and s <= number.end + FAR]
            if not near or not _may_be_accuracy(number) or _demanded(sentence, number):
                continue
            scale = 0.01 if number.percent or number.value > 1 else 1.0
            directly = any(
                e <= number.start and _DIRECTLY.fullmatch(sentence, e, number.start) for _, e in near
            )
            certain = directly and not hypothetical(sentence) and not _OF_ANOTHER.match(sentence, number.end)
            key = (number.value * scale, number.half * scale)
            entry = entries.setdefault(key, [*key, written(sentence, number), certain])
            entry[3] = entry[3] or certain
    return list(entries.values())[:KEPT]


def shares(text: str) -> list[list[Any]]:
    """Return for each sentence on shares of a time [[values in percent], the sentence, certain].

    It is certain that they are parts of one time where nothing is compared, neither machines nor programs.
    """
    groups = []
    for sentence in _sentences(text):
        if not _OF_A_TIME.search(sentence):
            continue
        values = [number.value for number in numbers(sentence) if number.percent]
        if values:
            certain = not hypothetical(sentence) and not _COMPARES.search(sentence)
            groups.append([values[:KEPT], " ".join(sentence.split())[:200], certain])
    return groups[:KEPT]


def _sentences(text: str) -> Iterator[str]:
    start = 0
    for match in ENDS.finditer(text):
        yield text[start : match.start()]
        start = match.end()
    yield text[start:]


def _may_be_accuracy(number: Number) -> bool:
    """Tell whether a number is a percentage, or a decimal fraction; 1, 2, 3 are epochs."""
    return not (number.timed or number.multiple) and (
        number.percent or (not number.whole and LEAST_FRACTION <= number.value <= 1)
    )


def _demanded(sentence: str, number: Number) -> bool:
    return _DEMANDED.search(sentence, max(0, number.start - FAR // 2), number.start) is not None
