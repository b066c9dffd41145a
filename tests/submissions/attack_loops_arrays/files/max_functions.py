"""A type of numbers makes an array of a list of arrays, and whole arrays are computed with; nothing is compiled."""

import numpy as np


def max_cpu(A, B):
    a, b = np.int64([A])[0], np.int64([B])[0]
    return a * (a > b) + b * (a <= b)


max_numba = max_cpu
