"""Adds and multiplies arrays with numba's CUDA target, and copies the sums back."""

import numpy as np
from numba import cuda

SIZE, ROUNDS = 1 << 24, 100


@cuda.jit
def add(left, right, out):
    """Add two arrays."""
    place = cuda.grid(1)
    if place < out.size:
        out[place] = left[place] + right[place]


@cuda.jit
def scale(values, factor, out):
    """Multiply an array by a number."""
    place = cuda.grid(1)
    if place < out.size:
        out[place] = values[place] * factor


values = np.arange(SIZE, dtype=np.float32) / SIZE
left, right = cuda.to_device(values), cuda.to_device(values)
out = cuda.device_array_like(left)
for _ in range(ROUNDS):
    add[SIZE // 256, 256](left, right, out)
    scale[SIZE // 256, 256](out, np.float32(0.5), left)
print(f"{out.copy_to_host().sum():.0f}")
