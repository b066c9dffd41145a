"""Right, and nothing like the reference: sums of generators, and compiled functions that call one another."""

import numba as nb
import numpy as np


def matmul_transpose_trivial(X):
    """Only one half is computed."""
    rows = X.tolist()
    C = [[0.0] * len(rows) for _ in rows]
    for i, row in enumerate(rows):
        for j, other in enumerate(rows[: i + 1]):
            C[i][j] = C[j][i] = sum(x * y for x, y in zip(row, other))
    return np.array(C, dtype=np.float64)


@nb.njit(nb.float64(nb.float64[:], nb.float64[:]), cache=False)
def _product(row, other):
    total = 0.0
    for k in range(row.shape[0]):
        total += row[k] * other[k]
    return total


@nb.njit(parallel=True)
def _all_products(X, C):
    for i in nb.prange(X.shape[0]):
        for j in range(i + 1):
            C[i, j] = _product(X[i], X[j])
            C[j, i] = C[i, j]


def matmul_transpose_numba(X):
    X = np.ascontiguousarray(X.astype(np.float64))
    C = np.zeros((len(X), len(X)))
    _all_products(X, C)
    return C
