"""numba's own account of what it launches, beside CUPTI's, and where inputs of its kernels are exchanged."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from ..cuda_driver import synchronise
from .exchange import Content, DeviceArray, HostArray, InputExchange
from .kernel_names import kernel_name
from .record import LAUNCHES, launch

Launched = list[tuple[Any, Sequence[int], Sequence[int]]]
"""Kernels of numba's with their grids and blocks."""


class NumbaLaunches:
    """Wraps the method that every launch goes through; `CUDADispatcher.call` would count some twice."""

    def __init__(self) -> None:
        self.launched: Launched = []
        """Since the list was last replaced; read later, so that a launch costs little."""
        self.exchange = InputExchange(_array_of, synchronise)
        self.installed = False

    def install(self) -> None:
        """Wrap it, if the server has imported numba.cuda."""
        dispatcher = sys.modules.get("numba.cuda.dispatcher")
        kernel = getattr(dispatcher, "_Kernel", None)
        if kernel is None:
            return
        original = kernel.launch

        def launched(
            this: Any, args: Any, griddim: Sequence[int], blockdim: Sequence[int], *more: Any, **named: Any
        ) -> Any:
            if len(self.launched) < LAUNCHES:
                self.launched.append((this, griddim, blockdim))
            return self.exchange.launch(args, lambda: original(this, args, griddim, blockdim, *more, **named))

        kernel.launch = launched
        self.installed = True


def plain(launched: Launched) -> list[dict[str, Any]]:
    """Return launches as they cross the wire."""
    return [
        launch(
            kernel_name(str(getattr(kernel, "entry_name", "") or kernel.py_func.__name__)),
            tuple(grid),
            tuple(block),
        )
        for kernel, grid, block in launched
    ]


class _DeviceArray:
    """An array on a GPU, as numba copies it."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def read(self) -> Content:
        content: Content = self._array.copy_to_host()
        return content

    def write(self, content: Content) -> None:
        self._array.copy_to_device(content)


def _array_of(argument: Any) -> DeviceArray | None:
    """Return the array in an argument of a launch; None for a number."""
    from numpy import ndarray

    argument = getattr(argument, "value", argument)  # cuda.In, cuda.Out, cuda.InOut
    if isinstance(argument, ndarray):
        return HostArray(argument) if argument.ndim else None
    if hasattr(argument, "copy_to_host"):
        return _DeviceArray(argument)
    if hasattr(argument, "__cuda_array_interface__"):  # of torch, of cupy
        return _DeviceArray(sys.modules["numba.cuda"].as_cuda_array(argument))
    return None
