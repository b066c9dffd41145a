"""The maximum on a GPU, copies included."""

from numba import cuda


def maximum(A, B, spins):
    """A block per row and a thread per column, each of which first computes in vain `spins` times."""
    C = cuda.device_array(A.shape, A.dtype)
    max_kernel[A.shape[0], A.shape[1]](cuda.to_device(A), cuda.to_device(B), C, spins, -1)
    return C.copy_to_host()


@cuda.jit
def max_kernel(A, B, C, spins, never):
    """The compiler does not know that nothing is equal to `never`, and so leaves the loop in."""
    i, j = cuda.blockIdx.x, cuda.threadIdx.x
    if i < C.shape[0] and j < C.shape[1]:
        value = i + j
        for n in range(spins):
            value = (value * 1103515245 + n) & 0x7FFFFFFF
        C[i, j] = max(A[i, j], B[i, j]) + (value == never)
