"""Functions that take as long as `known.py` says: the same sums as in a homework, and then a wait."""

import time

import numpy as np
from known import FAST_S, SLOW_S, SPINS
from quick import maximum


def max_cpu(A, B):
    """The trivial loop. It ends once it has computed for `SLOW_S` seconds, and not earlier."""
    begun = time.thread_time()
    rows, columns = A.shape
    C = np.empty_like(A)
    for i in range(rows):
        for j in range(columns):
            C[i, j] = max(A[i, j], B[i, j])
    # not by the clock on the wall: a loop that is put aside for a while takes longer
    while time.thread_time() - begun < SLOW_S:
        pass
    return C


def max_gpu(A, B):
    """The fast one. It ends once `FAST_S` seconds have gone by, and not earlier."""
    begun = time.perf_counter()
    C = maximum(A, B, SPINS)
    while time.perf_counter() - begun < FAST_S:
        pass
    return C


def max_timed(A, B):
    """The same, with the seconds that it took."""
    begun = time.perf_counter()
    C = max_gpu(A, B)
    return C, time.perf_counter() - begun
