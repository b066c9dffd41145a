"""numba's CUDA kernels without a GPU: stricter than numba's own simulator, quicker, and in any order.

Importing it, with NUMBA_ENABLE_CUDASIM=1 and before any kernel is written, puts it in the place of what numba
has for that purpose. Needs numba and greenlet.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .numbas import config, cuda, devicearray, elements, kernel, kernelapi, simulator

if not config.ENABLE_CUDASIM:
    raise ImportError("numba was imported without NUMBA_ENABLE_CUDASIM=1; set it before the program starts")

from . import launch, position, transfers
from .atomics import atomic
from .barriers import FUNCTIONS
from .launch import device
from .memory import const, local, shared
from .schedule import ThreadOrder

__all__ = ["around_launches", "copies", "elements_of", "forget", "launches", "run_in"]


def run_in(order: str, seed: int) -> None:
    """Run blocks, and the threads of each between barriers, `forward`, `reversed` or `shuffled` from now on.

    A kernel without a race gives the same in all of them. Raises ValueError for any other order.
    """
    device.order = ThreadOrder(order, seed)


def around_launches(around: Callable[[Sequence[Any], Callable[[], None]], None]) -> None:
    """Have `around` called for each launch with its arguments and what runs it."""
    device.around = around


def elements_of(argument: Any) -> Any:
    """Return the numpy array that an argument of a launch stands for; None for a number."""
    value = argument.value if isinstance(argument, kernel.ArgHint) else argument
    if isinstance(value, transfers.DeviceArray):
        return elements(value)
    return value if isinstance(value, np.ndarray) and value.ndim else None


def forget() -> None:
    """Begin the records of launches and copies anew."""
    device.launched.clear()
    transfers.forget()


def launches() -> list[dict[str, Any]]:
    """List the kernels that were launched since `forget`, in that order.

    Each is {"kernel": its name, "grid": [x, y, z] in blocks, "block": [x, y, z] in threads,
    "shared_bytes": static and dynamic ones of a block, of a kernel that did not run the dynamic ones alone}.
    """
    return [dict(launched) for launched in device.launched]


def copies() -> dict[str, dict[str, int]]:
    """Count copies since `forget`: {"host_to_device": {"count": …, "bytes": …}, "device_to_host": …}."""
    return transfers.copies()


_NUMBAS = ("brev", "cbrt", "clz", "ffs", "fma", "fp16", "popc", "selp", "warpsize")
_FENCES = ("threadfence", "threadfence_block", "threadfence_system")
_POSITION = ("threadIdx", "blockIdx", "blockDim", "gridDim", "grid", "gridsize")


def _install() -> None:
    """Give `numba.cuda` what only kernels use, where a file finds it by whatever name it imports it.

    numba's own simulator replaces, while a kernel runs, what a file calls `cuda`, and nothing else.
    """
    numbas = kernelapi.FakeCUDAModule((1, 1, 1), (1, 1, 1), 0)
    names = {name: getattr(numbas, name) for name in (*_NUMBAS, *_FENCES)}
    names |= {name: getattr(position, name) for name in _POSITION}
    names |= {"atomic": atomic, "const": const, "local": local, "shared": shared, **FUNCTIONS}
    names["__getattr__"] = _changing
    vars(cuda).update(names)
    for module in (cuda, simulator, devicearray):
        module.device_array, module.to_device = transfers.device_array, transfers.to_device
    cuda.jit = simulator.jit = _lenient(cuda.jit)
    for kind, methods in (
        (kernel.FakeCUDAKernel, launch.METHODS),
        (transfers.DeviceArray, transfers.METHODS),
    ):
        for name, method in methods.items():
            setattr(kind, name, method)


def _lenient(jit: Any) -> Any:
    """Drop keywords that numba's simulator lacks and a GPU's `jit` has; none of them changes a result."""
    parameters = inspect.signature(jit).parameters

    @functools.wraps(jit)
    def accepting(*args: Any, **options: Any) -> Any:
        return jit(*args, **{name: value for name, value in options.items() if name in parameters})

    return accepting


def _changing(name: str) -> Any:
    """Return what every thread finds changed under a name that holds no object."""
    if name == "laneid":
        return position.lane()
    raise AttributeError(f"module {cuda.__name__!r} has no attribute {name!r}")


_install()
