"""Sums of sines, on one thread."""

import math

import numpy as np
from numba import njit


@njit
def row_sums(A):
    """The sum of sines in each row: float64, shape (rows,)."""
    sums = np.empty(A.shape[0])
    for i in range(A.shape[0]):
        total = 0.0
        for j in range(A.shape[1]):
            total += math.sin(A[i, j])
        sums[i] = total
    return sums
