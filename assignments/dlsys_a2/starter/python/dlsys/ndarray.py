"""Arrays of float32 in the memory of a CPU or a GPU."""

import ctypes

import numpy as np

from ._base import _LIB, call

_DEVICE_TYPES = {1: "cpu", 2: "gpu"}


class DLContext(ctypes.Structure):
    """Which device an array is on."""

    _fields_ = (("device_id", ctypes.c_int), ("device_type", ctypes.c_int))

    def __repr__(self):
        return f"{_DEVICE_TYPES.get(self.device_type)}({self.device_id})"

    def __eq__(self, other):
        if not isinstance(other, DLContext):
            return NotImplemented
        return (self.device_id, self.device_type) == (other.device_id, other.device_type)

    def __hash__(self):
        return hash((self.device_id, self.device_type))


class DLArray(ctypes.Structure):
    """The library's own view of an array, see dlarray.h."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("ctx", DLContext),
        ("ndim", ctypes.c_int),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
    )


DLArrayHandle = ctypes.POINTER(DLArray)


def cpu(dev_id=0):
    """The CPU."""
    return DLContext(dev_id, 1)


def gpu(dev_id=0):
    """A GPU, counted from 0."""
    return DLContext(dev_id, 2)


def is_gpu_ctx(ctx):
    """Whether a context, which may be None, is a GPU."""
    return ctx is not None and ctx.device_type == gpu().device_type


class NDArray:
    """An array; it is freed with the last reference to it.

    Args:
        handle: what DLArrayAlloc gave.
    """

    def __init__(self, handle):
        self.handle = handle

    def __del__(self, library=_LIB):  # bound here: at the interpreter's end the module may be empty
        library.DLArrayFree(self.handle)

    @property
    def shape(self):
        """The length of each axis, a tuple."""
        return tuple(self.handle.contents.shape[axis] for axis in range(self.handle.contents.ndim))

    @property
    def ctx(self):
        """The device that it is on."""
        return self.handle.contents.ctx

    def __setitem__(self, which, value):
        """`x[:] = value`: take all elements from an NDArray, or from what NumPy can make an array of."""
        if not isinstance(which, slice) or which != slice(None):
            raise IndexError("only a whole array can be set: x[:] = value")
        if isinstance(value, NDArray):
            value.copyto(self)
        else:
            self._copy_from(np.asarray(value))

    def _copy_from(self, source):
        if source.shape != self.shape:
            raise ValueError(f"an array of shape {self.shape} cannot take one of shape {source.shape}")
        source = np.ascontiguousarray(source, dtype=np.float32)
        view, _shape = _as_dlarray(source, self.shape)
        call("DLArrayCopyFromTo", ctypes.byref(view), self.handle, None)

    def asnumpy(self):
        """The same numbers in a new NumPy array."""
        target = np.empty(self.shape, dtype=np.float32)
        view, _shape = _as_dlarray(target, self.shape)
        call("DLArrayCopyFromTo", self.handle, ctypes.byref(view), None)
        return target

    def copyto(self, target):
        """Copy into another array of the same shape, or, to a context, into a new one.

        Returns:
            The array that was copied to.
        """
        if isinstance(target, DLContext):
            target = empty(self.shape, target)
        if not isinstance(target, NDArray):
            raise TypeError(f"can be copied to an NDArray or a DLContext, not to {type(target).__name__}")
        if target.shape != self.shape:
            raise ValueError(f"an array of shape {target.shape} cannot take one of shape {self.shape}")
        call("DLArrayCopyFromTo", self.handle, target.handle, None)
        return target

    def __repr__(self):
        return f"NDArray(shape={self.shape}, ctx={self.ctx})"


def empty(shape, ctx=None):
    """An array whose elements are not set; on the CPU if no context is given."""
    handle = DLArrayHandle()
    lengths = (ctypes.c_int64 * len(shape))(*map(int, shape))
    call("DLArrayAlloc", lengths, len(shape), cpu() if ctx is None else ctx, ctypes.byref(handle))
    return NDArray(handle)


def array(arr, ctx=None):
    """An array with the numbers of a NumPy array, or of anything NumPy can make one of."""
    arr = np.asarray(arr)
    made = empty(arr.shape, ctx)
    made[:] = arr
    return made


def _as_dlarray(source, shape):
    """A DLArray over a NumPy array's memory, and its shape; both live as long as the caller keeps them."""
    lengths = (ctypes.c_int64 * len(shape))(*shape)
    return DLArray(source.ctypes.data, cpu(), len(shape), lengths), lengths
