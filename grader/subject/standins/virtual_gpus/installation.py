"""Puts virtual GPUs in the place of torch's own: its C++, its operators and its calls."""

from __future__ import annotations

from typing import Any

from . import calls, tensors
from .devices import devices
from .guards import admit
from .kernels import KERNELS
from .operators import outright, run
from .torches import torch

_registered: list[Any] = []
"""Keeps libraries alive: torch forgets what a collected one registered."""


def install(count: int) -> None:
    """Give this process `count` virtual GPUs; once, and before the program that uses them is imported.

    Raises:
        ImportError: torch is built for GPUs, or is a version that cannot be played on.
        RuntimeError: this process has virtual GPUs already.
    """
    if devices.count:
        raise RuntimeError("this process has virtual GPUs already")
    admit()
    devices.begin(count)
    every, named = torch.library.Library("_", "IMPL"), torch.library.Library("aten", "IMPL")
    _registered.extend((every, named))
    every.fallback(run, "CUDA")
    for name, kernel in {**dict(outright()), **KERNELS}.items():
        named.impl(name, kernel, "CUDA")
    calls.replace()
    tensors.replace()
