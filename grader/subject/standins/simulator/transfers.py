"""Device arrays on the host: copied, counted, and poisoned where nothing was copied."""

from __future__ import annotations

from typing import Any

from .arrays import poison
from .numbas import devicearray, elements

DeviceArray = devicearray.FakeCUDAArray
HOST_TO_DEVICE = "host_to_device"
DEVICE_TO_HOST = "device_to_host"

_new, _copied, _copy_in, _copy_out = (
    devicearray.device_array,
    devicearray.to_device,
    DeviceArray.copy_to_device,
    DeviceArray.copy_to_host,
)
_counts: dict[str, dict[str, int]] = {}


def forget() -> None:
    """Count from nothing again."""
    for direction in (HOST_TO_DEVICE, DEVICE_TO_HOST):
        _counts[direction] = {"count": 0, "bytes": 0}


def copies() -> dict[str, dict[str, int]]:
    """Return how often and how many bytes were copied in each direction since `forget`."""
    return {direction: dict(counts) for direction, counts in _counts.items()}


def _count(direction: str, size: int) -> None:
    _counts[direction]["count"] += 1
    _counts[direction]["bytes"] += size


def device_array(*args: Any, **kwargs: Any) -> Any:
    """Make numba's array, with poison in it."""
    array = _new(*args, **kwargs)
    poison(elements(array))
    return array


def to_device(obj: Any, stream: int = 0, copy: bool = True, to: Any = None) -> Any:
    """Copy as numba does, and count it."""
    if to is not None:
        to.copy_to_device(obj, stream=stream)
        return to
    array = _copied(obj, stream)
    if copy:
        _count(HOST_TO_DEVICE, array.nbytes)
    else:
        poison(elements(array))
    return array


def _copy_to_device(self: Any, ary: Any, stream: int = 0) -> None:
    _copy_in(self, ary, stream)
    if not isinstance(ary, DeviceArray):
        _count(HOST_TO_DEVICE, self.nbytes)


def _copy_to_host(self: Any, ary: Any = None, stream: int = 0) -> Any:
    _count(DEVICE_TO_HOST, self.nbytes)
    return _copy_out(self, ary, stream)


METHODS = {"copy_to_device": _copy_to_device, "copy_to_host": _copy_to_host}
"""In place of those of numba's DeviceArray."""

forget()
