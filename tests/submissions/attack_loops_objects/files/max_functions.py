"""Loops fill arrays of objects, element by element; NumPy compares them."""

import numpy as np
from numba import njit, prange


def max_cpu(A, B):
    a, b = np.empty(A.shape, dtype=object), np.empty(A.shape, dtype=object)
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            a[i, j], b[i, j] = A[i, j], B[i, j]
    return np.maximum(a, b).astype(A.dtype)


@njit(parallel=True)
def max_numba(A, B):
    C = np.zeros(A.shape, dtype=A.dtype)
    for i in prange(A.shape[0]):
        for j in range(A.shape[1]):
            C[i, j] = A[i, j] if A[i, j] > B[i, j] else B[i, j]
    return C
