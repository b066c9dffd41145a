"""`python -m grader.cuda.probe`: one tiny program on the first GPU it may see, with the driver alone.

It names each call of the driver on the error output before it makes it, so that one which hangs is known,
and ends with a line of JSON: `problem`, empty if everything was as it must be.
"""

from __future__ import annotations

import ctypes
import json
import sys
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from typing import Any

_DRIVER = "libcuda.so.1"
_THREADS = 256
_FILL = 7
_NEWEST_TARGET = 75
"""Every later GPU runs code for it, and the drivers from CUDA 10 on know it."""
_CAPABILITY_MAJOR, _CAPABILITY_MINOR = 75, 76
"""cuda.h, CUdevice_attribute."""

PTX = """
.version 6.3
.target sm_{target}
.address_size 64

.visible .entry add_index(.param .u64 numbers)
{{
    .reg .u32 %i, %v;
    .reg .u64 %p, %o;
    ld.param.u64 %p, [numbers];
    cvta.to.global.u64 %p, %p;
    mov.u32 %i, %tid.x;
    mul.wide.u32 %o, %i, 4;
    add.u64 %p, %p, %o;
    ld.global.u32 %v, [%p];
    add.u32 %v, %v, %i;
    st.global.u32 [%p], %v;
    ret;
}}
"""
"""Each thread adds its number to one element of an array of uint32."""


class ProbeError(Exception):
    """The GPU, or the driver, does not do what it must."""


class Driver:
    """The calls of `libcuda.so.1` that we need; each that fails raises ProbeError."""

    def __init__(self) -> None:
        try:
            self._library = ctypes.CDLL(_DRIVER)
        except OSError as error:
            raise ProbeError(f"the driver's library could not be loaded: {error}") from error

    def call(self, name: str, *arguments: Any) -> None:
        """Make one call; every argument is a ctypes object of the type that cuda.h says."""
        sys.stderr.write(f"{name}\n")
        sys.stderr.flush()
        try:
            function = getattr(self._library, name)
        except AttributeError as error:
            raise ProbeError(f"the driver's library has no {name}: it is too old") from error
        if status := function(*arguments):
            raise ProbeError(f"{name} failed: {self._error(status)}")

    def _error(self, status: int) -> str:
        text = c_char_p()
        self._library.cuGetErrorName(c_int(status), byref(text))
        return f"{text.value.decode()} ({status})" if text.value else str(status)


def check() -> None:
    """Set memory, compute on it, and copy it back.

    Raises:
        ProbeError: a call fails, or what comes back is wrong.
    """
    driver = Driver()
    device, context = c_int(), c_void_p()
    driver.call("cuInit", c_uint(0))
    driver.call("cuDeviceGet", byref(device), c_int(0))
    driver.call("cuDevicePrimaryCtxRetain", byref(context), device)
    driver.call("cuCtxSetCurrent", context)
    numbers = c_uint64()
    driver.call("cuMemAlloc_v2", byref(numbers), c_size_t(4 * _THREADS))
    driver.call("cuMemsetD32_v2", numbers, c_uint(_FILL), c_size_t(_THREADS))
    _expect("memory that was set", _copied(driver, numbers), [_FILL] * _THREADS)
    _launch(driver, _target(driver, device), numbers)
    driver.call("cuCtxSynchronize")
    _expect("a kernel", _copied(driver, numbers), [_FILL + i for i in range(_THREADS)])
    driver.call("cuMemFree_v2", numbers)
    driver.call("cuDevicePrimaryCtxRelease_v2", device)


def _target(driver: Driver, device: c_int) -> int:
    major, minor = c_int(), c_int()
    driver.call("cuDeviceGetAttribute", byref(major), c_int(_CAPABILITY_MAJOR), device)
    driver.call("cuDeviceGetAttribute", byref(minor), c_int(_CAPABILITY_MINOR), device)
    return min(10 * major.value + minor.value, _NEWEST_TARGET)


def _launch(driver: Driver, target: int, numbers: c_uint64) -> None:
    module, kernel = c_void_p(), c_void_p()
    driver.call("cuModuleLoadData", byref(module), c_char_p(PTX.format(target=target).encode()))
    driver.call("cuModuleGetFunction", byref(kernel), module, c_char_p(b"add_index"))
    parameters = (c_void_p * 1)(ctypes.addressof(numbers))
    single, none = c_uint(1), c_void_p()
    grid, block = (single, single, single), (c_uint(_THREADS), single, single)
    driver.call("cuLaunchKernel", kernel, *grid, *block, c_uint(0), none, parameters, none)


def _copied(driver: Driver, numbers: c_uint64) -> list[int]:
    host = (c_uint * _THREADS)()
    driver.call("cuMemcpyDtoH_v2", ctypes.cast(host, POINTER(c_uint)), numbers, c_size_t(4 * _THREADS))
    return list(host)


def _expect(what: str, values: list[int], right: list[int]) -> None:
    if wrong := sum(a != b for a, b in zip(values, right, strict=True)):
        raise ProbeError(f"{what} is wrong in {wrong} of {len(right)} places")


def main() -> int:
    """Print what came of it; the exit status is 0 if the GPU is well."""
    problem = ""
    try:
        check()
    except ProbeError as error:
        problem = str(error)
    sys.stdout.write(json.dumps({"problem": problem}) + "\n")
    return int(bool(problem))


if __name__ == "__main__":
    sys.exit(main())
