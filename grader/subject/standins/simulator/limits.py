"""Limits of a launch on a GPU of compute capability 9.0, and its errors beyond them."""

from __future__ import annotations

from math import prod

from .blocks import Index
from .numbas import driver

_GRID = (2**31 - 1, 65535, 65535)
_BLOCK = (1024, 1024, 64)
_THREADS = 1024
_SHARED_BYTES = 48 * 1024
"""Without opting in to more. All from the CUDA C++ Programming Guide, Technical Specifications per Compute
Capability."""

CudaAPIError: type[Exception] = driver.CudaAPIError


def refuse_launch(grid: Index, block: Index, dynamic_bytes: int) -> None:
    """Raise numba's CudaAPIError if a grid of so many blocks of so many threads cannot be launched."""
    for what, shape, limits in (("grid", grid, _GRID), ("block", block, _BLOCK)):
        for axis, size, limit in zip("xyz", shape, limits, strict=True):
            if not 1 <= size <= limit:
                raise _invalid(f"the {what} {shape} has size {size} in {axis}, allowed are 1 to {limit}")
    if prod(block) > _THREADS:
        raise _invalid(f"{prod(block)} threads per block, allowed are {_THREADS}")
    refuse_shared(0, dynamic_bytes)


def refuse_shared(static_bytes: int, dynamic_bytes: int) -> None:
    """Raise numba's CudaAPIError if a block needs too much for its kernel's own arrays and its launch's."""
    if static_bytes > _SHARED_BYTES:
        raise CudaAPIError(
            "[218] Call to cuLinkAddData results in CUDA_ERROR_INVALID_PTX: too many resources: the kernel"
            f" uses {static_bytes} bytes of shared memory per block, allowed are {_SHARED_BYTES}"
        )
    if static_bytes + dynamic_bytes > _SHARED_BYTES:
        raise _invalid(
            f"{static_bytes} static and {dynamic_bytes} dynamic bytes of shared memory per block,"
            f" allowed are {_SHARED_BYTES} together"
        )


def _invalid(why: str) -> Exception:
    return CudaAPIError(f"[1] Call to cuLaunchKernel results in CUDA_ERROR_INVALID_VALUE: {why}")
