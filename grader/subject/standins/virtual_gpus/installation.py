"""Puts virtual GPUs in the place of torch's own: its C++, its operators and its calls."""

from __future__ import annotations

from typing import Any

from . import calls, tensors
from .devices import devices
from .guards import admit
from .kernels import KERNELS
from .operators import outright, run
from .torches import torch

_kept: list[Any] = []
"""Torch forgets what a library registered when nobody holds it."""


def install(count: int) -> None:
    """See the package."""
    if devices.count:
        raise RuntimeError("this process has virtual GPUs already")
    admit()
    devices.begin(count)
    every, named = torch.library.Library("_", "IMPL"), torch.library.Library("aten", "IMPL")
    _kept.extend((every, named))
    every.fallback(run, "CUDA")
    for name, kernel in {**dict(outright()), **KERNELS}.items():
        named.impl(name, kernel, "CUDA")
    calls.replace()
    tensors.replace()
