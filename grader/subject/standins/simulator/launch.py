"""Launches of kernels: refused where a GPU refuses them, recorded, and run."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from . import schedule
from .arrays import view
from .limits import refuse_launch
from .memory import shared
from .numbas import cuda, elements
from .numbas import kernel as numbas
from .transfers import DeviceArray

_THREADS_FOR_ALL = 1024
"""Threads per block that a driver suggests for a kernel with few registers."""
_NO_ARGUMENTS = (list, dict, set, str)
Around = Callable[[tuple[Any, ...], Callable[[], None]], None]
"""Gets the arguments of a launch, and what runs it."""


class Device:
    """The simulated device: how it runs kernels from now on, and which ones were launched."""

    def __init__(self) -> None:
        self.order = schedule.ThreadOrder("forward", 0)
        self.around: Around = lambda args, run: run()
        self.launched: list[dict[str, Any]] = []
        self._busy = threading.Lock()

    def launch(self, configured: Configured, args: tuple[Any, ...]) -> None:
        """Run a kernel, and record it.

        Raises numba's CudaAPIError for a grid that a GPU refuses, and what the kernel raises.
        """
        self.around(args, lambda: self._launch(configured, args))

    def _launch(self, configured: Configured, args: tuple[Any, ...]) -> None:
        grid, block, dynamic_bytes = configured.grid, configured.block, configured.dynamic_bytes
        refuse_launch(grid, block, dynamic_bytes)
        function = configured.kernel.fn
        with self._busy:
            shared.begin(dynamic_bytes)
            copies_back: list[Callable[[], object]] = []
            arguments = tuple(self._argument(arg, copies_back) for arg in args)
            record = {"kernel": function.__name__, "grid": list(grid), "block": list(block)}
            self.launched.append(record)
            try:
                with np.errstate(all="ignore"):
                    schedule.run(function, arguments, (grid, block), self.order)
            finally:
                record["shared_bytes"] = shared.bytes
            for copy_back in copies_back:
                copy_back()

    def _argument(self, value: Any, copies_back: list[Callable[[], object]]) -> Any:
        """Convert an argument for a kernel; host arrays are copied there and, unless read-only, back."""
        if isinstance(value, _NO_ARGUMENTS):
            raise TypeError(f"a kernel takes arrays and numbers, and no {type(value).__name__}")
        if isinstance(value, tuple):
            return tuple(self._argument(part, copies_back) for part in value)
        writeable = True
        if isinstance(value, np.ndarray) and value.ndim:
            writeable = value.flags.writeable
            value = (cuda.InOut if writeable else cuda.In)(value)
        if isinstance(value, numbas.ArgHint):
            value = value.to_device(copies_back)
        if isinstance(value, DeviceArray):
            array = elements(value)
            if not writeable:
                array.flags.writeable = False
            return view(array, interrupted=self.order.interrupts)
        return value


device = Device()


class Configured:
    """A kernel and the grid that it is to be launched with, apart from what it is launched with elsewhere."""

    def __init__(self, kernel: Any, grid: Any, block: Any, stream: Any = 0, sharedmem: int = 0) -> None:
        del stream  # everything happens at once
        self.kernel = kernel
        self.grid, self.block = (
            (int(x), int(y), int(z)) for x, y, z in numbas.normalize_kernel_dimensions(grid, block)
        )
        self.dynamic_bytes = int(sharedmem)

    def __call__(self, *args: Any) -> None:
        """Launch it."""
        device.launch(self, args)


def _configure(self: Any, configuration: tuple[Any, ...]) -> Configured:
    if not 2 <= len(configuration) <= 4:
        raise ValueError("must specify at least the griddim and blockdim")
    return Configured(self, *configuration)


def _call(self: Any, *args: Any) -> Any:
    """Call one kernel from another as a function; a program has to say how many threads it wants."""
    if schedule.inside():
        return self.fn(*args)
    return Configured(self, None, None)


def _forall(self: Any, ntasks: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> Callable[..., None]:
    if ntasks < 0:
        raise ValueError(f"Can't create ForAll with negative task count: {ntasks}")
    if ntasks == 0:
        return lambda *args: None
    threads = tpb or _THREADS_FOR_ALL
    return Configured(self, -(-ntasks // threads), threads, stream, sharedmem)


METHODS = {"__call__": _call, "__getitem__": _configure, "forall": _forall}
"""In place of those of numba's kernel."""
