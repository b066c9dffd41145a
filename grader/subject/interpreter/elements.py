"""Arrays that give and take single elements, and elements that know where they are computed with."""

from __future__ import annotations

import operator
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from .refusals import NotFollowed, NotWritten, Refused


def new_contents() -> int:
    """Return what new memory holds where a program is followed first: no number that it can know."""
    return random.SystemRandom().randrange(2**20, 2**30)


LONG = 64
"""So many values of a range are a long loop."""
WAY_OUT = "loops over single elements, as A[i, j], are what counts"


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineNumbers:
    """Numbers that depend on the machine: a program that goes by them is followed with several."""

    cores: int
    threads: int
    unwritten: int
    """The elements of new memory, as far as their type holds it."""


class Region:
    """The code that is being evaluated: inside a function that numba compiles, or outside."""

    def __init__(self, *, compiled_only: bool, machine: MachineNumbers | None = None) -> None:
        """Let elements be touched everywhere, or with `compiled_only` in compiled functions only."""
        self._compiled_only = compiled_only
        self.depth = 0
        """How many compiled functions are being evaluated, one called by the other."""
        self.importing = True
        """Whether it runs where a file is imported, and not yet in the function that is followed."""
        self.entries = 0
        """How often compiled code was called from outside."""
        self.shuffles = False
        """Whether long loops are followed in another order, because only the first of it is followed."""
        self.machine = machine or MachineNumbers(cores=1, threads=1, unwritten=new_contents())
        """What the machine shows to a function."""
        self.stores: Counter[int] = Counter()
        """How often something was stored in an array, by the identity of its storage."""
        self.new: dict[int, np.ndarray[Any, Any]] = {}
        """Arrays that began as new memory, by their identity."""
        self._shaped_elsewhere: dict[int, ElementArray] = {}
        """Arrays that compiled code gave to plain code, by the identity of their storage."""
        self.threads = 0
        """The number of threads that the program chose; 0 until it does."""

    def leave(self, value: Any, args: Iterable[Any]) -> Any:
        """Return what compiled code gives to plain code, which may compute otherwise there than here.

        Numbers become elements, which plain code may not go by, and of arrays it may not go by the shape.
        """
        if not self._compiled_only or self.depth:
            return value
        if isinstance(value, ElementArray):
            if not any(value is argument for argument in args):
                self._shaped_elsewhere[id(storage(value.data))] = value
            return value
        if type(value) in (list, tuple):
            return type(value)(self.leave(part, args) for part in value)
        return Element(value, self) if isinstance(value, bool | int | float | complex | str) else value

    def pass_on(self, sources: Iterable[Any], made: Any) -> None:
        """Take note that the shape of an array is that of others."""
        if isinstance(made, ElementArray) and any(map(self.is_shaped_elsewhere, sources)):
            self._shaped_elsewhere[id(storage(made.data))] = made

    def is_shaped_elsewhere(self, value: Any) -> bool:
        """Tell whether plain code looks at an array of which compiled code chose the shape."""
        if type(value) in (list, tuple):
            return any(map(self.is_shaped_elsewhere, value))
        return (
            isinstance(value, ElementArray)
            and not self.depth
            and id(storage(value.data)) in self._shaped_elsewhere
        )

    def must_not_choose(self, array: ElementArray) -> None:
        """Refuse to go by the shape of such an array."""
        if self.is_shaped_elsewhere(array):
            raise NotFollowed(
                "goes by the length of what compiled code made outside of the functions that numba compiles"
            )

    def order(self, values: Any) -> Any:
        """Return what a loop goes over, a long range perhaps in another order."""
        if not self.shuffles or not isinstance(values, range) or len(values) < LONG:
            return values
        return random.SystemRandom().sample(values, len(values))

    def must_be_written(self, data: Any, whole: Any) -> None:
        """Refuse elements of an array that hold what new memory holds: earlier calls may have left that.

        `data` are the elements that are read and `whole` is the array that they are of.
        """
        new = self.new.get(id(storage(whole)))
        if new is None or self.shuffles or not self.machine.unwritten:
            return
        if np.any(data == unwritten(new.dtype, self.machine)):
            raise NotWritten("reads elements of np.empty that nothing was stored in")

    def touch(self, what: str) -> None:
        """Take note that the program does something with single elements.

        Raises:
            Refused: only compiled code may, and this is none.
        """
        if self._compiled_only and not self.depth:
            raise Refused(f"{what} outside of the functions that numba compiles")


CONSTANTS = Region(compiled_only=False)
"""The region of numbers that a program wrote out, such as `np.int64(0)`: they may be used everywhere."""
_SEQUENCES = (list, tuple, dict, set, frozenset, range)


class Element:
    """One number of an array, or one computed from such numbers."""

    __slots__ = ("number", "region")
    __array_ufunc__ = None

    def __init__(self, number: Any, region: Region) -> None:
        self.number = number
        self.region = region

    def __bool__(self) -> bool:
        self.region.touch("tests an element")
        return bool(self.number)

    def __index__(self) -> int:
        self.region.touch("converts an element")
        return operator.index(self.number)

    def __int__(self) -> int:
        self.region.touch("converts an element")
        return int(self.number)

    def __float__(self) -> float:
        self.region.touch("converts an element")
        return float(self.number)

    def __hash__(self) -> int:
        self.region.touch("looks up an element")
        return hash(self.number)

    def __format__(self, specification: str) -> str:
        self.region.touch("prints an element")
        return format(self.number, specification)

    def __round__(self, digits: Any = None) -> Element:
        self.region.touch("computes with elements")
        return Element(round(self.number, digits), self.region)

    def __repr__(self) -> str:
        self.region.touch("prints an element")
        return repr(self.number)

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse to be computed with by NumPy."""
        del args, kwargs
        raise Refused("gives an element to NumPy")


def _number(value: Any) -> Any:
    return value.number if type(value) is Element else value


def _binary(function: Callable[[Any, Any], Any], *, swapped: bool) -> Callable[[Element, Any], Any]:
    def operate(self: Element, other: Any) -> Any:
        if isinstance(other, ElementArray):
            raise Refused(f"computes with a whole array; {WAY_OUT}")
        if isinstance(other, _SEQUENCES) and function is not operator.mul:
            raise Refused(f"computes with a number and a {type(other).__name__}, as NumPy does with arrays")
        of_texts = isinstance(self.number, str) and isinstance(_number(other), str)
        if not of_texts and not isinstance(other, Element | np.number | np.bool_ | int | float | complex):
            return NotImplemented
        region = self.region
        region.touch("computes with elements")
        if type(other) is Element and region is CONSTANTS:
            region = other.region
            region.touch("computes with elements")
        left, right = self.number, _number(other)
        if swapped:
            left, right = right, left
        return Element(function(left, right), region)

    return operate


def _unary(function: Callable[[Any], Any]) -> Callable[[Element], Element]:
    def operate(self: Element) -> Element:
        self.region.touch("computes with elements")
        return Element(function(self.number), self.region)

    return operate


_BINARY = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and_", "or_", "xor"]
_COMPARED = ["lt", "le", "gt", "ge", "eq", "ne"]
_UNARY = ["neg", "pos", "abs", "invert"]
_REFUSED = (
    *(
        f"__{prefix}{name.strip('_')}__"
        for name in (*_BINARY, "matmul", "divmod")
        for prefix in ("", "r", "i")
    ),
    *(f"__{name}__" for name in (*_COMPARED, *_UNARY, "bool", "float", "int", "index", "contains", "format")),
)


class ElementArray:
    """An array without arithmetic: rows, elements and copies of it are all there is."""

    __slots__ = ("data", "region")
    __array_ufunc__ = None

    def __init__(self, data: np.ndarray[Any, Any], region: Region) -> None:
        """`data` is shared: a row that is written to is that of the array."""
        if data.dtype.kind not in "biufc":
            raise Refused(f"makes an array of {data.dtype}, which holds no plain numbers")
        self.data = data
        self.region = region

    def __len__(self) -> int:
        self.region.must_not_choose(self)
        return len(self.data)

    def __iter__(self) -> Iterator[Any]:
        self.region.must_not_choose(self)
        return (self[place] for place in self.region.order(range(len(self))))

    def __getitem__(self, index: Any) -> Any:
        selected = self.data[_plain_index(index)]
        if isinstance(selected, np.ndarray):
            return ElementArray(selected, self.region)
        self.region.touch("reads elements")
        self.region.must_be_written(selected, self.data)
        return Element(selected, self.region)

    def __setitem__(self, index: Any, value: Any) -> None:
        place = _plain_index(index)
        if not isinstance(self.data[place], np.ndarray):
            self.region.touch("stores elements")
        if isinstance(value, ElementArray):
            self.region.must_be_written(value.data, value.data)
        self.region.stores[id(storage(self.data))] += 1
        self.data[place] = plain(value)

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse to be computed with by NumPy."""
        del args, kwargs
        raise Refused(f"gives a whole array to NumPy; {WAY_OUT}")

    def __repr__(self) -> str:
        raise Refused("takes the text of a whole array")

    __hash__ = None  # type: ignore[assignment]


class FlatElements(ElementArray):
    """All elements of an array in a row, which NumPy takes for no array.

    NumPy's own goes on, where it is looped over again, behind the element that it gave last; its slices are
    copies.
    """

    __slots__ = ("begun",)

    def __init__(self, data: np.ndarray[Any, Any], region: Region) -> None:
        super().__init__(data, region)
        self.begun = False

    def __len__(self) -> int:
        self.region.must_not_choose(self)
        return self.data.size

    def __iter__(self) -> Iterator[Any]:
        if self.begun:
            raise NotFollowed("loops over one .flat of an array again")
        self.begun = True
        return super().__iter__()

    def __getitem__(self, index: Any) -> Any:
        elements = self.data.flat[_plain_index(index)]
        self.region.must_be_written(elements, self.data)
        if isinstance(elements, np.ndarray):
            return ElementArray(elements, self.region)
        self.region.touch("reads elements")
        return Element(elements, self.region)

    def __setitem__(self, index: Any, value: Any) -> None:
        place = _plain_index(index)
        if not isinstance(place, slice):
            self.region.touch("stores elements")
        if isinstance(value, ElementArray):
            self.region.must_be_written(value.data, value.data)
        self.region.stores[id(storage(self.data))] += 1
        self.data.flat[place] = plain(value)


def _refuse_whole(self: ElementArray, *args: Any) -> NoReturn:
    del self, args
    raise Refused(f"computes with, or compares, a whole array; {WAY_OUT}")


for _name in _BINARY:
    _function, _bare = getattr(operator, _name), _name.strip("_")
    setattr(Element, f"__{_bare}__", _binary(_function, swapped=False))
    setattr(Element, f"__r{_bare}__", _binary(_function, swapped=True))
for _name in _COMPARED:
    setattr(Element, f"__{_name}__", _binary(getattr(operator, _name), swapped=False))
for _name in _UNARY:
    setattr(Element, f"__{_name}__", _unary(getattr(operator, _name)))
for _name in _REFUSED:
    setattr(ElementArray, _name, _refuse_whole)


def _plain_index(index: Any) -> Any:
    """Return an index of whole numbers and slices; refuse lists and arrays, which select many elements."""
    if type(index) is tuple:
        return tuple(map(_plain_index, index))
    if type(index) is slice:
        return slice(
            *(None if end is None else operator.index(end) for end in (index.start, index.stop, index.step))
        )
    if index is None or index is Ellipsis:
        return index
    if isinstance(index, ElementArray | list):
        raise Refused(f"selects many elements at once; {WAY_OUT}")
    if isinstance(index, bool) or (type(index) is Element and isinstance(index.number, np.bool_)):
        raise Refused("takes a truth value for an index")
    return operator.index(index)


def storage(data: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the array whose memory an array shares."""
    while isinstance(data.base, np.ndarray):
        data = data.base
    return data


def unwritten(dtype: np.dtype[Any], machine: MachineNumbers) -> Any:
    """Return what new memory of a type holds."""
    if dtype.kind == "b":
        return np.bool_(False)
    bits = 8 * dtype.itemsize - 1
    return dtype.type(machine.unwritten % 2 ** min(bits, 30) if dtype.kind in "iu" else machine.unwritten)


def plain(value: Any) -> Any:
    """Return a value with numbers and NumPy's arrays in place of ours."""
    if type(value) is Element:
        return value.number
    if isinstance(value, FlatElements):
        if not value.data.flags.c_contiguous:
            raise NotFollowed("gives .flat of an array that is turned round to a library")
        return value.data.reshape(-1)
    if isinstance(value, ElementArray):
        return value.data
    if type(value) in (list, tuple):
        return type(value)(map(plain, value))
    if type(value) is dict:
        return {name: plain(part) for name, part in value.items()}
    return value


def wrapped(value: Any, region: Region) -> Any:
    """Return a value with our arrays and elements in place of NumPy's."""
    if isinstance(value, np.ndarray):
        return ElementArray(value, region)
    if isinstance(value, np.generic):
        return Element(value, region)
    if type(value) in (list, tuple):
        return type(value)(wrapped(part, region) for part in value)
    return value
