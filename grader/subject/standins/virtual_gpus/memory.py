"""Host memory under the name of a virtual GPU, and how much of it each has."""

from __future__ import annotations

import ctypes
import threading
import weakref
from typing import Any

from .torches import from_capsule, to_capsule

_KIND_CPU, _KIND_CUDA = 1, 2
"""`kDLCPU` and `kDLCUDA` of dlpack.h."""
_BLOCK_BYTES = 512
"""What torch's caching allocator rounds up to (`kMinBlockSize`, CUDACachingAllocator.cpp)."""

_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype = ctypes.c_void_p
_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def _labelled(tensor: Any, kind: int, index: int) -> Any:
    """Return the same memory as a tensor of another device; it lives as long as either.

    DLPack hands tensors on without a copy: a struct that begins with the address and the device (dlpack.h).
    """
    capsule = to_capsule(tensor)
    address = _pointer(capsule, b"dltensor") + ctypes.sizeof(ctypes.c_void_p)
    device = (ctypes.c_int32 * 2).from_address(address)
    device[0], device[1] = kind, index
    return from_capsule(capsule)


def relabel(tensor: Any, index: int) -> Any:
    """Return memory of a tensor of the host as one of virtual GPU `index`."""
    return _labelled(tensor, _KIND_CUDA, index)


def on_host(tensor: Any) -> Any:
    """Return the same memory as the host sees it; a tensor of the host is that tensor."""
    return _labelled(tensor, _KIND_CPU, 0) if tensor.is_cuda else tensor


class Memory:
    """Bytes allocated on one virtual GPU, rounded up as torch does."""

    def __init__(self) -> None:
        self.allocated = 0
        self.peak = 0
        """Since the program last reset it."""
        self.observed_peak = 0
        """Since the record began."""
        self._changing = threading.RLock()  # memory may be freed at any moment, also in `take`

    def take(self, tensor: Any) -> None:
        """Count a new tensor's memory until nothing uses it any more."""
        storage = tensor.untyped_storage()
        size = -(-storage.nbytes() // _BLOCK_BYTES) * _BLOCK_BYTES
        with self._changing:
            self.allocated += size
            self.peak = max(self.peak, self.allocated)
            self.observed_peak = max(self.observed_peak, self.allocated)
        weakref.finalize(storage, self._free, size).atexit = False

    def _free(self, size: int) -> None:
        with self._changing:
            self.allocated -= size
