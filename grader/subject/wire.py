"""Values as they cross between worker and subject: JSON and raw arrays, never pickle.

A value is encoded as JSON whose containers are tagged, so that a list stays a list and a tuple a tuple:

    null, true, 1, 1.5, "text"      themselves (integers beyond 64 bits and non-finite floats are tagged text)
    {"l": […]}, {"t": […]}          list, tuple
    {"d": [[key, value], …]}        dict with keys that are text or 64-bit integers
    {"a": [offset, dtype, shape]}   numpy.ndarray: its bytes, C order, at offset (64-byte aligned)
    {"s": [offset, dtype]}          a numpy scalar
    {"p": [offset, "<f8", n]}       a long list of only floats (or only 64-bit integers), packed
    {"n": [offset, dtype, n]}       a long list of numpy scalars that are all of one type, packed
    {"c": [re, im]}                 complex
    {"o": "torch.Tensor"}           a value of any other type: only the type's name crosses

Types are matched exactly: a subclass of ndarray or float with opinions of its own is a foreign value.
Both sides use this module; the decoder trusts nothing and raises `Malformed`.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from math import isfinite, prod
from typing import Any

from numpy import array, bool_, copyto, dtype, frombuffer, generic, ndarray

ALIGNMENT = 64
DEPTH = 32
PACK_FROM = 32
JSON_BYTES = 16 * 2**20
"""How long all texts and single values may be together, as JSON."""
NODES = 400_000
UNPACKED = 2**23
"""How many elements packed lists may have together: each becomes an object of its own."""
_INT64 = range(-(2**63), 2**63)
_PACKED = {float: "<f8", int: "<i8"}
_DIMENSIONS = 32


class Malformed(ValueError):
    """Bytes that no honest encoder wrote."""


class TooLarge(ValueError):
    """A value that does not fit into the buffer."""


def type_name(value: object) -> str:
    """Return the full name of a value's type, without `builtins.`."""
    kind = type(value)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return f"{module}{kind.__qualname__}"[:200]


_SIZED = "i2 i4 i8 u2 u4 u8 f2 f4 f8 f16 c8 c16"
_DTYPES = frozenset({"|b1", "|i1", "|u1", *(order + kind for order in "<>" for kind in _SIZED.split())})
"""As arrays write their own: numpy reads other spellings too, and warns of some."""


def _crosses(kind: dtype[Any]) -> bool:
    return kind.str in _DTYPES


def written(document: Any) -> bytes:
    """Return the JSON of encoded values.

    Raises:
        TooLarge: it is longer than `JSON_BYTES`.
    """
    text = json.dumps(document, allow_nan=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    if len(text) > JSON_BYTES:
        raise TooLarge
    return text


class Encoder:
    """Puts values into `buffer`: arrays from the front on, and gives their JSON."""

    def __init__(self, buffer: memoryview) -> None:
        self._buffer = buffer
        self.end = 0
        """Behind the last byte that is taken."""
        self._nodes = 0
        self._unpacked = 0

    def _reserve(self, size: int) -> int:
        start = -(-self.end // ALIGNMENT) * ALIGNMENT
        if start + size > len(self._buffer):
            raise TooLarge
        self.end = start + size
        return start

    def _put(self, source: ndarray[Any, Any]) -> int:
        start = self._reserve(source.nbytes)
        if source.nbytes:
            target = frombuffer(self._buffer, source.dtype, source.size, start).reshape(source.shape)
            copyto(target, source, casting="no")
        return start

    def encode(self, value: Any, depth: int = 0) -> Any:  # noqa: PLR0911 - one branch per type of the wire
        """Return the JSON of one value, and put its arrays into the buffer."""
        self._nodes += 1
        if depth > DEPTH or self._nodes > NODES:
            raise TooLarge
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if kind is int:
            return value if value in _INT64 else {"i": hex(value)}
        if kind is float:
            return value if isfinite(value) else {"f": repr(value)}
        if kind is complex:
            return {"c": [repr(value.real), repr(value.imag)]}
        if kind is list:
            return self._encode_list(value, depth)
        if kind is tuple:
            return {"t": [self.encode(v, depth + 1) for v in value]}
        if kind is dict and all(type(k) is str or (type(k) is int and k in _INT64) for k in value):
            return {"d": [[k, self.encode(v, depth + 1)] for k, v in value.items()]}
        if kind is ndarray:
            if not _crosses(value.dtype):
                return self._foreign(f"numpy.ndarray of dtype {value.dtype}"[:200])
            return {"a": [self._put(value), value.dtype.str, list(value.shape)]}
        if _is_scalar(kind) and _crosses(value.dtype):
            return {"s": [self._put(array(value)), value.dtype.str]}
        plain = next((plain for like, plain in _CONTAINERS if isinstance(value, like)), None)
        if plain is None or plain is kind:
            return self._foreign(
                "dict with keys that are neither text nor whole numbers" if plain else type_name(value)
            )
        # a NamedTuple, an OrderedDict: what they hold is what counts
        return self.encode(plain(value), depth + 1)

    def _foreign(self, name: str) -> Any:
        """Return what crosses of a value whose type does not: what it is."""
        return {"o": name}

    def _encode_list(self, value: list[Any], depth: int) -> Any:
        tag, kind = _packing(value) if len(value) >= PACK_FROM else ("l", "")
        if tag == "l":
            return {tag: [self.encode(v, depth + 1) for v in value]}
        self._unpacked += len(value)
        if self._unpacked > UNPACKED:
            raise TooLarge
        return {tag: [self._put(array(value, kind)), kind, len(value)]}

    def close(self, document: Any) -> tuple[int, int]:
        """Write the JSON document behind the arrays; where it starts and how long it is, in bytes."""
        text = written(document)
        start = self._reserve(len(text))
        self._buffer[start : start + len(text)] = text
        return start, len(text)


_CONTAINERS: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (tuple, tuple),
    (list, list),
    (dict, dict),
    (deque, list),
    (range, list),
)
"""Containers that cross as a plain one, by type."""


def _is_scalar(kind: type) -> bool:
    return issubclass(kind, generic) and kind.__module__ == "numpy"


def _packing(value: list[Any]) -> tuple[str, str]:
    """Return the tag for a long list, and the dtype of its elements if it can be packed."""
    kinds = set(map(type, value))
    if len(kinds) == 1:
        kind = kinds.pop()
        if kind is float or (kind is int and min(value) in _INT64 and max(value) in _INT64):
            return "p", _PACKED[kind]
        if _is_scalar(kind) and _crosses(value[0].dtype):
            return "n", value[0].dtype.str
    return "l", ""


class Decoder:
    """Reads what an `Encoder` put into `buffer`.

    With `views=True` arrays are writable views of the buffer, otherwise copies. `foreign` makes a value of
    the name of a type that does not cross.
    """

    def __init__(
        self, buffer: memoryview, *, views: bool = False, foreign: Callable[[str], Any] = str
    ) -> None:
        self._buffer = buffer
        self._views = views
        self._foreign = foreign
        self._nodes = 0
        self._unpacked = 0
        self._left = len(buffer)
        """Bytes that no array has taken: an honest encoder gives each of them once."""

    def open(self, start: int, length: int) -> Any:
        """Return the JSON document at `start`."""
        if not (
            0 <= start <= len(self._buffer) and 0 <= length <= min(JSON_BYTES, len(self._buffer) - start)
        ):
            raise Malformed("the document lies outside the buffer")
        try:
            return json.loads(bytes(self._buffer[start : start + length]).decode("utf-8", "surrogatepass"))
        except (ValueError, RecursionError) as error:
            raise Malformed(f"not JSON: {error}") from None

    def decode(self, plain: Any, depth: int = 0) -> Any:
        """Return the value of its JSON."""
        self._nodes += 1
        if depth > DEPTH or self._nodes > NODES:
            raise Malformed("nested too deeply or too long")
        if plain is None or type(plain) in (bool, int, float, str):
            return plain
        if type(plain) is not dict or len(plain) != 1:
            raise Malformed("an untagged container")
        ((tag, body),) = plain.items()
        try:
            return self._tagged(tag, body, depth)
        except Malformed:
            raise
        except (TypeError, ValueError, LookupError, OverflowError) as error:
            raise Malformed(f"{tag}: {error}") from None

    def _tagged(self, tag: str, body: Any, depth: int) -> Any:  # noqa: PLR0911 - one branch per tag of the wire
        match tag:
            case "l":
                return [self.decode(v, depth + 1) for v in body]
            case "t":
                return tuple(self.decode(v, depth + 1) for v in body)
            case "d":
                return {_key(k): self.decode(v, depth + 1) for k, v in body}
            case "a":
                offset, kind, shape = body
                return self._array(offset, kind, shape)
            case "s":
                offset, kind = body
                return self._array(offset, kind, [])[()]
            case "p":
                offset, kind, count = body
                return self._packed(offset, kind, count).tolist()
            case "n":
                offset, kind, count = body
                return list(self._packed(offset, kind, count))
            case "c":
                return complex(float(body[0]), float(body[1]))
            case "i":
                return int(_text(body)[:10_000], 16)
            case "f":
                return float(body)
            case "o":
                return self._foreign(_text(body)[:200])
        raise Malformed(f"unknown tag {tag[:20]!r}")

    def _packed(self, offset: Any, kind: Any, count: Any) -> ndarray[Any, Any]:
        elements = self._array(offset, kind, [count])
        self._unpacked += len(elements)
        if self._unpacked > UNPACKED:
            raise Malformed("packed lists are too long")
        return elements

    def _array(self, offset: Any, kind: Any, shape: Any) -> ndarray[Any, Any]:
        if _text(kind) not in _DTYPES:
            raise Malformed(f"dtype {kind[:20]!r}")
        if len(shape) > _DIMENSIONS or not all(type(n) is int and n >= 0 for n in (offset, *shape)):
            raise Malformed("shape")
        count = prod(shape)
        size = count * dtype(kind).itemsize
        self._left -= size
        if offset + size > len(self._buffer) or self._left < 0:
            raise Malformed("an array lies outside the buffer, or on another one")
        if count == 0:
            return ndarray(shape, kind)
        view = frombuffer(self._buffer, kind, count, offset).reshape(shape)
        if dtype(kind) == bool_ and view.view("u1").max() > 1:
            raise Malformed("a boolean that is neither 0 nor 1")
        return view if self._views else view.copy()


def _key(value: Any) -> str | int:
    return value if type(value) is int else _text(value)


def _text(value: Any) -> str:
    if type(value) is not str:
        raise Malformed("text was expected")
    return value
