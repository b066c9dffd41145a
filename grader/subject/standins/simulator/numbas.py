"""The parts of numba's own simulator that are used here or replaced; numba describes no types of theirs."""

from __future__ import annotations

from typing import Any

from numba import config as _config
from numba import cuda as _cuda
from numba.cuda import simulator as _simulator
from numba.cuda.simulator import kernel as _kernel
from numba.cuda.simulator import kernelapi as _kernelapi
from numba.cuda.simulator.cudadrv import devicearray as _devicearray
from numba.cuda.simulator.cudadrv import driver as _driver

config: Any = _config
cuda: Any = _cuda
simulator: Any = _simulator
kernel: Any = _kernel
kernelapi: Any = _kernelapi
devicearray: Any = _devicearray
driver: Any = _driver


def elements(device_array: Any) -> Any:
    """Return the numpy array that a device array wraps."""
    return device_array._ary  # noqa: SLF001  # numba has no public name for it
