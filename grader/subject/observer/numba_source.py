"""numba's own account of what it launches, beside CUPTI's; and a way to keep its kernels from running."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from .names import kernel_name
from .record import LAUNCHES, launch


class NumbaLaunches:
    """Wraps the method that every launch goes through; `CUDADispatcher.call` would count some twice."""

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []
        self.withhold = False
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
            return None if self.withhold else original(this, args, griddim, blockdim, *more, **named)

        kernel.launch = launched
        self.installed = True
