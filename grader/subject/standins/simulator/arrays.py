"""Arrays of a kernel: indices are checked, stores wrap, and unwritten memory is poisoned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .schedule import pause

_POISON = b"\x5a"
"""Byte by byte: a great number in every type of integer."""


def poison(array: Any) -> Any:
    """Fill an array with NaN, or with great integers of either sign, which are no plausible result."""
    if array.dtype.kind in "fc":
        array[...] = np.nan
        return array
    value = np.frombuffer(_POISON * array.dtype.itemsize, array.dtype)[0]
    array[...] = array.dtype.type(True) if array.dtype.kind == "b" else value
    if array.dtype.kind == "i":
        array.flat[1::2] = ~value  # a maximum hides what is too small, a minimum what is too large
    return array


def view(array: Any, *, interrupted: bool = False) -> ArrayView:
    """Wrap an array for a kernel; with `interrupted`, other threads may go on behind every load."""
    if array.dtype.names:
        array = array.view(np.recarray)  # for a[i].x, which numba understands as a[i]["x"]
    plain = array.dtype.kind in "fcb" or array.dtype.itemsize >= 8
    kind = _QUICK.get(array.ndim, ArrayView) if plain else ArrayView
    return kind(array, interrupted)


class ArrayView:
    """An array of any shape and type; no index may be negative or too large."""

    __slots__ = ("_array", "_interrupted", "dtype", "ndim", "shape", "size")

    __array_ufunc__ = None
    """Arithmetic of whole arrays is not for kernels."""

    def __init__(self, array: Any, interrupted: bool) -> None:
        self._array = array
        self._interrupted = interrupted
        self.dtype, self.ndim, self.shape, self.size = array.dtype, array.ndim, array.shape, array.size

    def __len__(self) -> int:
        return self.shape[0]  # type: ignore[no-any-return]

    def __getitem__(self, index: Any) -> Any:
        value = self._load(index)
        if self._interrupted:
            pause()
        return value

    def __setitem__(self, index: Any, value: Any) -> None:
        self._store(index, value)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._array, name)
        if callable(value):
            return lambda *args, **kwargs: self._as_view(value(*args, **kwargs))
        return self._as_view(value)

    def exchange(self, index: Any, new: Callable[[Any], Any]) -> Any:
        """Replace an element by what is made of it, with no other thread between; the old one."""
        old = self._load(index)
        self._store(index, new(old))
        if self._interrupted:
            pause()
        return old

    def _load(self, index: Any) -> Any:
        self._refuse_negative(index)
        try:
            value = self._array[index]
        except IndexError:
            self._refuse_outside(index)
            raise
        if isinstance(value, np.integer) and value.itemsize < 8:
            return np.int64(value)  # numba calculates with no shorter ones
        return self._as_view(value)

    def _store(self, index: Any, value: Any) -> None:
        self._refuse_negative(index)
        if isinstance(value, ArrayView):
            value = value._array  # noqa: SLF001  # of our own kind
        try:
            self._array[index] = value
        except IndexError:
            self._refuse_outside(index)
            raise
        except (OverflowError, ValueError):  # what numpy says of numbers that a GPU cuts off
            if self.dtype.kind not in "iu" or not isinstance(value, int | float | np.generic):
                raise
            if isinstance(value, int | np.integer):
                value = np.uint64(int(value) % 2**64)
            self._array[index] = np.asarray(value).astype(self.dtype)

    def _refuse_negative(self, index: Any) -> None:
        if any(isinstance(part, int | np.integer) and part < 0 for part in _each(index)):
            self._refuse_outside(index)

    def _refuse_outside(self, index: Any) -> None:
        """Raise IndexError in our words if they fit; numpy has its own for what is no index at all."""
        each = _each(index)
        if len(each) <= self.ndim and all(isinstance(part, int | np.integer | slice) for part in each):
            parts = [":" if isinstance(part, slice) else str(int(part)) for part in each]
            place = f"({', '.join(parts)})" if len(parts) > 1 else parts[0]
            raise IndexError(f"index {place} is outside of an array of shape {self.shape}")

    def _as_view(self, value: Any) -> Any:
        return view(value, interrupted=self._interrupted) if isinstance(value, np.ndarray) else value


def _each(index: Any) -> tuple[Any, ...]:
    return index if type(index) is tuple else (index,)


class _Vector(ArrayView):
    """One dimension, and elements that need no more than a look at the index: this is where the time goes."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        try:
            if index >= 0:
                value = self._array[index]
                if self._interrupted:
                    pause()
                return value
        except (IndexError, TypeError):
            pass  # it is said below what is wrong with it, if anything is
        return self._load(index)

    def __setitem__(self, index: Any, value: Any) -> None:
        try:
            if index >= 0:
                self._array[index] = value
                return
        except (IndexError, OverflowError, TypeError, ValueError):
            pass
        self._store(index, value)


class _Matrix(ArrayView):
    """The same with two dimensions."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        try:
            i, j = index
            if i >= 0 and j >= 0:
                value = self._array[index]
                if self._interrupted:
                    pause()
                return value
        except (IndexError, TypeError, ValueError):
            pass
        return self._load(index)

    def __setitem__(self, index: Any, value: Any) -> None:
        try:
            i, j = index
            if i >= 0 and j >= 0:
                self._array[index] = value
                return
        except (IndexError, OverflowError, TypeError, ValueError):
            pass
        self._store(index, value)


_QUICK = {1: _Vector, 2: _Matrix}
