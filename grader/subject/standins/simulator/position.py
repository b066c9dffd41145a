"""Position of the thread that runs: `threadIdx`, `blockIdx`, `blockDim`, `gridDim` and what follows."""

from __future__ import annotations

WARP_SIZE = 32


class Dim3:
    """Three numbers that a kernel reads; they are others whenever another thread goes on."""

    __slots__ = ("x", "y", "z")

    def __init__(self, x: int = 1, y: int = 1, z: int = 1) -> None:
        self.x = x
        self.y = y
        self.z = z


threadIdx = Dim3(0, 0, 0)
blockIdx = Dim3(0, 0, 0)
blockDim = Dim3()
gridDim = Dim3()


def grid(ndim: int) -> int | tuple[int, ...]:
    """Return the place of the thread in the whole grid: a number, or two or three of them."""
    x = blockIdx.x * blockDim.x + threadIdx.x
    if ndim == 1:
        return x
    y = blockIdx.y * blockDim.y + threadIdx.y
    if ndim == 2:
        return x, y
    _three_at_most(ndim)
    return x, y, blockIdx.z * blockDim.z + threadIdx.z


def gridsize(ndim: int) -> int | tuple[int, ...]:
    """Return how many threads the grid has, in one, two or three directions."""
    x = gridDim.x * blockDim.x
    if ndim == 1:
        return x
    y = gridDim.y * blockDim.y
    if ndim == 2:
        return x, y
    _three_at_most(ndim)
    return x, y, gridDim.z * blockDim.z


def _three_at_most(ndim: int) -> None:
    if ndim != 3:
        raise ValueError(f"a grid has one to three dimensions, not {ndim}")


def number() -> int:
    """Return the thread's number in its block; 32 in a row are a warp."""
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)


def lane() -> int:
    """Return the thread's number in its warp."""
    return number() % WARP_SIZE
