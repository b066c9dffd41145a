"""Decodes plain data to frozen dataclasses and collects all errors in one pass."""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from grader.config.problem import KeyPath, Problem, closest, suggestion
from grader.config.type_words import QUOTED, choices_of, describe, is_choice, number_advice, quoted
from grader.config.units import Duration, Quotient, Share, parse_duration, parse_quotient, parse_share
from grader.model.options import problems_of, required

T = TypeVar("T")
Reader = Callable[[Any, KeyPath, "DecodeState"], Any]
Maker = Callable[[Any, float | None], Reader]

_IMPOSSIBLE = re.compile(r"is out of range|must be in|^has no ")
"""What is said of a day or a time that does not exist, such as 30 February, and of one without its offset."""
_IN_MAPPINGS: Mapping[Any, str] = {int: "1", Mapping: "{NAME: …}"}
"""Values of a mapping that a message gives as an example, by type."""
_IN_EXAMPLE = 3
"""Keys of a mapping that a message gives as an example."""
INVALID: Any = object()
"""The result of a reader that has reported an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedNames:
    """The names that a `NewType` of `str` may take."""

    what: str
    """The noun for `no … is called "x"`."""
    names: frozenset[str]
    advice: Callable[[str], str | None] = lambda _: None
    """Returns, for a name that is there and may not be taken, the reason and what to do."""
    absent: Callable[[str], str] = lambda _: ""
    """Returns which file is missing, for a name of no file; one line tells it for all names of that file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeState:
    """Names, rules and problems that the readers of one piece of data share."""

    allowed: Mapping[Any, AllowedNames] = field(default_factory=dict)
    """Allowed names by `NewType`; a type without an entry takes any text."""
    finite: bool = True
    """Whether numbers must be finite."""
    problems: list[Problem] = field(default_factory=list)
    advise: Callable[[KeyPath], str] = field(default=lambda path: "")
    """Returns what to do about an unknown key that resembles no other; empty for the usual advice."""
    examples: dict[KeyPath, str] = field(default_factory=dict)
    """What to write by path of a key, where its type alone does not tell."""

    def wrong(self, path: KeyPath, message: str, *, once: bool = False) -> Any:
        """Report a problem; with `once` the first line with this message tells it for all paths."""
        self.problems.append(Problem(path=path, message=message, once=once))
        return INVALID

    def refused(self, path: KeyPath, error: ValueError) -> None:
        """Report every problem of values that a `__post_init__` refuses."""
        for message in problems_of(error):
            self.wrong(path, message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One key of a mapping."""

    kind: Any
    required: bool
    above: float | None = None
    doc: str = ""
    example: str = ""


def decode(
    kind: type[T], data: Any, *, allowed: Mapping[Any, AllowedNames] | None = None, finite: bool = True
) -> tuple[T | None, tuple[Problem, ...]]:
    """Return a value of a type, or None and all problems of the data."""
    reading = DecodeState(allowed=allowed or {}, finite=finite)
    target: Any = kind
    value = reader(target, None)(data, (), reading)
    return (None if reading.problems else value), tuple(reading.problems)


@cache
def keys_of(kind: Any) -> Mapping[str, Key]:
    """Return the keys that a dataclass accepts, in its order."""
    hints = get_type_hints(kind)
    return {
        f.name: Key(
            kind=hints[f.name],
            required=required(f),
            above=f.metadata.get("above"),
            doc=f.metadata.get("doc", ""),
            example=f.metadata.get("example", ""),
        )
        for f in fields(kind)
    }


def read_keys(keys: Mapping[str, Key], data: Any, path: KeyPath, reading: DecodeState) -> dict[str, Any]:
    """Return the valid values of a mapping by key; unknown, missing and wrong ones are reported."""
    if not isinstance(data, Mapping):
        reading.wrong(path, f"must be a mapping, got {quoted(data)}")
        return {}
    meant = {closest(key, keys) for key in data if key not in keys}
    for key in data:
        if key not in keys:
            special = "" if closest(key, keys) else reading.advise((*path, key))
            reading.wrong((*path, key), f"unknown key; {special or suggestion(key, keys, data)}")
    values = {}
    for name, key in keys.items():
        if name in data:
            if key.example:
                reading.examples[*path, name] = f"; write it as in {key.example}"
            value = reader(key.kind, key.above)(data[name], (*path, name), reading)
            if value is not INVALID:
                values[name] = value
        elif key.required and name not in meant:
            reading.wrong((*path, name), f"missing; give {describe(key.kind, key.above)}")
    return values


@cache
def reader(kind: Any, above: float | None) -> Reader:
    """Return the function that converts plain data to a value of a type; `above` bounds numbers from below.

    Raises:
        TypeError: there is no plain data for values of this type.
    """
    make = _BY_TYPE.get(kind) or _BY_ORIGIN.get(get_origin(kind))
    for applies, candidate in _BY_TRAIT:
        if make is None and applies(kind):
            make = candidate
    if make is None:
        raise TypeError(f"{kind} cannot be read from plain data")
    return make(kind, above)


def _anything_reader(kind: Any, above: float | None) -> Reader:
    return lambda data, path, reading: data


def _text_reader(kind: Any, above: float | None) -> Reader:
    parse = _PARSERS[kind]

    def read(data: Any, path: KeyPath, reading: DecodeState) -> Any:
        try:
            return parse(data)
        except (ValueError, OverflowError) as error:
            why = f" ({error})" if _IMPOSSIBLE.search(str(error)) else ""
            return reading.wrong(path, f"must be {describe(kind)}, got {quoted(data)}{why}")

    return read


def _moment(data: Any) -> datetime:
    if not isinstance(data, str):
        raise ValueError("not text")  # noqa: TRY004 - every parser says ValueError
    moment = datetime.fromisoformat(data)
    if moment.tzinfo is None:
        raise ValueError("has no offset" if ":" in data else "has no time and no offset")
    return moment


def _number_reader(kind: Any, above: float | None) -> Reader:
    def read(data: Any, path: KeyPath, reading: DecodeState) -> Any:
        number = isinstance(data, int if kind is int else int | float) and not isinstance(data, bool)
        if not number or (above is not None and not data > above):
            advice = number_advice(data, kind) if isinstance(data, str) else ""
            return reading.wrong(path, f"must be {describe(kind, above)}, got {quoted(data)}{advice}")
        try:
            value = kind(data)
        except OverflowError:
            value = float("inf")
        if reading.finite and value - value != 0:
            return reading.wrong(path, f"must be a finite number, got {quoted(data)}")
        return value

    return read


def _exact_reader(kind: Any, above: float | None) -> Reader:
    def read(data: Any, path: KeyPath, reading: DecodeState) -> Any:
        if isinstance(data, kind):
            return data
        advice = "; put it in quotes" if kind is str and isinstance(data, int | float) else ""
        return reading.wrong(path, f"must be {describe(kind)}, got {quoted(data)}{advice}")

    return read


def _name_reader(kind: Any, above: float | None) -> Reader:
    read_supertype = reader(kind.__supertype__, above)

    def read(data: Any, path: KeyPath, reading: DecodeState) -> Any:
        value = read_supertype(data, path, reading)
        allowed = reading.allowed.get(kind)
        if value is INVALID or allowed is None or value in allowed.names:
            return value
        if message := allowed.absent(value):
            return reading.wrong(path, message, once=True)
        advice = allowed.advice(value) or suggestion(value, allowed.names)
        message = f"no {allowed.what} is called {quoted(value)}; {advice}"
        return reading.wrong(path, message)

    return read


def _choice_reader(kind: Any, above: float | None) -> Reader:
    choices = choices_of(kind)

    def read(data: Any, path: KeyPath, reading: DecodeState) -> Any:
        for choice in choices:
            if data == choice and isinstance(data, bool) == isinstance(choice, bool):
                return choice
        return reading.wrong(path, f"must be {describe(kind)}, got {quoted(data)}")

    return read


def _union_reader(kind: Any, above: float | None) -> Reader:
    members = get_args(kind)
    readers = [reader(member, above) for member in members if member is not type(None)]

    def read(data: Any, path: KeyPath, reading: DecodeState) -> Any:
        if data is None and type(None) in members:
            return None
        if above is None and type(data) in members and (not isinstance(data, float) or not reading.finite):
            return data
        if len(readers) == 1:
            return readers[0](data, path, reading)
        for attempt in readers:
            trial = DecodeState(allowed=reading.allowed, finite=reading.finite)
            value = attempt(data, path, trial)
            if not trial.problems:
                return value
        return reading.wrong(path, f"must be {describe(kind, above)}, got {quoted(data)}")

    return read


def _tuple_reader(kind: Any, above: float | None) -> Reader:
    item, *more = get_args(kind)
    if more != [Ellipsis]:
        raise TypeError(f"{kind} cannot be read from plain data; only tuple[T, ...] can")
    read_item = reader(item, above)

    def read(data: Any, path: KeyPath, reading: DecodeState) -> Any:
        if not isinstance(data, list):
            short = isinstance(data, str | int | float) and len(str(data)) <= QUOTED
            advice = reading.examples.get(path, f"; write [{data}]" if short else "")
            return reading.wrong(path, f"must be a list, got {quoted(data)}{advice}")
        items = tuple(read_item(item, (*path, index), reading) for index, item in enumerate(data))
        return INVALID if any(entry is INVALID for entry in items) else items

    return read


def _mapping_reader(kind: Any, above: float | None) -> Reader:
    key, value = get_args(kind)
    if key is not str:
        raise TypeError(f"{kind} cannot be read from plain data; its keys must be text")
    read_value = reader(value, above)
    inner = _example(value) if is_dataclass(value) else _IN_MAPPINGS.get(get_origin(value) or value, "…")

    def read(data: Any, path: KeyPath, reading: DecodeState) -> Any:
        if not isinstance(data, Mapping):
            name = data if isinstance(data, str) and data.isidentifier() else "NAME"
            advice = reading.examples.get(path, f"; write {{{name}: {inner}}}")
            return reading.wrong(path, f"must be a mapping, got {quoted(data)}{advice}")
        entries = {name: read_value(entry, (*path, name), reading) for name, entry in data.items()}
        return INVALID if any(entry is INVALID for entry in entries.values()) else entries

    return read


def _dataclass_reader(kind: Any, above: float | None) -> Reader:
    keys = keys_of(kind)

    def read(data: Any, path: KeyPath, reading: DecodeState) -> Any:
        before = len(reading.problems)
        if not isinstance(data, Mapping) and path:
            return reading.wrong(path, f"must be a mapping, got {quoted(data)}; write {_example(kind)}")
        values = read_keys(keys, data, path, reading)
        if len(reading.problems) > before:
            return INVALID
        try:
            return kind(**values)
        except ValueError as error:  # of its __post_init__
            reading.refused(path, error)
            return INVALID

    return read


def _example(kind: Any) -> str:
    """Return how a mapping for a dataclass is written: `{rtol: …, atol: …}`."""
    names = list(keys_of(kind))
    more = ", …" if len(names) > _IN_EXAMPLE else ""
    return f"{{{', '.join(f'{name}: …' for name in names[:_IN_EXAMPLE])}{more}}}"


_PARSERS: Mapping[Any, Callable[[Any], Any]] = {
    Duration: parse_duration,
    Share: parse_share,
    Quotient: parse_quotient,
    datetime: _moment,
}
_BY_TYPE: Mapping[Any, Maker] = {
    Any: _anything_reader,
    str: _exact_reader,
    bool: _exact_reader,
    int: _number_reader,
    float: _number_reader,
    **dict.fromkeys(_PARSERS, _text_reader),
}
_BY_ORIGIN: Mapping[Any, Maker] = {
    Literal: _choice_reader,
    Union: _union_reader,
    types.UnionType: _union_reader,
    tuple: _tuple_reader,
    Mapping: _mapping_reader,
}
_BY_TRAIT: tuple[tuple[Callable[[Any], bool], Maker], ...] = (
    (lambda kind: hasattr(kind, "__supertype__"), _name_reader),
    (is_choice, _choice_reader),
    (is_dataclass, _dataclass_reader),
)
