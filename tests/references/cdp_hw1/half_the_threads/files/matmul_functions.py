"""The product of a matrix with its own transpose: in Python, compiled, and on a GPU."""

import numpy as np
from numba import cuda, njit, prange

THREADS = 512


def matmul_transpose_trivial(X):
    """X times its transpose, a multiplication at a time."""
    n, length = X.shape
    C = np.zeros((n, n), X.dtype)
    for i in range(n):
        for j in range(n):
            for k in range(length):
                C[i, j] += X[i, k] * X[j, k]
    return C


@njit(parallel=True)
def matmul_transpose_numba(X):
    """The same, compiled, with the rows shared out among the cores."""
    n, length = X.shape
    C = np.empty((n, n), X.dtype)
    for i in prange(n):
        for j in range(n):
            total = X.dtype.type(0)
            for k in range(length):
                total += X[i, k] * X[j, k]
            C[i, j] = total
    return C


def matmul_transpose_gpu(X):
    """The same on the GPU, by a single block of 512 threads."""
    C = cuda.device_array((X.shape[0], X.shape[0]), X.dtype)
    matmul_kernel[1, THREADS](cuda.to_device(X), C)
    return C.copy_to_host()


@cuda.jit
def matmul_kernel(A, C):
    """Each thread takes every 512th element on and below the diagonal, and writes it to both halves."""
    n = C.shape[0]
    for at in range(cuda.threadIdx.x, n * n, cuda.blockDim.x):
        i = at // n
        j = at % n
        if j <= i:
            total = 0.0
            for k in range(A.shape[1]):
                total += A[i, k] * A[j, k]
            C[i, j] = total
            C[j, i] = total
