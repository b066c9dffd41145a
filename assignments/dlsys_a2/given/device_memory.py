"""Arrays in the memory of a GPU by the CUDA driver itself: no code of a submission is in between."""

import ctypes
from math import prod

import numpy as np
from submission import module

ndarray = module("ndarray")

try:
    _DRIVER = ctypes.CDLL("libcuda.so.1")
except OSError:  # a stand-in, whose device memory the CPU reaches
    _DRIVER = None

ON_DEVICE = 2
"""CU_MEMORYTYPE_DEVICE."""
_ELSEWHERE = "the result does not lie in the memory of the GPU"
_MEMORY_TYPE, _IS_MANAGED = 2, 8
"""CU_POINTER_ATTRIBUTE_MEMORY_TYPE and _IS_MANAGED."""


class Placed(ndarray.NDArray):
    """An array of float32 on the GPU, in memory that only it has.

    Args:
        shape: its shape; it holds nothing at first.
    """

    def __init__(self, shape):
        self._lengths = (ctypes.c_int64 * len(shape))(*shape)
        self._memory = _allocated(4 * prod(shape))
        array = ndarray.DLArray(self._memory[0], ndarray.gpu(0), len(shape), self._lengths)
        super().__init__(ctypes.pointer(array))

    def __del__(self):
        """The memory lasts as long as the process, which is short."""


def placed(values):
    """An array on the GPU with the values of one of NumPy's."""
    array, values = Placed(values.shape), np.ascontiguousarray(values, np.float32)
    if _DRIVER is None:
        ctypes.memmove(_address(array).value, values.ctypes.data, values.nbytes)
    else:
        _check(_DRIVER.cuMemcpyHtoD_v2(_address(array), values.ctypes.data_as(ctypes.c_void_p), _size(array)))
    return array


def copy(source, target):
    """Copy one array over another of its shape, on the GPU."""
    if _DRIVER is None:
        ctypes.memmove(_address(target).value, _address(source).value, _size(source).value)
    else:
        _check(_DRIVER.cuMemcpyDtoD_v2(_address(target), _address(source), _size(source)))


def fill(array, bits):
    """Write the same 32 bits to every element."""
    if _DRIVER is None:
        elements = (ctypes.c_uint32 * prod(array.shape)).from_address(array.handle.contents.data)
        np.frombuffer(elements, np.uint32)[:] = bits
    else:
        count = ctypes.c_size_t(prod(array.shape))
        _check(_DRIVER.cuMemsetD32_v2(_address(array), ctypes.c_uint(int(bits)), count))


def wait():
    """Wait until the GPU has done all that it was given."""
    if _DRIVER is not None:
        _check(_DRIVER.cuCtxSynchronize())


def read(array):
    """The values of an array on the GPU, in a new one of NumPy's.

    Raises:
        ValueError: it lies in memory that is not the GPU's alone.
    """
    if not isinstance(array, ndarray.NDArray) or array.ctx != ndarray.gpu(0):
        raise ValueError(_ELSEWHERE)
    values = np.empty(array.shape, np.float32)
    if _DRIVER is None:
        ctypes.memmove(values.ctypes.data, _address(array).value, values.nbytes)
        return values
    kind, managed = ctypes.c_uint(), ctypes.c_uint()
    _check(_DRIVER.cuPointerGetAttribute(ctypes.byref(kind), _MEMORY_TYPE, _address(array)))
    _check(_DRIVER.cuPointerGetAttribute(ctypes.byref(managed), _IS_MANAGED, _address(array)))
    if kind.value != ON_DEVICE or managed.value:
        raise ValueError(_ELSEWHERE)
    _check(_DRIVER.cuMemcpyDtoH_v2(values.ctypes.data_as(ctypes.c_void_p), _address(array), _size(array)))
    return values


def _allocated(size):
    """The address of new memory, and what keeps it."""
    if _DRIVER is None:
        lengths = (ctypes.c_int64 * 1)(size // 4)
        array = ndarray.empty(tuple(lengths), ndarray.gpu(0))
        return array.handle.contents.data, array
    _check(_DRIVER.cuInit(0))
    context, address = ctypes.c_void_p(), ctypes.c_uint64()
    _check(_DRIVER.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    _check(_DRIVER.cuCtxSetCurrent(context))
    _check(_DRIVER.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)))
    return address.value, None


def _address(array):
    return ctypes.c_uint64(array.handle.contents.data)


def _size(array):
    return ctypes.c_size_t(4 * prod(array.shape))


def _check(status):
    if status:
        raise RuntimeError(f"the CUDA driver: error {status}")
