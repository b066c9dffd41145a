"""Virtual GPUs for torch: a program for cuda:0, cuda:1, … runs on a torch that knows the CPU alone.

Tensors are torch's own, with a CUDA device and with memory of the host behind it; torch's kernels for the CPU
compute what is in them. What `table` does not name is refused. Nothing takes the time that it takes on a GPU,
random numbers are others, and each call has done its work when it returns.
"""

from __future__ import annotations

from typing import Any

__all__ = ["forget", "install", "record"]


def install(count: int) -> None:
    """Give this process `count` virtual GPUs; once, and before the program that uses them is imported.

    Raises:
        ImportError: torch is missing, is built for GPUs, or is a version that cannot be played on.
        RuntimeError: this process has virtual GPUs already.
    """
    from . import installation

    installation.install(count)


def record() -> dict[str, Any]:
    """What ran where since `forget`, as JSON has it.

    {"devices": [{"device": 0, "operators": {"mm": 9, …}, "allocated_bytes": now, "peak_bytes": at most}, …],
    "copies": [{"from": "cpu", "to": "cuda:0", "count": …, "bytes": …}, …]}. Operators are counted by name,
    also those that autograd runs; a copy within a device is one of them, `copy`.
    """
    from .placement import placement

    return placement.plain()


def forget() -> None:
    """Begin the record anew; what is allocated stays, and the peak begins with it."""
    from .placement import placement

    placement.forget()
