"""Loops beside what many files have: settings, a table of times, a class, packages that may be missing."""

import os
import sys
import time
import warnings
from functools import lru_cache

import numpy as np
from numba import njit, prange

warnings.filterwarnings("ignore")
os.environ.setdefault("OMP_NUM_THREADS", "2")
np.random.seed(1)
np.set_printoptions(precision=3, suppress=True)
try:
    import matplotlib.pyplot as plt

    HAS_PLOTS = True
except ImportError:
    HAS_PLOTS = False

NAMES = ["max_cpu", "max_numba"]
TIMES = {}


class Timer:
    """Takes the time of a block."""

    def __enter__(self):
        self.begin = time.perf_counter()

    def __exit__(self, *error):
        TIMES[len(TIMES)] = time.perf_counter() - self.begin


@lru_cache(maxsize=None)
def power(base, exponent):
    return base**exponent


def max_cpu(A, B):
    begin = time.perf_counter()
    rows, columns = A.shape
    C = np.empty((rows, columns), dtype=A.dtype)
    print(f"{NAMES[0]}: {rows} x {columns} of {A.dtype}, at most {power(2, 8) - 1}", A, file=sys.stderr)
    for i in range(rows):
        for j in range(columns):
            C[i, j] = A[i, j] if A[i, j] >= B[i, j] else B[i, j]
    print("took {:.3f} s".format(time.perf_counter() - begin), f"{time.perf_counter() - begin:.3f}")
    return C


@njit(parallel=True, cache=False, fastmath=True)
def max_numba(A, B):
    C = np.empty_like(A)
    for i in prange(A.shape[0]):
        for j in range(A.shape[1]):
            C[i, j] = max(A[i, j], B[i, j])
    return C


def draw():
    if HAS_PLOTS:
        plt.plot(list(TIMES.values()))
