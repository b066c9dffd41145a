"""The product of a matrix with its own transpose: in Python, compiled, and on a GPU."""

import timeit

import numpy as np
from numba import cuda, njit


def matmul_transpose_trivial(X):
    """X times its transpose, in the trivial way: three nested loops.

    Args:
        X: a matrix of shape (n, m).

    Returns:
        A matrix of shape (n, n).
    """
    # To do
    raise NotImplementedError("matmul_transpose_trivial is still to do")


@njit(parallel=True)
def matmul_transpose_numba(X):
    """The same, compiled by Numba. Keep the decorator.

    Args:
        X: a matrix of shape (n, m).

    Returns:
        A matrix of shape (n, n).
    """
    # To do
    raise NotImplementedError("matmul_transpose_numba is still to do")


def matmul_transpose_gpu(X):
    """The same on the GPU, by `matmul_kernel` with a single block of 1024 threads.

    Args:
        X: a matrix of shape (n, m).

    Returns:
        A matrix of shape (n, n), in the memory of the CPU.
    """
    # To do
    raise NotImplementedError("matmul_transpose_gpu is still to do")


@cuda.jit
def matmul_kernel(A, C):
    """What one of the 1024 threads does: between them they fill all of C, however large it is."""
    # To do


# Below here nothing is to do.


def seconds(function, *arguments):
    """How long a call takes: the best of three rounds of twenty."""
    return min(timeit.repeat(lambda: function(*arguments), repeat=3, number=20)) / 20


def compare():
    """Check the functions, and print how long each takes; the trivial one only on a tenth of the rows."""
    fast = (matmul_transpose_numba, matmul_transpose_gpu)
    for rows, functions in ((78, (matmul_transpose_trivial, *fast)), (784, fast)):
        X = np.random.randn(rows, 128)
        print(f"With {rows} rows of 128 numbers:")
        for function in functions:
            # The first call also compiles.
            if not np.allclose(function(X), np.matmul(X, X.T)):
                print(f"{function.__name__} gives a wrong result")
                return
            print(f"{function.__name__ + ':':<26}{seconds(function, X):.6f} seconds")


if __name__ == "__main__":
    compare()
