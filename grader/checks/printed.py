"""Numbers that a program prints, by the text around them: its own claims."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import isfinite

from grader.model.observation import Quantity

NUMBER = r"([-+]?(?:\d{1,400}(?:\.\d{0,400})?|\.\d{1,400})(?:[eE][-+]?\d{1,400})?)"
"""Of bounded length: a program could print digits and spaces that take for ever to search."""
_SPACES = r"\s{1,400}+"
PLACE = "{}"
CLAIM = "subject"
"""What a program prints is what it claims; it is not measured by us."""


def unread(numbers: Mapping[str, str], *bounds: Mapping[str, float]) -> Iterator[str]:
    """Yield the key and the mistake of texts without a place for the number, and of bounds on no number."""
    for name in dict.fromkeys(name for bound in bounds for name in bound):
        if name not in numbers:
            yield f"{name}: is not among the numbers; say in `numbers` where it is printed"
    for name, text in numbers.items():
        if text.count(PLACE) != 1:
            yield f"numbers.{name}: must hold {PLACE} once, where the number is printed"


def impossible_bounds(
    at_least: Mapping[str, float], at_most: Mapping[str, float]
) -> Iterator[tuple[str, str]]:
    """Yield the key and a sentence for each number that no value can keep the bounds of."""
    for name, least in at_least.items():
        if not isfinite(least):
            yield "at_least", f"{name}: must be a number, got {least}"
        elif least > at_most.get(name, least):
            yield "at_least", f"{name}: must not exceed its at_most, {at_most[name]:g}, got {least:g}"
    for name, most in at_most.items():
        if not isfinite(most):
            yield "at_most", f"{name}: must be a number, got {most}"


def last_number(text: str, output: str) -> float | None:
    """The number that stands at the place of `{}` where the output holds this text for the last time."""
    parts = (map(re.escape, part.split(" ")) for part in re.sub(r" +", " ", text).split(PLACE))
    before, after = map(_SPACES.join, parts)
    before += f"(?:{_SPACES})?" if before and not before.endswith(_SPACES) else ""
    after = f"(?:{_SPACES})?{after}" if after and not after.startswith(_SPACES) else after
    numbers = re.findall(before + NUMBER + after, output)
    return float(numbers[-1]) if numbers else None


def spelled_numbers(numbers: Mapping[str, str], quantities: Mapping[str, Quantity]) -> Iterator[str]:
    """Yield each number with its name; a whole one as `0`, whatever the program printed behind the point."""
    for name in numbers:
        value = quantities[name].value
        yield f"{name} {value:.12g}" if isinstance(value, float) else f"{name} {value}"


def beyond(
    numbers: Mapping[str, str],
    values: Mapping[str, object],
    at_least: Mapping[str, float],
    at_most: Mapping[str, float],
) -> Iterator[str]:
    """Yield a clause for each number that is missing or out of bounds."""
    for name, text in numbers.items():
        value = values[name]
        if not isinstance(value, float):
            yield f"printed no number of the form “{text.replace(PLACE, '…')}”"
            continue
        if value < at_least.get(name, value):
            yield f"{name} is {value:g}, less than {at_least[name]:g}"
        if value > at_most.get(name, value):
            yield f"{name} is {value:g}, more than {at_most[name]:g}"
