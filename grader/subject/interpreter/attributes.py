"""The attributes and methods of values that a program may use: none of them computes with whole arrays."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from .elements import Element, ElementArray, FlatElements, Region, plain, storage, wrapped
from .libraries import Conversion, Library, must_all_be_written, must_keep_its_order, native, of_shape
from .refusals import NotFollowed, Reading, Refused, Unknown
from .tables import METHODS, OF_FLAT, REARRANGING


def _list_of(array: ElementArray) -> Callable[[], Any]:
    def tolist() -> Any:
        array.region.touch("reads elements")
        must_all_be_written([array])
        return _nested(array.data, array.region)

    return tolist


def _nested(data: np.ndarray[Any, Any], region: Region) -> Any:
    """Return lists of Python's numbers, as elements will be."""
    return [_nested(row, region) for row in data] if data.ndim else Element(data.item(), region)


def _rearranged(name: str) -> Callable[[ElementArray], Callable[..., Any]]:
    """Return a method that copies or rearranges what an array holds."""

    def method_of(array: ElementArray) -> Callable[..., Any]:
        def method(*args: Any, **options: Any) -> Any:
            if name == "fill":
                array.region.stores[id(storage(array.data))] += 1
            elif name in ("astype", "copy", "flatten"):
                must_all_be_written([array])
            made = wrapped(getattr(plain(array), name)(*native(args), **native(options)), array.region)
            array.region.pass_on([array], made)
            return made

        return method

    return method_of


def _item(value: ElementArray | Element) -> Callable[..., Any]:
    def item(*index: Any) -> Any:
        if isinstance(value, Element):
            return Element(
                value.number.item() if isinstance(value.number, np.generic) else value.number, value.region
            )
        return value[index] if index else value.data.size == 1 and value[(0,) * value.data.ndim]

    return item


_ARRAY: Mapping[str, Callable[[ElementArray], Any]] = {
    **{name: partial(of_shape, name) for name in ("shape", "ndim", "size", "nbytes")},
    "dtype": lambda array: array.data.dtype,
    "T": lambda array: ElementArray(array.data.T, array.region),
    "flat": lambda array: FlatElements(array.data, array.region),
    "tolist": _list_of,
    "item": _item,
    **{name: _rearranged(name) for name in REARRANGING},
}
_ELEMENT: Mapping[str, Callable[[Element], Any]] = {
    "dtype": lambda element: np.asarray(element.number).dtype,
    "item": _item,
    "real": lambda element: element,
}
_DTYPE: Mapping[str, Callable[[Any], Any]] = {
    "type": lambda dtype: Conversion(dtype.type),
    "kind": lambda dtype: dtype.kind,
    "name": lambda dtype: dtype.name,
    "itemsize": lambda dtype: dtype.itemsize,
    "char": lambda dtype: dtype.char,
}
_TABLES: Mapping[type, Mapping[str, Callable[[Any], Any]]] = {
    ElementArray: _ARRAY,
    Element: _ELEMENT,
    np.dtype: _DTYPE,
}
NAMES = frozenset().union(
    *METHODS.values(), *_TABLES.values(), ("args", "format", "from_iterable", "py_func")
)
"""All of them, of whatever value."""


def attribute(value: Any, name: str) -> Any:
    """Return what `value.name` stands for.

    Raises:
        Refused: it stands in no table.
    """
    if isinstance(value, Library):
        return value.member(name)
    if isinstance(value, Unknown):
        return Unknown(f"{value.name}.{name}", value.refusal)
    if hasattr(value, "namespace"):  # another file of the submission
        return value.namespace(name)
    if isinstance(value, FlatElements) and name not in OF_FLAT:
        raise NotFollowed(f"uses .{name} of .flat, which is no array")
    for kind, table in _TABLES.items():
        if isinstance(value, kind) and name in table:
            return table[name](value)
    if name in METHODS.get(type(value), ()):
        method = getattr(value, name)
        return _checked(value, method) if type(value) is set else method
    return _other_attribute(value, name)


def _checked(value: set[Any], method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of a set, after which texts in it are refused."""

    def call(*args: Any) -> Any:
        result = method(*args)
        must_keep_its_order(value)
        must_keep_its_order(result)
        return result

    return call


def _other_attribute(value: Any, name: str) -> Any:
    if name == "format" and type(value) is str:  # its fields can name attributes that stand in no table
        return lambda *args, **fields: Reading("a text that it put together", NotFollowed)
    if name == "py_func" and hasattr(value, "python_twin"):
        return value.python_twin()
    if name == "from_iterable" and value is itertools.chain:
        return value.from_iterable
    if name == "args" and isinstance(value, Exception):
        return value.args
    raise Refused(f"uses .{name} of {_kind(value)}")


def _kind(value: Any) -> str:
    if isinstance(value, ElementArray):
        return "an array, whose single elements are what counts"
    return "an element" if isinstance(value, Element) else f"a value of type {type(value).__name__}"
