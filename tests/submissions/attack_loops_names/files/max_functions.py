"""No loop: a method of the first matrix, which is no name that is imported."""

import numpy as np
from numba import njit, prange


def max_cpu(A, B):
    return A.clip(B)


@njit(parallel=True)
def max_numba(A, B):
    C = np.zeros(A.shape, dtype=A.dtype)
    for i in prange(A.shape[0]):
        for j in range(A.shape[1]):
            C[i, j] = A[i, j] if A[i, j] > B[i, j] else B[i, j]
    return C
