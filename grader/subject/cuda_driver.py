"""The CUDA driver through ctypes: wait for a program's devices, without starting any."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

SUCCESS = 0


class CudaError(RuntimeError):
    """Error of work that a device was given earlier; after it a process gets nothing else."""


@cache
def library() -> Any:
    """Load `libcuda.so.1`; None on a machine without a driver."""
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None


def check(status: int, what: str) -> None:
    """Raise what the driver calls an error.

    Raises:
        CudaError: `status` is not success.
    """
    if status != SUCCESS:
        name, text = ctypes.c_char_p(), ctypes.c_char_p()
        library().cuGetErrorName(status, ctypes.byref(name))
        library().cuGetErrorString(status, ctypes.byref(text))
        parts = [(part.value or b"").decode() for part in (name, text)]
        raise CudaError(f"{what}: {parts[0] or status} ({parts[1]})")


def synchronise() -> None:
    """Wait until every device that this process uses has done all it was given; nothing if it uses none.

    Raises:
        CudaError: a kernel, or a copy, failed.
    """
    for device in _devices():
        active, flags = ctypes.c_int(), ctypes.c_uint()
        if library().cuDevicePrimaryCtxGetState(device, ctypes.byref(flags), ctypes.byref(active)) != SUCCESS:
            continue
        if active.value:
            with Primary(device):
                check(library().cuCtxSynchronize(), "waiting for the device")


def _devices() -> range:
    count = ctypes.c_int()
    # before cuInit the driver counts none, and a program that has not called it uses none
    if library() is None or library().cuDeviceGetCount(ctypes.byref(count)) != SUCCESS:
        return range(0)
    return range(count.value)


class Primary:
    """The context that libraries share on one device, current for a while."""

    def __init__(self, device: int, *, keep: bool = False) -> None:
        """Take the context of a device; with `keep` it ends with its last user, and everything in it."""
        self._device = device
        self._keep = keep

    def __enter__(self) -> None:
        context = ctypes.c_void_p()
        check(library().cuDevicePrimaryCtxRetain(ctypes.byref(context), self._device), "taking a context")
        check(library().cuCtxPushCurrent_v2(context), "taking a context")

    def __exit__(self, *error: object) -> None:
        library().cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
        if not self._keep:
            library().cuDevicePrimaryCtxRelease_v2(self._device)
