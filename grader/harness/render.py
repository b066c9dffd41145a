"""Values as a person reads them and as evidence keeps them."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import numpy as np

from grader.contracts.call import InputCase, OpaqueValue

WHOLE = 64
"""Arrays and sequences of up to this many elements are kept and shown whole."""
LINE = 240
"""Characters of a value, or of each argument of a call, in one line."""
LONGER = 2_000
"""Characters of the longer form: 64 floats take 1,200 at most."""
EDGES = (3, 1)
"""How many elements a shortened array shows at each end of an axis: as many as the line has room for."""
DEPTH = 6
"""Containers nested deeper than this are shown as an ellipsis."""

_USUAL = frozenset({"float64", "int64", "bool", "complex128"})
_FLOATS = (float, np.floating)
_ADDRESS = re.compile(r" at 0x[0-9a-f]+(?=>)")
"""Of an object, as Python writes it where its class does not."""
_OWNERS = re.compile(r"(?<=<function )(?:(?:\w+|<locals>)\.)+|(?<=<)(?:(?:\w+|<locals>)\.)+(?=\w+ object>)")
"""The modules, classes and functions before the name of a function, or of an object's class."""
_Container = list[Any] | tuple[Any, ...] | dict[str, Any]
_BRACKETS: tuple[tuple[Any, str, str], ...] = ((list, "[", "]"), (tuple, "(", ")"), (dict, "{", "}"))


def call_text(function: str, case: InputCase, *, limit: int = LINE) -> str:
    """The call as Python source would write it, about `limit` characters for each argument."""
    return _call(function, case, lambda value: value_text(value, limit=limit))


def called_texts(function: str, case: InputCase) -> dict[str, Any]:
    """The fields of a `Case` that show a call: `called`, with a longer form if it shortens small arrays."""
    called, longer = call_text(function, case), _call(function, case, _longer_text)
    return {"called": called, "longer": {"called": longer} if longer != called else {}}


def case_texts(*, at: Sequence[Any] = (), **values: Any) -> dict[str, Any]:
    """The fields of a `Case` that show values, such as `returned`, with longer forms as for a call."""
    short = {name: value_text(value, at=at) for name, value in values.items()}
    longer = {name: _longer_text(value, at) for name, value in values.items()}
    return {**short, "longer": {name: text for name, text in longer.items() if text != short[name]}}


def _call(function: str, case: InputCase, write: Callable[[Any], str]) -> str:
    arguments = [write(value) for value in case.args]
    arguments += [f"{key}={write(value)}" for key, value in case.kwargs.items()]
    return f"{function}({', '.join(arguments)})"


def _longer_text(value: Any, at: Sequence[Any] = ()) -> str:
    return value_text(value, limit=LONGER if _small(value) else LINE, at=at)


def _small(value: Any, depth: int = DEPTH) -> bool:
    """Tell whether no array, sequence or mapping in a value has more than `WHOLE` elements."""
    if isinstance(value, np.ndarray):
        return value.size <= WHOLE
    if not isinstance(value, list | tuple | dict) or not depth:
        return True
    parts = value.values() if isinstance(value, dict) else value
    return len(value) <= WHOLE and all(_small(part, depth - 1) for part in parts)


def value_text(value: Any, *, limit: int = LINE, at: Sequence[Any] = ()) -> str:
    """A value in one printable line of at most `limit` characters; never fails, whatever it is.

    Where it is shortened the element `at` stays, if there is room: it is found by the steps from the value to
    it, which are positions, keys of mappings, and one position for each axis of an array.
    """
    return _shortened(_text(value, limit, DEPTH, at), limit)


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _text(value: Any, limit: int, depth: int, at: Sequence[Any]) -> str:
    if isinstance(value, np.ndarray):
        return _array_text(value, limit, at)
    for kind, opening, closing in _BRACKETS:
        if isinstance(value, kind):
            parts = _parts(value, limit, depth - 1, at) if depth else ["…"] * bool(value)
            comma = "," if kind is tuple and len(parts) == 1 else ""
            return f"{opening}{', '.join(parts)}{comma}{closing}"
    for kind, write in _WRITERS:
        if isinstance(value, kind):
            return write(value)
    if isinstance(value, str):
        return repr(value[:limit])
    # where an object of the course lies in the worker, and in which module, says nothing to a student
    text, has_address = _ADDRESS.subn("", " ".join(repr(value).split()))
    return _OWNERS.sub("", text) if has_address else text


def _parts(values: _Container, limit: int, depth: int, at: Sequence[Any]) -> list[str]:
    room = limit - len(f"[, … {len(values)} more]")
    place = _position(values, at[0]) if at else None
    parts = _run(values, 0, room, depth, at)
    if place is None or place < len(parts):
        return [*parts, *_more(len(values) - len(parts))]
    # What is looked for comes first, and what stands before it has the room that is left.
    inner = max(room - len(f"… {place} more, "), 1)
    looked_for = _run(values, place, inner, depth, at, most=1)
    before = _run(values, 0, inner - len(looked_for[0]) - 2, depth, at, least=0)
    used = sum(len(part) + 2 for part in (*before, *looked_for))
    after = _run(values, place + 1, inner - used, depth, at, least=0)
    rest = len(values) - place - 1 - len(after)
    return [*before, *_more(place - len(before)), *looked_for, *after, *_more(rest)]


def _position(values: _Container, step: Any) -> int | None:
    """Return which entry a step leads to; None if it leads to none."""
    if isinstance(values, dict):
        return list(values).index(step) if step in values else None
    return step if isinstance(step, int) and 0 <= step < len(values) else None


def _run(
    values: _Container,
    start: int,
    room: int,
    depth: int,
    at: Sequence[Any],
    *,
    least: int = 1,
    most: int | None = None,
) -> list[str]:
    """Write the entries from `start` on for which there is room, `least` of them in any case."""
    parts: list[str] = []
    entries = values.items() if isinstance(values, dict) else enumerate(values)
    for key, value in islice(entries, start, None if most is None else start + most):
        name = f"{value_text(key, limit=60)}: " if isinstance(values, dict) else ""
        part = name + _text(value, max(room, 1), depth, at[1:] if at and key == at[0] else ())
        if len(parts) >= least and len(part) > room:
            break
        parts.append(part)
        room -= len(part) + 2
    return parts


def _more(count: int) -> list[str]:
    return [f"… {count} more"] if count else []


def _array_text(array: np.ndarray, limit: int, at: Sequence[Any]) -> str:
    dtype = array.dtype.name
    if 0 < array.size <= WHOLE:
        unusual = "" if dtype in _USUAL else f", dtype={dtype}"
        whole = f"array({_elements(array, WHOLE, ())}{unusual})"
        if len(whole) <= limit:
            return whole
    about = f"shape={array.shape}, dtype={dtype}"
    inside = len(at) == array.ndim and all(map(_within, at, array.shape))
    for edge, kept in [(edge, at) for edge in EDGES if inside] + [(edge, ()) for edge in EDGES]:
        # An element takes three characters at least: what cannot fit is not even written.
        shown = math.prod(min(length, 2 * edge + bool(kept)) for length in array.shape)
        if array.size and 3 * shown <= limit:
            short = f"array({_elements(array, edge, kept)}, {about})"
            if len(short) <= limit:
                return short
    return f"array({'[…]' if array.size else '[]'}, {about})"


def _within(step: Any, length: int) -> bool:
    return isinstance(step, int) and 0 <= step < length


def _elements(array: np.ndarray, edge: int, at: Sequence[int]) -> str:
    """Write the elements at the edges of each axis, and those in line with the one `at`."""
    positions = [_positions(length, edge, at[axis : axis + 1]) for axis, length in enumerate(array.shape)]
    for axis, kept in enumerate(positions):
        if len(kept) < array.shape[axis]:
            array = array.take(kept, axis)
    return _nested(array.tolist(), positions)


def _positions(length: int, edge: int, at: Sequence[int]) -> list[int]:
    if length <= 2 * edge:
        return list(range(length))
    return sorted({*range(edge), *at, *range(length - edge, length)})


def _nested(elements: Any, positions: Sequence[Sequence[int]]) -> str:
    """Write what is left of an array, as `tolist` gives it, with a sign for what is left out."""
    if not positions:
        return _element(elements)
    kept, *inner = positions
    parts: list[str] = []
    for before, position, element in zip([-1, *kept], kept, elements, strict=False):
        if position > before + 1:
            parts.append("…")
        parts.append(_nested(element, inner))
    return f"[{', '.join(parts)}]"


def _element(value: Any) -> str:
    # Eight digits are for reading; evidence keeps the inputs themselves.
    if isinstance(value, _FLOATS):
        return repr(float(f"{value:.8g}"))
    return str(value) if isinstance(value, bool | int | complex | np.number) else repr(str(value))


def _scalar_text(value: np.generic) -> str:
    plain = str(value) if value.dtype.kind in "biufc" else repr(str(value))
    return plain if value.dtype.name in _USUAL else f"{value.dtype.name}({plain})"


def _integer_text(value: int) -> str:
    # Python refuses to write integers of more than 4300 digits.
    return repr(value) if value.bit_length() <= 256 else f"<an integer of {value.bit_length()} bits>"


def _foreign_text(value: OpaqueValue) -> str:
    return f"<{_type_name(value)}>"


def _type_name(value: OpaqueValue) -> str:
    # The student's to choose: nothing in it may reach a terminal unescaped.
    return _shortened(repr(value.type_name)[1:-1], 80)


_WRITERS: tuple[tuple[type, Callable[[Any], str]], ...] = (
    (np.generic, _scalar_text),
    (OpaqueValue, _foreign_text),
    (int, _integer_text),
)


def describe(value: Any) -> str:
    """Return the kind of a value as an object of a sentence: `an array of shape (3, 4)`, `None`."""
    if isinstance(value, OpaqueValue):
        name = _type_name(value)
        return f"{'an' if name[:1].lower() in set('aeiou') else 'a'} {name}"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}" if value.ndim else value_text(value, limit=80)
    if isinstance(value, list | tuple | dict):
        items = "1 item" if len(value) == 1 else f"{len(value)} items"
        return f"a {type(value).__name__} of {items}"
    return value_text(value, limit=80)


def record(value: Any) -> Any:
    """A value as strict JSON: small ones whole, large arrays by shape, dtype and SHA-256.

    The digest is over the elements in C order, little-endian. What JSON does not have is a mapping with
    one key that begins with a dollar sign; a type that no call can take is kept by its name.
    """
    for kind, make in _RECORDS:
        if isinstance(value, kind):
            return make(value)
    return {"$type": type(value).__qualname__}


_PLAIN = {"f": np.dtype(np.float64), "c": np.dtype(np.complex128)}


def _array_record(value: np.ndarray | np.generic) -> dict[str, Any]:
    array = np.asarray(value)
    about: dict[str, Any] = {"dtype": array.dtype.name, "shape": list(array.shape)}
    if array.dtype.kind not in "biufcU":
        return {"$array": about}
    if array.size <= WHOLE:
        # Longer floats than Python's own would come out of `tolist` as they are.
        plain = array.astype(_PLAIN.get(array.dtype.kind, array.dtype)).ravel()
        values = plain.tolist()
        if array.dtype.kind == "c" or (array.dtype.kind == "f" and not np.isfinite(plain).all()):
            values = [record(element) for element in values]
        return {"$array": about | {"values": values}}
    ordered = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return {"$array": about | {"sha256": hashlib.sha256(ordered.tobytes()).hexdigest()}}


def _sequence_record(values: Sequence[Any]) -> Any:
    items = [record(value) for value in values]
    if len(items) <= WHOLE:
        return items
    text = json.dumps(items, sort_keys=True, allow_nan=False)
    return {"$sequence": {"length": len(items), "sha256": hashlib.sha256(text.encode()).hexdigest()}}


def _same(value: Any) -> Any:
    return value


_RECORDS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (np.ndarray | np.generic, _array_record),
    (bool | str | None, _same),
    (int, lambda value: value if value.bit_length() <= 64 else {"$int": hex(value)}),
    (float, lambda value: value if math.isfinite(value) else {"$float": str(value)}),
    (complex, lambda value: {"$complex": [record(value.real), record(value.imag)]}),
    (list, _sequence_record),
    (tuple, lambda value: {"$tuple": _sequence_record(value)}),
    (dict, lambda value: {str(key): record(item) for key, item in value.items()}),
)
"""The first row that fits: np.float64 is a float too, and True an int."""
