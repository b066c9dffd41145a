"""The nouns as JSON and back, and digests over them."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from datetime import datetime, tzinfo
from enum import Enum
from functools import cache
from types import NoneType
from typing import Any, NoReturn, TypeVar

import msgspec

from grader.config.decode import decode
from grader.config.problem import KeyPath, Problem
from grader.errors import NotObservedError

T = TypeVar("T")

_DEEP = 32
"""Steps of a path to a value that a message names."""
_SORTED = msgspec.json.Encoder(order="sorted")

FLOAT = "$float"
"""JSON has no NaN and no infinity: they are written as a mapping with this key alone."""
SPECIAL = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


def to_plain(value: Any) -> Any:
    """Convert a value to plain JSON types: dictionaries, lists, text, finite numbers, booleans, None.

    Raises:
        TypeError: some part of it is of a type that is not kept.
    """
    return _writer(type(value))(value)  # type: ignore[arg-type] # classes are hashable


def dumps(value: Any) -> str:
    """Encode a value as one line of JSON in ASCII; equal values give equal text."""
    return dumps_plain(to_plain(value))


def dumps_plain(plain: Any) -> str:
    """Encode plain data, as `to_plain` returns them, as one line of JSON in ASCII."""
    return json.dumps(plain, allow_nan=False, sort_keys=True, separators=(",", ":"))


def loads(text: str | bytes) -> Any:
    """Plain data from JSON, NaN and infinities restored; ValueError if it is none."""
    marked = FLOAT in text if isinstance(text, str) else FLOAT.encode() in text
    try:
        return json.loads(text, object_hook=_restored if marked else None, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deep") from None


def digest(value: Any) -> str:
    """Return `sha256:…` over the JSON of a value."""
    return digest_bytes(dumps(value).encode())


def digest_bytes(content: bytes) -> str:
    """Return `sha256:…` over bytes."""
    return "sha256:" + hashlib.sha256(content).hexdigest()


def from_plain(kind: type[T], data: Any, *, where: str, advice: str = "") -> T:
    """Decode plain data to a value of `kind`; `where` names the file in messages, `advice` says what to do.

    Raises:
        NotObservedError: the data is not of this type, or a newer grader wrote it.
    """
    check_schema(kind, data, where=where)
    with suppress(ValueError, OverflowError, RecursionError):
        # faster, but it accepts unknown keys: where the value is not all of the data, it is decoded again
        value = msgspec.convert(data, kind)
        if _SORTED.encode(value) == _SORTED.encode(data):
            return value
    decoded, problems = decode(kind, data, finite=False)
    if decoded is None:
        raise NotObservedError(*(f"{where}: {problem}{advice and f'; {advice}'}" for problem in problems))
    return decoded


def unstorable(value: Any) -> str:
    """Return which part of a noun cannot be written and read again, and why; empty if all of it can."""
    try:
        plain = loads(dumps(value))
    except (TypeError, ValueError, RecursionError) as error:
        path, message = _unwritable(value, (), str(error))
        return str(Problem(path=path, message=message))
    try:
        from_plain(type(value), plain, where="")
    except NotObservedError as error:
        return error.problems[0].removeprefix(": ")
    return ""


def _unwritable(value: Any, path: KeyPath, message: str) -> tuple[KeyPath, str]:
    """Return the path of the innermost part that cannot be written, and what is wrong with it."""
    if is_dataclass(value):
        parts: Any = [(field.name, getattr(value, field.name)) for field in fields(value)]
    elif isinstance(value, Mapping):
        parts = value.items()
    else:
        parts = enumerate(value) if isinstance(value, list | tuple) and len(path) < _DEEP else ()
    for name, part in parts:
        try:
            dumps(part)
        except (TypeError, ValueError, RecursionError) as error:
            return _unwritable(part, (*path, name if isinstance(name, int) else str(name)), str(error))
    return path, message


def check_schema(kind: Any, data: Any, *, where: str) -> None:
    """Refuse data whose `schema` is not the one that the noun's default says.

    Raises:
        NotObservedError: a newer or an older grader wrote it.
    """
    reads: Any = next((f.default for f in fields(kind) if f.name == "schema"), None)
    written = data.get("schema", reads) if isinstance(data, Mapping) else reads
    if reads is None or written == reads:
        return
    newer = isinstance(written, int) and written > reads
    age, advice = ("newer", "update grader") if newer else ("older", "observe again")
    message = f"{where}: written by {'a' if newer else 'an'} {age} grader"
    raise NotObservedError(f"{message} (schema {written}, this one reads {reads}): {advice}")


@cache
def _writer(kind: type) -> Callable[[Any], Any]:
    """Return the function that makes values of a type plain."""
    for kinds, write in _WRITERS:
        if issubclass(kind, kinds):
            return write
    if not is_dataclass(kind):
        module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
        raise TypeError(f"a {module}{kind.__qualname__} cannot be written as JSON")
    names = [field.name for field in fields(kind)]
    return lambda value: {name: to_plain(getattr(value, name)) for name in names}


def _text(key: Any) -> str:
    if isinstance(key, str):
        return key
    raise TypeError(f"a key must be text to be written as JSON, got {key!r}")


def _restored(entries: dict[str, Any]) -> Any:
    name = entries.get(FLOAT)
    if len(entries) == 1 and isinstance(name, str):
        return SPECIAL.get(name, entries)
    return entries


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


_WRITERS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (Enum, lambda value: value.value),
    ((str, int, NoneType), lambda value: value),
    (float, lambda value: value if math.isfinite(value) else {FLOAT: repr(float(value))}),
    (Mapping, lambda value: {_text(key): to_plain(entry) for key, entry in value.items()}),
    ((list, tuple), lambda value: [to_plain(item) for item in value]),
    (datetime, datetime.isoformat),
    (tzinfo, str),
)
