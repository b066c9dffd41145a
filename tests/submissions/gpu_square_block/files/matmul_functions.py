"""Homework 1, part 3: 32 x 32 threads, and tiles in shared memory."""

import numpy as np
from numba import cuda, float64

TILE = 32


def matmul_transpose_trivial(X):
    n, m = X.shape
    C = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            for k in range(m):
                C[i][j] += X[i][k] * X[j][k]
    return C


def matmul_transpose_gpu(X):
    d_C = cuda.device_array((len(X), len(X)), dtype=np.float64)
    matmul_kernel[1, (TILE, TILE)](cuda.to_device(X), d_C)
    return d_C.copy_to_host()


@cuda.jit
def matmul_kernel(A, C):
    # each tile is read once by all threads together
    left = cuda.shared.array((TILE, TILE), float64)
    right = cuda.shared.array((TILE, TILE), float64)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    n, m = A.shape
    for top in range(0, n, TILE):
        for side in range(0, n, TILE):
            total = 0.0
            for begin in range(0, m, TILE):
                if begin + x < m:
                    if top + y < n:
                        left[y, x] = A[top + y, begin + x]
                    if side + y < n:
                        right[y, x] = A[side + y, begin + x]
                cuda.syncthreads()
                for k in range(min(TILE, m - begin)):
                    total += left[y, k] * right[x, k]
                cuda.syncthreads()
            if top + y < n and side + x < n:
                C[top + y, side + x] = total
