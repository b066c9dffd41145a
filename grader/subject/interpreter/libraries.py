"""The functions of Python and of libraries that a program may use, by name; all others are refused."""

from __future__ import annotations

import builtins
import functools
import itertools
import math
import operator
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from . import tables
from .elements import CONSTANTS, Element, ElementArray, FlatElements, Region, plain, unwritten, wrapped
from .exports import exported_names, imported
from .refusals import NotFollowed, Reading, Refused, Unknown, unknown_of

NUMPY, NUMBA, CUDA = "numpy", "numba", "numba.cuda"
_HAS_A_KIND = (
    *(Element, ElementArray, np.dtype, int, float, complex, str, list, tuple, dict, set, frozenset, range),
    *(slice, type(None), Exception),
)
"""What `isinstance` tells of here as elsewhere; a generator, say, is another object here."""


class Library:
    """A module with the members of a table; every other member is unknown."""

    __slots__ = ("_members", "name")

    def __init__(self, name: str, members: Mapping[str, Any]) -> None:
        self.name = name
        self._members = members

    def member(self, name: str) -> Any:
        """Return what a name of the library stands for."""
        return self._members[name] if name in self._members else unknown_of(self.name, name)

    def members(self) -> Mapping[str, Any]:
        """Return what `import *` binds, as far as it is in the table."""
        below_numba = self.name.startswith(f"{NUMBA}.")
        exported = frozenset(self._members) if below_numba else exported_names(self.name)
        return {name: self.member(name) for name in (*self._members, *exported) if name in exported}

    def has(self, name: str) -> bool:
        """Tell whether the library surely has a member."""
        return name in self._members or hasattr(imported(self.name), name)


class Conversion:
    """A type of number: converts one, and names the type of an array's elements."""

    __slots__ = ("kind",)

    def __init__(self, kind: type) -> None:
        self.kind = kind

    def __call__(self, *args: Any) -> Any:
        """Convert a number; an element stays one."""
        whole = ElementArray if self.kind is bool else ElementArray | list | tuple | dict | set | range
        if any(isinstance(argument, whole) for argument in args):
            raise Refused(f"converts a whole array to {self.kind.__name__}; convert single elements")
        number = self.kind(*(plain(argument) for argument in args))
        for argument in args:
            if type(argument) is Element:
                argument.region.touch("converts an element")
                return Element(number, argument.region)
        return Element(number, CONSTANTS) if isinstance(number, np.generic) else number

    def __eq__(self, other: object) -> bool:
        """Tell whether it is the type of an array's elements, as in `A.dtype == np.int64`."""
        if not isinstance(other, np.dtype):
            raise NotFollowed("compares types with something else than the dtype of an array")
        return bool(other == np.dtype(self.kind))

    def __hash__(self) -> int:
        raise NotFollowed("looks up a type")

    def __getitem__(self, index: Any) -> Conversion:
        """Return the type of an array of such numbers, in a signature of numba's."""
        del index
        return self


class Decorator:
    """`numba.njit` and its like: marks functions as compiled."""

    __slots__ = ("compiles",)

    def __init__(self, *, compiles: bool = True) -> None:
        self.compiles = compiles

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Return a function as a compiled one; without a function, a decorator."""
        compiles = self.compiles and not options.get("forceobj") and options.get("nopython") is not False
        for argument in args:
            if hasattr(argument, "compiled_twin"):
                return argument.compiled_twin() if compiles else argument
        return Decorator(compiles=compiles)


def libraries(region: Region) -> Mapping[str, Library]:
    """Return all libraries of the table by the name under which they are imported."""
    types = {name: Conversion(kind) for name, kind in tables.NUMPY_TYPES.items()}
    numba_types = {**types, **{name: types[full] for name, full in tables.NUMBA_TYPES.items()}}
    numpy: dict[str, Any] = {
        name: _array_function(getattr(np, name), region) for name in tables.ARRAY_FUNCTIONS
    }
    numpy |= types | {name: getattr(np, name) for name in tables.NUMPY_CONSTANTS}
    numpy |= {"empty": _empty(region), "empty_like": _empty_like(region), "ndenumerate": _ndenumerate}
    numpy |= {"fromiter": _from_iterable(region)}
    numpy |= {name: Kind(np_kind) for name, np_kind in tables.NUMPY_KINDS.items()}
    compiles = {name: Decorator() for name in ("njit", "jit", "vectorize")}
    numba = {
        **numba_types,
        **compiles,
        "prange": _prange,
        "set_num_threads": _choose_threads(region),
        "get_num_threads": _threads(region),
    }
    numba |= {"types": Library("numba.types", numba_types), "cuda": Library(CUDA, {})}
    members: dict[str, Mapping[str, Any]] = {
        NUMPY: numpy,
        NUMBA: numba,
        "numba.types": numba_types,
        "numba.core.types": numba_types,
        "math": {name: _number_function(getattr(math, name), region) for name in tables.MATH}
        | {name: _sum_function(getattr(math, name), region) for name in ("fsum", "prod")}
        | {name: getattr(math, name) for name in ("inf", "nan", "pi", "e", "tau")},
        "itertools": {name: getattr(itertools, name) for name in tables.ITERTOOLS},
        "functools": {
            "reduce": functools.reduce,
            "partial": functools.partial,
            "wraps": _decorated_alike,
            **dict.fromkeys(("lru_cache", "cache"), _cached),
        },
        "warnings": dict.fromkeys(("warn", "filterwarnings", "simplefilter"), _nothing),
        "sys": {"stdout": Kind(type(sys.stdout)), "stderr": Kind(type(sys.stdout)), "maxsize": sys.maxsize},
        "operator": {name: getattr(operator, name) for name in tables.OPERATORS},
        "os": {"cpu_count": _cores(region)},
        "time": dict.fromkeys(("time", "perf_counter", "monotonic", "process_time"), _reading),
        "timeit": {"default_timer": _reading},
        "copy": {"copy": _copied, "deepcopy": _copied_deeply},
    }
    return {name: Library(name, table) for name, table in members.items()}


def builtin_functions() -> dict[str, Any]:
    """Return Python's own functions and types, without those that look into programs (`getattr`, `eval`)."""
    return dict(_BUILTINS)


class Kind:
    """Class that only `isinstance` may use, as `numpy.ndarray`."""

    __slots__ = ("kind",)

    def __init__(self, kind: type) -> None:
        self.kind = kind


def _isinstance(value: Any, kinds: Any) -> bool:
    if not isinstance(value, _HAS_A_KIND):
        raise NotFollowed(f"asks for the type of {shown_kind(value)}")
    number = value if isinstance(value, FlatElements) else plain(value)
    for kind in kinds if type(kinds) is tuple else (kinds,):
        if isinstance(kind, Unknown):
            return kind()
        plain_kind = kind.kind if isinstance(kind, Conversion | Kind) else kind
        if isinstance(plain_kind, type) and isinstance(number, plain_kind):
            return True
    return False


def _array_function(function: Callable[..., Any], region: Region) -> Callable[..., Any]:
    def make(*args: Any, **options: Any) -> Any:
        name = function.__name__
        if name not in tables.OF_SHAPE:
            must_all_be_written((*args, *options.values()))
        if name in ("shape", "ndim", "size") and region.is_shaped_elsewhere(args):
            return of_shape(name, args[0])
        made = wrapped(function(*native(args), **native(options)), region)
        region.pass_on(args, made)
        return made

    return make


def of_shape(name: str, array: ElementArray) -> Any:
    """Return numbers about an array's shape; those of arrays that compiled code made can only be printed."""
    value = getattr(array.data, name)
    if not array.region.is_shaped_elsewhere(array):
        return value
    reading = Reading("the shape of an array that compiled code made", NotFollowed)
    return (reading,) * len(value) if name == "shape" else reading


def must_all_be_written(values: Any) -> None:
    """Refuse arrays that are copied before all of their elements were stored."""
    for value in values:
        if isinstance(value, ElementArray):
            value.region.must_be_written(value.data, value.data)
        elif type(value) in (list, tuple):
            must_all_be_written(value)


def native(value: Any) -> Any:
    """Return arguments as NumPy takes them: its own types in place of ours."""
    if isinstance(value, Conversion):
        return value.kind
    if type(value) in (list, tuple):
        return type(value)(map(native, value))
    if type(value) is dict:
        return {name: native(part) for name, part in value.items()}
    if isinstance(value, Unknown):
        return value()
    return plain(value)


def _empty(region: Region) -> Callable[..., ElementArray]:
    """Return `numpy.empty`, whose memory holds numbers that a program cannot know."""

    def empty(shape: Any, dtype: Any = float, order: str = "C") -> ElementArray:
        return _new_memory(np.empty(native(shape), native(dtype), order), region)  # type: ignore[call-overload]

    return empty


def _new_memory(data: np.ndarray[Any, Any], region: Region) -> ElementArray:
    if data.dtype.kind == "b":  # both of its values may be the program's
        raise NotFollowed("makes an array of truth values by np.empty")
    data[...] = unwritten(data.dtype, region.machine)
    region.new[id(data)] = data
    return ElementArray(data, region)


def _empty_like(region: Region) -> Callable[..., ElementArray]:
    def empty_like(like: Any, *args: Any, **options: Any) -> ElementArray:
        return _new_memory(np.empty_like(native(like), *native(args), **native(options)), region)

    return empty_like


def _ndenumerate(array: ElementArray) -> Iterator[tuple[Any, Any]]:
    return ((index, array[index]) for index in np.ndindex(array.data.shape))


def _from_iterable(region: Region) -> Callable[..., ElementArray]:
    def fromiter(iterable: Any, dtype: Any = float, count: int = -1) -> ElementArray:
        values = [native(value) for value in iterable]
        return ElementArray(np.fromiter(values, native(dtype), count), region)

    return fromiter


def _sum_function(function: Callable[[list[Any]], Any], region: Region) -> Callable[[Any], Element]:
    def compute(iterable: Any) -> Element:
        numbers = list(iterable)
        if any(isinstance(number, ElementArray) for number in numbers):
            raise Refused("gives whole rows to a function of numbers")
        region.touch("computes with elements")
        return Element(function([plain(number) for number in numbers]), region)

    return compute


def _number_function(function: Callable[..., Any], region: Region) -> Callable[..., Any]:
    def compute(*args: Any) -> Any:
        if any(isinstance(argument, ElementArray | list | tuple) for argument in args):
            raise Refused("gives a whole array to a function of numbers")
        number = function(*map(plain, args))
        if any(type(argument) is Element for argument in args):
            region.touch("computes with elements")
            return Element(number, region)
        return number

    return compute


def _prange(*args: Any) -> range:
    return range(*args)


def _text(value: Any) -> Any:
    """Play `str`, of values whose text is the same here."""
    if isinstance(value, np.dtype):
        return str(value)
    if type(value) is Element:
        return Element(format(value, ""), value.region)
    return str(value) if type(value) in (str, int, float, bool) else _put_together()


def _representation(value: Any) -> Any:
    return repr(value) if type(value) in (str, int, float, bool) else _put_together()


def _put_together() -> Reading:
    return Reading("a text that it put together", NotFollowed)


def _nothing(*args: Any, **options: Any) -> None:
    del args, options


def _cached(*args: Any, **options: Any) -> Any:
    """Play `functools.cache` and its like, which change nothing of what a function gives."""
    del options
    if args and hasattr(args[0], "compiled_twin"):
        args[0].cached = True
        return args[0]
    return _cached


def _decorated_alike(function: Any) -> Any:
    del function
    return _first


def _first(function: Any) -> Any:
    return function


def _cores(region: Region) -> Callable[[], int]:
    def count() -> int:
        return region.machine.cores

    return count


def _threads(region: Region) -> Callable[[], int]:
    def count() -> int:
        return region.threads or region.machine.threads

    return count


def _choose_threads(region: Region) -> Callable[[Any], None]:
    def choose(threads: Any) -> None:
        region.threads = operator.index(threads)

    return choose


def must_keep_its_order(value: Any) -> None:
    """Refuse a set of texts: its order is another one in each process."""
    if isinstance(value, set | frozenset) and any(map(_has_text, value)):
        raise NotFollowed("makes a set of texts, whose order differs from run to run")


def _has_text(value: Any) -> bool:
    return any(map(_has_text, value)) if isinstance(value, tuple) else isinstance(value, str | bytes)


def _set_of(kind: type) -> Callable[..., Any]:
    def make(*args: Any) -> Any:
        value = kind(*args)
        must_keep_its_order(value)
        return value

    return make


def shown_kind(value: Any) -> str:
    """Say of what type a value is, for a message."""
    return value.name if isinstance(value, Unknown) else f"a {type(value).__name__}"


def _reading() -> Reading:
    return Reading("a time that it measured")


def _copied(value: Any) -> Any:
    if isinstance(value, ElementArray):
        must_all_be_written([value])
        return ElementArray(value.data.copy(), value.region)
    return value.copy() if type(value) in (list, dict, set) else value


def _copied_deeply(value: Any) -> Any:
    if type(value) in (list, tuple):
        return type(value)(map(_copied_deeply, value))
    if type(value) in (dict, set):
        raise NotFollowed(f"copies a {type(value).__name__} deeply")
    return _copied(value)


_BUILTINS: dict[str, Any] = {
    **{name: getattr(builtins, name) for name in tables.PYTHON},
    **tables.EXCEPTIONS,
    **{kind.__name__: Conversion(kind) for kind in (int, float, bool, complex)},
    "str": _text,
    "repr": _representation,
    "isinstance": _isinstance,
    "set": _set_of(set),
    "frozenset": _set_of(frozenset),
    "print": _nothing,
}
