"""How a returned value is nested: its parts beside what was expected, and its numbers as arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from grader.contracts.call import OpaqueValue
from grader.harness.render import describe, value_text
from grader.harness.tolerance import ACCEPTED, Precision
from grader.model.unused import UNUSED

Path = tuple[int | str, ...]

NUMERIC = frozenset("biufc")
"""Kinds of dtypes that hold numbers, True and False included."""

_SCALARS = (bool, int, float, complex, np.generic)
_TRUTH = frozenset({bool, np.bool_})


class Mismatch(Exception):
    """The structure of a value is not the expected one; the text is the sentence a student reads."""


def place(path: Path) -> str:
    """Where in a result: `item 2`, `item [2][0]`, and nothing for the result itself."""
    if len(path) == 1 and isinstance(path[0], int):
        return f"item {path[0]}"
    return "item " + "".join(f"[{value_text(step, limit=60)}]" for step in path) if path else ""


def named(path: Path) -> str:
    """The same as the beginning of a sentence."""
    return place(path) or "the result"


def _is(path: Path, what: str) -> str:
    return f"{place(path)} is {what}" if path else f"returned {what}"


def leaves(actual: Any, expected: Any, path: Path = ()) -> Iterator[tuple[Path, Any, Any]]:
    """Pair everything in `expected` that is no list, tuple or dict with its counterpart, in order.

    What is expected to be `UNUSED` is left out.

    Raises:
        Mismatch: lists, tuples and dicts are not nested alike.
    """
    if isinstance(expected, dict):
        yield from _dict_leaves(actual, expected, path)
    elif isinstance(expected, list | tuple):
        if not isinstance(actual, list | tuple):
            raise Mismatch(f"{_is(path, describe(actual))}; expected {describe(expected)}")
        if len(actual) != len(expected):
            has = f"{place(path)} has" if path else "returned"
            items = "1 item" if len(actual) == 1 else f"{len(actual)} items"
            raise Mismatch(f"{has} {items}, expected {len(expected)}")
        for index, value in enumerate(expected):
            yield from leaves(actual[index], value, (*path, index))
    elif expected is not UNUSED:
        yield path, actual, expected


def _dict_leaves(actual: Any, expected: dict[Any, Any], path: Path) -> Iterator[tuple[Path, Any, Any]]:
    if not isinstance(actual, dict):
        raise Mismatch(f"{_is(path, describe(actual))}; expected {describe(expected)}")
    for key in expected:
        if key not in actual:
            raise Mismatch(f"{named(path)} lacks the key {value_text(key, limit=60)}")
    for key in actual:
        if key not in expected:
            raise Mismatch(f"{named(path)} has a key that was not expected, {value_text(key, limit=60)}")
    for key, value in expected.items():
        yield from leaves(actual[key], value, (*path, key))


def array_of(value: Any, shape: tuple[int, ...], path: Path = ()) -> np.ndarray:
    """A returned value as a numeric array of the given shape.

    Arrays, numbers, and lists nested to exactly that shape (of numbers, or of arrays) are taken; nothing
    is broadcast or reshaped. Integers that fit no dtype come as an array of objects.

    Raises:
        Mismatch: it is something else.
    """
    form = f"an array of shape {shape}" if shape else "a single number"
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in NUMERIC:
            dtype = value_text(str(value.dtype), limit=40)
            raise Mismatch(f"{named(path)} has elements of dtype {dtype}; expected numbers")
        if value.shape != shape:
            # The common slip, a transposed matrix, reads best as one shape beside the other.
            raise Mismatch(
                f"{place(path)} has shape {value.shape} instead of {shape}"
                if path
                else f"returned an array of shape {value.shape}; expected {form}"
            )
        return value
    nested = isinstance(value, list | tuple)
    array = _nested(value, shape) if nested else _numbers([value], ())
    if array is None or array.shape != shape:
        what = value_text(value, limit=80) if nested else describe(value)
        tensor = isinstance(value, OpaqueValue) and value.type_name.endswith(".Tensor")
        advice = f"; give its {'.numpy(force=True)' if shape else '.item()'}" if tensor else ""
        raise Mismatch(f"{_is(path, what)}; expected {form}{advice}")
    return array


def refuse_coarse(value: Any, precision: Precision, path: Path = ()) -> None:
    """Look at the types of all floats in a returned value, those within lists one by one.

    Raises:
        Mismatch: one of them is coarser than `precision`.
    """
    if precision == "any":
        return
    if isinstance(value, list | tuple):
        for element in value:
            refuse_coarse(element, precision, path)
    elif isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "fc":
        bits = 8 * value.dtype.itemsize // (2 if value.dtype.kind == "c" else 1)
        if bits < int(precision.removeprefix("float")):
            raise Mismatch(
                f"{named(path)} has dtype {value.dtype.name}, which is too coarse; give {ACCEPTED[precision]}"
            )


def _nested(value: Any, shape: tuple[int, ...]) -> np.ndarray | None:
    # Level by level and only while lengths fit: how deep and how far this looks is bounded by the
    # expected shape, not by what the program returned.
    level: list[Any] = [value]
    for axis, length in enumerate(shape):
        if level and all(isinstance(part, np.ndarray) for part in level):
            fits = all(part.shape == shape[axis:] and part.dtype.kind in NUMERIC for part in level)
            return np.stack(level).reshape(shape) if fits else None
        if any(type(part) not in (list, tuple) or len(part) != length for part in level):
            return None
        level = [element for part in level for element in part]
    return _numbers(level, shape)


def _numbers(values: list[Any], shape: tuple[int, ...]) -> np.ndarray | None:
    if not values:
        return np.empty(shape)
    values = [value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value for value in values]
    kinds = {type(value) for value in values}
    if not all(issubclass(kind, _SCALARS) for kind in kinds) or (kinds & _TRUTH and not kinds <= _TRUTH):
        return None
    if kinds == {int} and max(value.bit_length() for value in values) > 63:
        return np.array(values, dtype=object).reshape(shape)
    try:
        array = np.array(values).reshape(shape)
        # Objects are integers beyond 64 bits among floats.
        array = array.astype(np.float64) if array.dtype.kind == "O" else array
    except (OverflowError, TypeError, ValueError):
        return None
    return array if array.dtype.kind in NUMERIC else None
