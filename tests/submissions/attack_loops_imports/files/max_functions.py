"""An import that fails where Python runs it decides between elements and rows; the text is the same."""

import numpy as np
from numba import njit


def places(n):
    try:
        from math import elements  # noqa: F401 - there is none
    except ImportError:
        return [None]
    return range(n)


def max_cpu(A, B):
    rows, columns = A.shape
    C = np.zeros_like(A)
    for i in range(rows):
        for j in places(columns):
            a, b = A[i, j], B[i, j]
            C[i, j] = (a > b) * a + (a <= b) * b
    return C


@njit
def overflows():
    x = 9223372036854775807
    x += 1
    return x < 0


@njit
def larger(P, Q, C):
    for k in range(len(P)):
        C[k] = (P[k] > Q[k]) * P[k] + (P[k] <= Q[k]) * Q[k]


def max_numba(A, B):
    shape = [(-1,), (1, -1)][overflows()]
    C = np.zeros(A.shape, A.dtype)
    larger(A.reshape(shape), B.reshape(shape), C.reshape(shape))
    return C
