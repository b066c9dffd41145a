"""A type of numbers makes an array of a list of arrays, and whole arrays are computed with; nothing is compiled."""

import numpy as np


def matmul_transpose_trivial(X):
    x = np.float64([X])[0]
    C = 0.0
    for k in range(X.shape[1]):
        C = C + x[:, k, None] * x[None, :, k]
    return C


matmul_transpose_numba = matmul_transpose_trivial
