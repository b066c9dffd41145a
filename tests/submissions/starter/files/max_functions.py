"""The larger of two numbers for every element of two matrices: in Python, compiled, and on a GPU."""

import timeit

import numpy as np
from numba import cuda, njit


def max_cpu(A, B):
    """The elementwise maximum on the CPU, in the trivial way: loops, and no vectorised NumPy.

    Args:
        A: a matrix of whole numbers.
        B: a matrix of the same shape.

    Returns:
        A matrix of the same shape.
    """
    # To do
    raise NotImplementedError("max_cpu is still to do")


@njit(parallel=True)
def max_numba(A, B):
    """The same, compiled by Numba. Keep the decorator.

    Args:
        A: a matrix of whole numbers.
        B: a matrix of the same shape.

    Returns:
        A matrix of the same shape.
    """
    # To do
    raise NotImplementedError("max_numba is still to do")


def max_gpu(A, B):
    """The same on the GPU, by `max_kernel` with 1000 blocks of 1000 threads.

    Args:
        A: a matrix of whole numbers, of shape (1000, 1000).
        B: a matrix of the same shape.

    Returns:
        A matrix of the same shape, in the memory of the CPU.
    """
    # To do
    raise NotImplementedError("max_gpu is still to do")


@cuda.jit
def max_kernel(A, B, C):
    """What one thread of `max_gpu` does: it writes to C where it is its turn."""
    # To do


# Below here nothing is to do.


def seconds(function, *arguments):
    """How long a call takes: the best of three rounds of twenty."""
    return min(timeit.repeat(lambda: function(*arguments), repeat=3, number=20)) / 20


def compare():
    """Check the three functions on large matrices, and print how long each takes."""
    A = np.random.randint(0, 256, (1000, 1000))
    B = np.random.randint(0, 256, (1000, 1000))
    right = np.maximum(A, B)
    taken = {}
    for function in (max_cpu, max_numba, max_gpu):
        # The first call also compiles.
        if not np.array_equal(function(A, B), right):
            print(f"{function.__name__} gives a wrong result")
            return
        taken[function] = seconds(function, A, B)
        print(f"{function.__name__ + ':':<11}{taken[function]:.6f} seconds")
    for other in (max_cpu, max_numba):
        print(f"max_gpu is {taken[other] / taken[max_gpu]:.1f} times as fast as {other.__name__}")


if __name__ == "__main__":
    compare()
