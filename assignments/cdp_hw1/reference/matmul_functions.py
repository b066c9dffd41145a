"""The product of a matrix with its own transpose: in Python, compiled, and on a GPU."""

import numpy as np
from numba import config, cuda, float64, njit, prange

THREADS = 1024
TILE = 128
"""Rows and columns of the result that the block computes at a time: 16 cells for each thread."""
DEPTH = 16
"""Columns of the tile's rows that are in shared memory at a time."""
PANEL = (DEPTH, TILE + 1)
"""With a column more, the threads that write a row of A into a panel meet in no bank of shared memory."""
SIDE = 4
CELLS = (SIDE, SIDE)
OPTIONS = {} if config.ENABLE_CUDASIM else {"max_registers": 65536 // THREADS}
"""With more registers a thread, the block does not fit on a multiprocessor; the simulator knows none."""


def matmul_transpose_trivial(X):
    """X times its transpose, a multiplication at a time."""
    n, length = X.shape
    C = np.zeros((n, n), X.dtype)
    for i in range(n):
        for j in range(n):
            for k in range(length):
                C[i, j] += X[i, k] * X[j, k]
    return C


@njit(parallel=True)
def matmul_transpose_numba(X):
    """The same, compiled, with the rows shared out among the cores."""
    n, length = X.shape
    C = np.empty((n, n), X.dtype)
    for i in prange(n):
        for j in range(n):
            total = X.dtype.type(0)
            for k in range(length):
                total += X[i, k] * X[j, k]
            C[i, j] = total
    return C


def matmul_transpose_gpu(X):
    """The same on the GPU, by a single block of 1024 threads."""
    C = cuda.device_array((X.shape[0], X.shape[0]), X.dtype)
    matmul_kernel[1, THREADS](cuda.to_device(X), C)
    return C.copy_to_host()


@cuda.jit(**OPTIONS)
def matmul_kernel(A, C):
    """Compute each cell on and below the diagonal once, tile by tile, and write it to both halves.

    The rows of A that a tile needs pass through shared memory, and the sums stay in registers. A warp has
    16 rows and 32 columns of the tile, so that warps without a cell below the diagonal have nothing to do;
    its 32 threads stand in 4 rows and 8 columns, so that they read shared memory without conflicts and write
    whole sectors of C, in either half.
    """
    rows = cuda.shared.array(PANEL, float64)
    columns = cuda.shared.array(PANEL, float64)
    sums = cuda.local.array(CELLS, float64)
    n, length = A.shape
    # Bits of the thread's number: with / and % the compiler would allow for negative indices.
    thread = cuda.threadIdx.x & (THREADS - 1)
    row = thread >> 4
    k = thread & (DEPTH - 1)
    warp_i = (thread >> 7) * 16
    warp_j = ((thread >> 5) & 3) * 32
    i = warp_i + ((thread >> 3) & 3)
    j = warp_j + (thread & 7)
    for top in range(0, n, TILE):
        for left in range(0, top + 1, TILE):
            for r in range(SIDE):
                for c in range(SIDE):
                    sums[r, c] = 0.0
            computes = top + warp_i < n and left + warp_j < top + warp_i + 16
            for first in range(0, length, DEPTH):
                # All four are on their way while other threads still compute.
                above = element(A, top + row, first + k)
                below = element(A, top + row + TILE // 2, first + k)
                before = element(A, left + row, first + k)
                behind = element(A, left + row + TILE // 2, first + k)
                cuda.syncthreads()
                rows[k, row] = above
                rows[k, row + TILE // 2] = below
                columns[k, row] = before
                columns[k, row + TILE // 2] = behind
                cuda.syncthreads()
                if computes:
                    for step in range(DEPTH):
                        for r in range(SIDE):
                            for c in range(SIDE):
                                sums[r, c] += rows[step, i + 4 * r] * columns[step, j + 8 * c]
            for r in range(SIDE):
                for c in range(SIDE):
                    y = top + i + 4 * r
                    x = left + j + 8 * c
                    if x <= y < n:
                        C[y, x] = sums[r, c]
                        C[x, y] = sums[r, c]


@cuda.jit(device=True)
def element(A, i, j):
    """Return an element of A; outside of it all are 0."""
    return A[i, j] if i < A.shape[0] and j < A.shape[1] else 0.0
