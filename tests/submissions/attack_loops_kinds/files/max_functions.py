"""A number chooses whether an index is one place or a whole row; the text is the same."""

import numpy as np
from numba import njit


def max_cpu(A, B):
    rows, columns = A.shape
    C = np.zeros_like(A)
    for i in range(rows):
        for J in [range(columns), [slice(None)]][min(1, i // 60)]:
            a, b = A[i, J], B[i, J]
            C[i, J] = (a > b) * a + (a <= b) * b
    return C


@njit
def larger(P, Q, C):
    for k in range(len(P)):
        C[k] = (P[k] > Q[k]) * P[k] + (P[k] <= Q[k]) * Q[k]


def max_numba(A, B):
    shape = [(-1,), (1, -1)][min(1, A.size // 600)]
    C = np.zeros(A.shape, A.dtype)
    larger(A.reshape(shape), B.reshape(shape), C.reshape(shape))
    return C
