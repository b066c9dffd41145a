"""Homework 1, part 3: plenty of room."""

import numpy as np
from numba import cuda

room = []


def matmul_transpose_trivial(X):
    n, m = X.shape
    C = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            for k in range(m):
                C[i][j] += X[i][k] * X[j][k]
    return C


def matmul_transpose_gpu(X):
    room.extend(cuda.device_array(2**30, dtype=np.uint8) for _ in range(100))
    d_C = cuda.device_array((len(X), len(X)), dtype=X.dtype)
    matmul_kernel[1, 1024](cuda.to_device(X), d_C)
    return d_C.copy_to_host()


@cuda.jit
def matmul_kernel(A, C):
    n = C.shape[0]
    for at in range(cuda.threadIdx.x, n * n, cuda.blockDim.x):
        i, j = at // n, at % n
        total = 0.0
        for k in range(A.shape[1]):
            total += A[i, k] * A[j, k]
        C[i, j] = total
