"""A launch and an allocation of our own before and after a call: a record without them is void."""

from __future__ import annotations

import ctypes
import os

from ..cuda_driver import Primary, check, library

_PTX = """.version 6.0
.target sm_50
.address_size 64
.visible .entry {name}() {{ ret; }}
"""
_BYTES = range(1 << 12, 1 << 16)


class Canary:
    """Marker of a record: each song makes one launch and one allocation, with random name and size."""

    def __init__(self) -> None:
        """Get ready on the first device; starts it if the program has not.

        Raises:
            CudaError: the device does not take it.
        """
        self.kernel = f"grader_canary_{os.urandom(6).hex()}"
        self.bytes = _BYTES[int.from_bytes(os.urandom(4), "little") % len(_BYTES)]
        check(library().cuInit(0), "starting the driver")
        self._module = ctypes.c_void_p()
        self._function = ctypes.c_void_p()
        with Primary(0, keep=True):
            code = _PTX.format(name=self.kernel).encode()
            check(library().cuModuleLoadData(ctypes.byref(self._module), code), "loading a kernel")
            check(
                library().cuModuleGetFunction(
                    ctypes.byref(self._function), self._module, self.kernel.encode()
                ),
                "finding a kernel",
            )

    def sing(self) -> None:
        """Allocate, launch, wait, free.

        Raises:
            CudaError: the device did not do it.
        """
        memory = ctypes.c_uint64()
        with Primary(0):
            check(library().cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(self.bytes)), "allocating")
            check(
                library().cuLaunchKernel(self._function, 1, 1, 1, 1, 1, 1, 0, None, None, None), "launching"
            )
            check(library().cuCtxSynchronize(), "waiting for the device")
            check(library().cuMemFree_v2(memory), "freeing")
