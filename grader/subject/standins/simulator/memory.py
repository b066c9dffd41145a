"""Shared, local and constant memory of a kernel: `cuda.shared`, `cuda.local` and `cuda.const`."""

from __future__ import annotations

import sys
from math import prod
from typing import Any

import numpy as np

from . import schedule
from .arrays import ArrayView, poison, view
from .limits import refuse_shared
from .numbas import kernelapi

_DYNAMIC = "dynamic"
_STATIC = "static bytes"


def _dtype(kind: Any) -> np.dtype[Any]:
    """Return a type of numba's or numpy's as numpy's."""
    numbas = isinstance(kind, kernelapi.types.Type)
    dtype: np.dtype[Any] = kernelapi.numpy_support.as_dtype(kind) if numbas else np.dtype(kind)
    return dtype


class SharedMemory:
    """Memory that the threads of a block have together; each block finds it poisoned."""

    _dynamic_bytes = 0
    bytes = 0
    """The most that a block of the present launch took."""

    def begin(self, dynamic_bytes: int) -> None:
        """Begin a launch with so much dynamic memory beside what the kernel names itself."""
        self._dynamic_bytes = dynamic_bytes
        self.bytes = dynamic_bytes

    def array(self, shape: Any, dtype: Any, alignment: int | None = None) -> ArrayView:
        """Return the array of this place in the kernel, one for all threads; size 0 is all dynamic memory."""
        del alignment
        arrays = schedule.shared()
        frame = sys._getframe(1)  # noqa: SLF001  # the documented way to see who calls
        place = (frame.f_code, frame.f_lasti)
        if place not in arrays:
            kind = _dtype(dtype)
            size = prod(shape) if isinstance(shape, tuple | list) else shape
            array = self._static(shape, kind) if size else self._dynamic(kind)
            arrays[place] = view(array, interrupted=schedule.interrupts())
        return arrays[place]  # type: ignore[no-any-return]

    def _static(self, shape: Any, dtype: np.dtype[Any]) -> Any:
        arrays = schedule.shared()
        array = poison(np.empty(shape, dtype))
        taken = arrays[_STATIC] = arrays.get(_STATIC, 0) + array.nbytes
        refuse_shared(taken, self._dynamic_bytes)
        self.bytes = max(self.bytes, taken + self._dynamic_bytes)
        return array

    def _dynamic(self, dtype: np.dtype[Any]) -> Any:
        arrays = schedule.shared()
        new = _DYNAMIC not in arrays
        whole = arrays.setdefault(_DYNAMIC, np.zeros(self._dynamic_bytes, np.uint8))
        array = whole[: whole.size // dtype.itemsize * dtype.itemsize].view(dtype)
        return poison(array) if new else array


class LocalMemory:
    """Memory of one thread alone; it finds it poisoned."""

    def array(self, shape: Any, dtype: Any, alignment: int | None = None) -> ArrayView:
        """Return a new array."""
        del alignment
        return view(poison(np.empty(shape, _dtype(dtype))))


class Const:
    """Memory that a kernel only reads."""

    def array_like(self, array: Any) -> ArrayView:
        """Copy a host array into constant memory."""
        copy = np.array(array)
        copy.flags.writeable = False
        return view(copy)


shared = SharedMemory()
local = LocalMemory()
const = Const()
