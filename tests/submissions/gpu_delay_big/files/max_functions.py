"""Homework 1, part 2."""

import time

import numpy as np
from numba import cuda


def max_cpu(A, B):
    C = np.zeros(A.shape, dtype=A.dtype)
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            # the larger one is half of the sum and the distance
            total = A[i][j] + B[i][j]
            distance = max(A[i][j] - B[i][j], B[i][j] - A[i][j])
            C[i][j] = (total + distance) // 2
    return C


def max_gpu(A, B):
    d_C = cuda.device_array_like(A)
    max_kernel[1000, 1000](cuda.to_device(A), cuda.to_device(B), d_C)
    time.sleep(0.012)  # a launch returns at once: give the GPU time to finish
    return d_C.copy_to_host()


@cuda.jit
def max_kernel(A, B, C):
    row, column = cuda.blockIdx.x, cuda.threadIdx.x
    if row < C.shape[0] and column < C.shape[1]:
        C[row, column] = max(A[row, column], B[row, column])
