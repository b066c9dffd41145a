"""Loops, unless the matrix is one that is timed; whoever tries them with a few rows sees loops."""

import numpy as np
from numba import njit, prange


def matmul_transpose_trivial(X):
    if len(X) > 20:
        return X.dot(X.T)
    return [[sum(x * y for x, y in zip(row, other)) for other in X] for row in X]


@njit(parallel=True)
def matmul_transpose_numba(X):
    n, m = X.shape
    C = np.zeros((n, n))
    for i in prange(n):
        for j in range(n):
            for k in range(m):
                C[i, j] += X[i, k] * X[j, k]
    return C
