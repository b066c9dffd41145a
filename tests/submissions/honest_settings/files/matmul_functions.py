"""A product in plain loops, with the number of columns in blocks that numbers decide."""

import numpy as np
from numba import njit, prange

BLOCK = 32


def matmul_transpose_trivial(X):
    n, m = X.shape
    C = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for first in range(0, n, BLOCK):
            for j in range(first, min(n, first + BLOCK)):
                total = 0.0
                for k in range(m):
                    total += X[i, k] * X[j, k]
                C[i][j] = total
    return np.array(C)


@njit(parallel=True)
def matmul_transpose_numba(X):
    n, m = X.shape
    C = np.zeros((n, n))
    for i in prange(n):
        for j in range(n):
            for k in range(m):
                C[i, j] += X[i, k] * X[j, k]
    return C
