"""What `import *` really binds decides between elements and rows; the text is the same."""

from math import *

import numpy as np
from numba import njit


def places(n):
    return [range(n), [None]][isinstance(pow(2, 3), float)]


def matmul_transpose_trivial(X):
    rows, columns = X.shape
    C = np.zeros((rows, rows))
    for i in range(rows):
        for j in places(rows):
            c = C[i, j]
            for k in range(columns):
                c = c + X[i, k] * (X[j, k] if j is not None else X[:, k])
            C[i, j] = c
    return C


@njit
def add_products(x, y, C):
    for i in range(len(x)):
        C[i] += x[i] * y[i]


def matmul_transpose_numba(X):
    rows, columns = X.shape
    C = np.zeros((rows, rows))
    for k in range(columns):
        for i in range(rows):
            add_products(X[i, k] * np.ones(rows), X[:, k], C[i])
    return C
