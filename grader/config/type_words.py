"""Words for types and for wrong values, of which messages and the reference of options are made."""

from __future__ import annotations

import json
import re
import types
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, Union, get_args, get_origin

from grader.config.units import Duration, Quotient, Share

QUOTED = 60
"""Characters of a wrong value that a message repeats."""
_PLAIN: Mapping[Any, str] = {
    Any: "a value",
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    datetime: "a date and time with its offset from UTC, such as 2024-12-23T23:59:00+02:00",
    Duration: "a duration such as 20s, 15m, 1h30m or 3d",
    Share: "a percentage from 0% to 100%, such as 10%",
    Quotient: "a fraction such as 8/3",
}


def describe(kind: Any, above: float | None = None) -> str:
    """Describe the values of a type for a message, such as `a number > 0`."""
    if kind in _PLAIN:
        return _PLAIN[kind] + (f" > {above:g}" if above is not None and kind in (int, float) else "")
    if supertype := getattr(kind, "__supertype__", None):
        return describe(supertype, above)
    origin = get_origin(kind)
    if origin is Literal or is_choice(kind):
        return _either([str(value) for value in choices_of(kind)])
    if origin in (Union, types.UnionType):
        return _either([describe(member, above) for member in get_args(kind) if member is not type(None)])
    return "a list" if origin is tuple else "a mapping"


def quoted(value: Any) -> str:
    """Quote a wrong value for a message, shortened and on one line."""
    if value is None:
        return "nothing"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)
    return text if len(text) <= QUOTED else text[: QUOTED - 3] + "…"


def number_advice(text: str, kind: type) -> str:
    """Return how a number is written that stands in quotes, or with a decimal comma; or nothing."""
    plain = text.strip().replace(",", ".", 1)
    form = r"[+-]?[0-9]+" if kind is int else r"[+-]?[0-9]+(?:\.[0-9]+)?"
    if not re.fullmatch(form, plain):
        return ""
    return f"; write {plain}" + (", with a point" if "," in text else ", without quotes")


def is_choice(kind: Any) -> bool:
    """Tell whether a type is an enumeration of texts."""
    return isinstance(kind, type) and issubclass(kind, StrEnum)


def choices_of(kind: Any) -> tuple[Any, ...]:
    """Return the values that a `Literal` or an enumeration has."""
    return tuple(kind) if is_choice(kind) else get_args(kind)


def _either(words: list[str]) -> str:
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))
