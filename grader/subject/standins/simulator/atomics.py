"""Atomic operations on an element of an array, as `cuda.atomic`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from .arrays import ArrayView

_STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "and_": operator.and_,
    "or_": operator.or_,
    "xor": operator.xor,
    "exch": lambda old, value: value,
    "max": max,
    "min": min,
    "nanmax": np.fmax,
    "nanmin": np.fmin,
    "inc": lambda old, limit: 0 if old >= limit else old + 1,
    "dec": lambda old, limit: limit if old == 0 or old > limit else old - 1,
}
"""What becomes of the old value: by names of numba's and rules of the CUDA C++ Programming Guide, Atomic
Functions."""


def _atomic(step: Callable[[Any, Any], Any]) -> Callable[[ArrayView, Any, Any], Any]:
    return lambda array, index, value: array.exchange(index, lambda old: step(old, value))


def _cas(array: ArrayView, index: Any, old: Any, value: Any) -> Any:
    return array.exchange(index, lambda present: value if present == old else present)


def _compare_and_swap(array: ArrayView, old: Any, value: Any) -> Any:
    return _cas(array, (0,) * array.ndim, old, value)


atomic = SimpleNamespace(
    **{name: _atomic(step) for name, step in _STEPS.items()}, cas=_cas, compare_and_swap=_compare_and_swap
)
