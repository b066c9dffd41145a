"""The larger of two numbers for every element of two matrices: in Python, compiled, and on a GPU."""

import numpy as np
from numba import cuda, njit, prange

BLOCKS = 1000
THREADS = 1000


def max_cpu(A, B):
    """The elementwise maximum of two matrices of the same shape, an element at a time."""
    rows, columns = A.shape
    C = np.empty_like(A)
    for i in range(rows):
        for j in range(columns):
            C[i, j] = max(A[i, j], B[i, j])
    return C


@njit(parallel=True)
def max_numba(A, B):
    """The same, compiled, with the rows shared out among the cores."""
    rows, columns = A.shape
    C = np.empty_like(A)
    for i in prange(rows):
        for j in range(columns):
            C[i, j] = max(A[i, j], B[i, j])
    return C


def max_gpu(A, B):
    """The same on the GPU: two copies there, one launch, one copy back."""
    C = cuda.device_array(A.shape, A.dtype)
    max_kernel[BLOCKS, THREADS](cuda.to_device(A), cuda.to_device(B), C)
    return C.copy_to_host()


@cuda.jit
def max_kernel(A, B, C):
    """A block per row and a thread per column; neighbouring threads read neighbouring elements."""
    i = cuda.blockIdx.x
    j = cuda.threadIdx.x
    if i < C.shape[0] and j < C.shape[1]:
        C[i, j] = max(A[i, j], B[i, j])
