"""`torch.cuda` of virtual GPUs: what its Python finds in a C++ with CUDA, and refusals of the rest."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import Any, NoReturn

from . import communication, streams
from .devices import devices, refusing
from .memory import Memory
from .table import CALLS
from .torches import autograd, cpp, cudnn, nccl, parallel, run_backward, single_threaded, torch

_KEPT = ("Error", "Status", "Storage", "Tensor")
"""How names end that are types, and are no more than that."""


def replace() -> None:
    """Give torch's modules what they lack, and refuse what they do not get."""
    for name, function in _CPP.items():
        setattr(cpp, name, function)
    cpp.__getattr__ = _missing
    for module, names in _python().items():
        for name, value in names.items():
            setattr(module, name, value)
    for name in torch.cuda.__all__:
        if name not in CALLS and callable(getattr(torch.cuda, name)) and not name.endswith(_KEPT):
            setattr(torch.cuda, name, refusing(f"torch.cuda.{name}"))


def _python() -> dict[Any, dict[str, Any]]:
    """Return functions for torch's Python, by module, that would ask more C++ than is worth having."""
    return {
        torch.cuda: {
            "Event": streams.Event,
            "Stream": streams.Stream,
            "_exchange_device": devices.exchange,
            "_get_device_properties": _Properties,
            "_maybe_exchange_device": devices.exchange,
            "current_stream": streams.current,
            "default_generators": devices.generators,
            "default_stream": streams.default,
            "device_count": lambda: devices.count,
            "is_current_stream_capturing": lambda: False,
            "set_stream": streams.make_current,
        },
        autograd: {"_engine_run_backward": _in_this_thread(run_backward)},
        parallel: {"_get_stream": lambda device: streams.Stream(device) if device.type == "cuda" else None},
        cudnn: {"is_acceptable": lambda tensor: False},
        nccl: {"is_available": lambda tensors: False},
    }


def _in_this_thread(call: Callable[..., Any]) -> Callable[..., Any]:
    """Run autograd here: it gives each device a thread, each of which computes with all cores."""

    @wraps(call)
    def backward(*args: Any, **kwargs: Any) -> Any:
        with single_threaded(False):
            return call(*args, **kwargs)

    return backward


def _nothing(*args: Any) -> None:
    """Do nothing: all work is done when a call returns, and no memory is kept back."""


def _set_device(index: int) -> None:
    devices.current = index


def _memory(index: int) -> Memory:
    if not 0 <= index < devices.count:
        raise RuntimeError(f"Invalid device argument {index}: did you call init?")
    return devices.memories[index]


def _statistics(index: int) -> dict[str, Any]:
    """Return what `memory_allocated` and `max_memory_allocated` read of torch's statistics."""
    memory = _memory(index)
    return {"allocated_bytes": {"all": {"current": memory.allocated, "peak": memory.peak}}}


def _reset_peak(index: int) -> None:
    memory = _memory(index)
    memory.peak = memory.allocated


class _Properties:
    """Properties of a virtual GPU: its memory is the host's."""

    def __init__(self, index: int) -> None:
        self.name = f"virtual GPU {index}"
        self.total_memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        self.multi_processor_count = 1

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"not available on virtual GPUs: {name} of a device's properties")


_CPP: dict[str, Callable[..., Any]] = {
    "_accelerator_emptyCache": _nothing,
    "_accelerator_exchangeDevice": devices.exchange,
    "_accelerator_getDeviceIndex": lambda: devices.current,
    "_accelerator_getDeviceStats": _statistics,
    "_accelerator_getStream": streams.current,
    "_accelerator_isAllocatorInitialized": lambda: True,
    "_accelerator_maybeExchangeDevice": devices.exchange,
    "_accelerator_resetPeakStats": _reset_peak,
    "_accelerator_setDeviceIndex": _set_device,
    "_accelerator_setStream": streams.make_current,
    "_accelerator_synchronizeDevice": devices.checked,
    "_broadcast": communication.broadcast,
    "_broadcast_coalesced": communication.broadcast_coalesced,
    "_cuda_emptyCache": _nothing,
    "_cuda_getCurrentRawStream": lambda index: streams.current(index).cuda_stream,
    "_cuda_getDevice": lambda: devices.current,
    "_cuda_getDeviceCount": lambda: devices.count,
    "_cuda_memoryStats": _statistics,
    "_cuda_resetPeakMemoryStats": _reset_peak,
    "_cuda_setDevice": _set_device,
    "_cuda_synchronize": _nothing,
    "_gather": communication.gather,
    "_scatter": communication.scatter,
}
"""By their names in `torch._C`, which begin so in every version."""


def _missing(name: str) -> NoReturn:
    """Raise AttributeError for what `torch._C` lacks; many ask whether it has something."""
    if name.startswith("_cuda_"):
        raise AttributeError(f"not available on virtual GPUs: torch._C.{name}")
    raise AttributeError(f"module 'torch._C' has no attribute {name!r}")
