"""Whole rows are multiplied by NumPy where the third loop should be compiled."""

import numpy as np
from numba import njit, prange


def matmul_transpose_trivial(X):
    n, m = X.shape
    C = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            for k in range(m):
                C[i, j] += X[i, k] * X[j, k]
    return C


@njit(parallel=True)
def matmul_transpose_numba(X):
    n = X.shape[0]
    C = np.zeros((n, n))
    for i in prange(n):
        for j in range(n):
            C[i, j] = (X[i] * X[j]).sum()
    return C
