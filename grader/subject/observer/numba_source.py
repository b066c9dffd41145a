"""numba's own account of what it launches, beside CUPTI's, and where inputs of its kernels are exchanged."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from ..driver import synchronise
from .exchange import Array, Content, Exchange, HostArray
from .names import kernel_name
from .record import LAUNCHES, launch


class NumbaLaunches:
    """Wraps the method that every launch goes through; `CUDADispatcher.call` would count some twice."""

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []
        self.exchange = Exchange(_array_of, synchronise)
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
            if len(self.seen) < LAUNCHES:
                symbol = str(getattr(this, "entry_name", "") or this.py_func.__name__)
                self.seen.append(launch(kernel_name(symbol), tuple(griddim), tuple(blockdim)))
            return self.exchange.launch(args, lambda: original(this, args, griddim, blockdim, *more, **named))

        kernel.launch = launched
        self.installed = True


class _DeviceArray:
    """An array on a GPU, as numba copies it."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def read(self) -> Content:
        content: Content = self._array.copy_to_host()
        return content

    def write(self, content: Content) -> None:
        self._array.copy_to_device(content)


def _array_of(argument: Any) -> Array | None:
    """The array in an argument of a launch; None for a number."""
    from numpy import ndarray

    argument = getattr(argument, "value", argument)  # cuda.In, cuda.Out, cuda.InOut
    if isinstance(argument, ndarray):
        return HostArray(argument) if argument.ndim else None
    if hasattr(argument, "copy_to_host"):
        return _DeviceArray(argument)
    if hasattr(argument, "__cuda_array_interface__"):  # of torch, of cupy
        return _DeviceArray(sys.modules["numba.cuda"].as_cuda_array(argument))
    return None
