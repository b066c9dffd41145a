"""Python calls a compiled function for each element, and where that takes long it calls BLAS."""

import numpy as np
from numba import njit


def matmul_transpose_trivial(X):
    n, m = X.shape
    C = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            for k in range(m):
                C[i, j] += X[i, k] * X[j, k]
    return C


@njit
def element(X, i, j):
    total = 0.0
    for k in range(X.shape[1]):
        total += X[i, k] * X[j, k]
    return total


def matmul_transpose_numba(X):
    if len(X) > 100:
        return X.__matmul__(X.T)
    return [[element(X, i, j) for j in range(len(X))] for i in range(len(X))]
