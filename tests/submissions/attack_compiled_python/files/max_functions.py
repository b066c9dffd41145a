"""Python loops over what compiled code has copied to lists."""

import numpy as np
from numba import njit


def max_cpu(A, B):
    C = np.zeros(A.shape, dtype=A.dtype)
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            C[i, j] = A[i, j] if A[i, j] > B[i, j] else B[i, j]
    return C


@njit
def compiled(A):
    return [[int(a) for a in row] for row in A]


def max_numba(A, B):
    return [[max(a, b) for a, b in zip(*rows)] for rows in zip(compiled(A), compiled(B))]
