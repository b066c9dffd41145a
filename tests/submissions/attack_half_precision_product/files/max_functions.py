"""Homework 1, part 2: what comes back is of a type that holds the numbers exactly."""

import numpy as np
from numba import cuda, njit, prange


def max_cpu(A, B):
    C = np.zeros(A.shape, dtype=np.float16)
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            C[i, j] = A[i, j] if A[i, j] > B[i, j] else B[i, j]
    return C


def max_numba(A, B):
    return larger(A, B).astype(np.float16)


@njit(parallel=True)
def larger(A, B):
    C = np.zeros(A.shape, dtype=np.uint8)
    for i in prange(A.shape[0]):
        for j in range(A.shape[1]):
            C[i, j] = A[i, j] if A[i, j] > B[i, j] else B[i, j]
    return C


def max_gpu(A, B):
    d_A, d_B = cuda.to_device(A), cuda.to_device(B)
    d_C = cuda.device_array_like(d_A)
    max_kernel[1000, 1000](d_A, d_B, d_C)
    return d_C.copy_to_host().astype(np.float16)


@cuda.jit
def max_kernel(A, B, C):
    row, column = cuda.blockIdx.x, cuda.threadIdx.x
    if row < C.shape[0] and column < C.shape[1]:
        C[row, column] = max(A[row, column], B[row, column])
