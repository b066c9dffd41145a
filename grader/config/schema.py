"""The JSON Schema of rubric files, from the same dataclasses, so that editors complete and explain."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, Union, get_args, get_origin

from grader.config.decode import Key, keys_of
from grader.config.rubric_keys import DEVICES, SCHEMA, ItemKeys, RubricKeys, item_keys
from grader.config.units import DURATION, QUOTIENT, SHARE, Duration, Quotient, Share
from grader.contracts.check import CheckKind

SIMPLE: Mapping[Any, dict[str, Any]] = {
    Any: {},
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    type(None): {"type": "null"},
    datetime: {"type": "string", "format": "date-time"},
    Duration: {"type": "string", "pattern": f"^{DURATION}$"},
    Share: {"type": "string", "pattern": f"^{SHARE}$"},
    Quotient: {"type": "string", "pattern": f"^{QUOTIENT}$"},
}


def rubric_schema(kinds: Mapping[str, CheckKind]) -> dict[str, Any]:
    """Return the schema (draft 2020-12) of a rubric whose checks may be of these kinds.

    It accepts what `load_rubric` accepts, but does not check names of functions, sums, and references between
    items.
    """
    schema = _mapping(keys_of(RubricKeys))
    schema["properties"]["schema"] = {**schema["properties"]["schema"], "const": SCHEMA}
    schema["properties"]["items"] = {**schema["properties"]["items"], "items": _item(kinds)}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Rubric",
        **schema,
    }


def _item(kinds: Mapping[str, CheckKind]) -> dict[str, Any]:
    """Return the schema of an item: the common keys, and those of its check, selected by `check`."""
    schema = _mapping(keys_of(ItemKeys))
    del schema["additionalProperties"]
    schema["properties"]["check"] = {
        "description": "The kind of check.",
        "oneOf": [{"const": name, "description": _first_line(kind)} for name, kind in sorted(kinds.items())],
    }
    schema["properties"]["points"]["minimum"] = 0
    schema["properties"]["id"]["pattern"] = "^[a-z0-9_.-]+$"
    schema["properties"]["devices"]["propertyNames"] = {"enum": sorted(DEVICES)}
    schema["properties"]["devices"]["additionalProperties"]["minimum"] = 1
    schema["not"] = {
        "properties": {"bonus": {"const": True}, "penalty": {"const": True}},
        "required": ["bonus", "penalty"],
    }
    schema["allOf"] = [
        {
            "if": {"properties": {"check": {"const": name}}, "required": ["check"]},
            "then": _options(kind),
        }
        for name, kind in sorted(kinds.items())
    ]
    return schema


def _options(kind: CheckKind) -> dict[str, Any]:
    """Return the schema of a kind's options; it repeats the common keys, because no others are allowed."""
    schema = _mapping(item_keys(kind))
    common = keys_of(ItemKeys)
    schema["properties"] = {
        name: True if name in common else accepted for name, accepted in schema["properties"].items()
    }
    schema["required"] = [name for name in schema["required"] if name not in common]
    return schema


def _mapping(keys: Mapping[str, Key]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: _key(key) for name, key in keys.items()},
        "required": [name for name, key in keys.items() if key.required],
        "additionalProperties": False,
    }


def _key(key: Key) -> dict[str, Any]:
    return {**({"description": key.doc} if key.doc else {}), **_kind(key.kind, key.above)}


def _kind(kind: Any, above: float | None) -> dict[str, Any]:
    """Return the schema of the values that the decoder takes for a type."""
    if kind in SIMPLE:
        bounded = above is not None and kind in (int, float)
        return {**SIMPLE[kind], **({"exclusiveMinimum": above} if bounded else {})}
    if supertype := getattr(kind, "__supertype__", None):
        return _kind(supertype, above)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return {"enum": [str(member) for member in kind]}
    if isinstance(kind, type):
        return _mapping(keys_of(kind))
    return _GENERIC[get_origin(kind)](get_args(kind), above)


def _any_of(members: Any, above: float | None) -> dict[str, Any]:
    return {"anyOf": [_kind(member, above) for member in members]}


_GENERIC: Mapping[Any, Callable[[Any, float | None], dict[str, Any]]] = {
    Literal: lambda choices, _: {"enum": list(choices)},
    Union: _any_of,
    types.UnionType: _any_of,
    tuple: lambda arguments, above: {"type": "array", "items": _kind(arguments[0], above)},
    Mapping: lambda arguments, above: {
        "type": "object",
        "additionalProperties": _kind(arguments[1], above),
    },
}


def _first_line(kind: CheckKind) -> str:
    return (kind.__doc__ or "").strip().partition("\n")[0]
