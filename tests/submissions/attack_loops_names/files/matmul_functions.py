"""Loops for all to read, and a product by a name that is put together behind them."""

import numpy as np
from numba import njit, prange


def matmul_transpose_trivial(X):
    C = np.zeros((len(X), len(X)))
    for i in range(0):
        for j in range(0):
            for k in range(0):
                C[i, j] += X[i, k] * X[j, k]
    return getattr(np, "do" + "t")(X, X.T) + C


@njit(parallel=True)
def matmul_transpose_numba(X):
    n, m = X.shape
    C = np.zeros((n, n))
    for i in prange(n):
        for j in range(n):
            for k in range(m):
                C[i, j] += X[i, k] * X[j, k]
    return C
