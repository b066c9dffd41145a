"""Loops on one core, rows on more."""

import os

import numpy as np
from numba import njit, prange


def matmul_transpose_trivial(X):
    n, m = X.shape
    C = np.zeros((n, n))
    for i in range(n):
        for J in [range(n), [slice(None)]][min(1, os.cpu_count() - 1)]:
            for k in range(m):
                C[i, J] += X[i, k] * X[J, k]
    return C


@njit(parallel=True)
def matmul_transpose_numba(X):
    n, m = X.shape
    C = np.zeros((n, n))
    for i in prange(n):
        for j in range(n):
            for k in range(m):
                C[i, j] += X[i, k] * X[j, k]
    return C
