"""The codec of the gradebook's rows: evidence in two compressed parts without fields at their default.

Reading it is most of the time of rescoring a class. So it is not checked again, texts for people are read
only where they are needed, and a `Quantity` is made when a check asks for it.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from operator import attrgetter
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

from grader.config.codec import FLOAT, loads, to_plain
from grader.config.decode import keys_of
from grader.model.observation import Observation, Quantity
from grader.model.score import Scorecard

T = TypeVar("T")
Read = Callable[[Any], Any]

TEXTS = ("called", "returned", "expected", "inputs")
"""Fields of a case for people alone: most of the bytes, and no built-in kind judges by them."""


def card_text(card: Scorecard) -> str:
    """Return a card as one line of JSON; equal cards give equal text."""
    return json.dumps(card, default=_plain, separators=(",", ":"), allow_nan=False)


def read_card(text: str) -> Scorecard:
    """Read what `card_text` wrote."""
    return revive(Scorecard, json.loads(text))


def split(observations: Mapping[str, Observation]) -> tuple[bytes, bytes]:
    """Return the judged and the shown part of observations, both compressed."""
    judged: dict[str, Any] = _terse(observations)
    shown: dict[str, Any] = {}
    for name, row in judged.items():
        cases = [{text: case.pop(text) for text in TEXTS if text in case} for case in row.get("cases", ())]
        shown[name] = {"output": row.pop("output", ""), "cases": cases}
    return _packed(judged), _packed(shown)


def join(judged: bytes, shown: bytes | None = None) -> dict[str, Observation]:
    """Read the observations of a row by item; without `shown` their texts are empty."""
    rows = _unpacked(judged)
    for name, texts in (_unpacked(shown) if shown is not None else {}).items():
        rows[name]["output"] = texts["output"]
        for case, more in zip(rows[name].get("cases", ()), texts["cases"], strict=True):
            case.update(more)
    return {name: revive(Observation, row) for name, row in rows.items()}


def revive(kind: type[T], data: Any) -> T:
    """Make a value of the model from plain data that was made of one; changes the data."""
    target: Any = kind
    value: T = (_reader(target) or target)(data)
    return value


class Quantities(Mapping[str, Quantity]):
    """Measured values by name, each made on access.

    `_quantity` stores a value, or a list of value, unit and taker where the latter are not the defaults.
    """

    __slots__ = ("_plain",)

    def __init__(self, plain: Mapping[str, Any]) -> None:
        self._plain = plain

    def __getitem__(self, name: str) -> Quantity:
        stored = self._plain[name]
        if not isinstance(stored, list):
            return Quantity(value=stored)
        value, unit, taken_by = stored
        return Quantity(value=value, unit=unit, taken_by=taken_by)

    def __iter__(self) -> Iterator[str]:
        return iter(self._plain)

    def __len__(self) -> int:
        return len(self._plain)


def _terse(value: Any) -> Any:
    """Return plain data without the fields that have their default."""
    if isinstance(value, Mapping):
        return {name: _terse(entry) for name, entry in value.items()}
    if isinstance(value, tuple):
        return [_terse(entry) for entry in value]
    if isinstance(value, Quantity):
        return _quantity(value)
    if not is_dataclass(value):
        return to_plain(value)
    entries = ((field, getattr(value, field.name)) for field in fields(value))
    return {field.name: _terse(entry) for field, entry in entries if entry != _default(field)}


def _quantity(quantity: Quantity) -> Any:
    value = to_plain(quantity.value)
    usual = quantity == Quantity(value=quantity.value)
    return value if usual else [value, quantity.unit, quantity.taken_by]


def _default(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _packed(value: Any) -> bytes:
    return zlib.compress(json.dumps(value, allow_nan=False, separators=(",", ":")).encode(), 6)


def _unpacked(packed: bytes) -> dict[str, Any]:
    text = zlib.decompress(packed)
    # looking for numbers that JSON lacks costs more than all the rest
    data: dict[str, Any] = loads(text) if FLOAT.encode() in text else json.loads(text)
    return data


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    kind: Any = type(value)
    names, get = _getter(kind)
    return dict(zip(names, get(value), strict=True))


@cache
def _getter(kind: Any) -> tuple[tuple[str, ...], Read]:
    names = tuple(field.name for field in fields(kind))
    return names, attrgetter(*names)


@cache
def _reader(kind: Any) -> Read | None:
    """Return a function that makes a value of a type; None if plain data is one already."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in _BY_TYPE:
        return _BY_TYPE[kind]
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return {str(member): member for member in kind}.__getitem__
    if origin is tuple:
        return _tuples(_reader(arguments[0]))
    if origin in {Union, UnionType}:
        return _optional([read for kind in arguments if (read := _reader(kind))])
    return _dataclasses(kind) if is_dataclass(kind) else None


def _tuples(read: Read | None) -> Read:
    return tuple if read is None else lambda data: tuple(map(read, data))


def _optional(readers: list[Read]) -> Read | None:
    if not readers:
        return None
    (read,) = readers
    return lambda data: None if data is None else read(data)


def _dataclasses(kind: Any) -> Read:
    parts = [(name, read) for name, key in keys_of(kind).items() if (read := _reader(key.kind))]

    def read_fields(data: Any) -> Any:
        for name, read in parts:
            if name in data:
                data[name] = read(data[name])
        return kind(**data)

    return read_fields


_BY_TYPE: dict[Any, Read] = {datetime: datetime.fromisoformat, Mapping[str, Quantity]: Quantities}
