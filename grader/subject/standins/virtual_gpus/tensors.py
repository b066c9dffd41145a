"""Methods of tensors and of their storages, and functions that make tensors, as virtual GPUs need them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from .devices import devices, refuse, refusing
from .table import REFUSED
from .torches import constructors, torch


def replace() -> None:
    """Put them in the place of torch's own."""
    tensor, storage = torch.Tensor, torch.UntypedStorage
    tensor.to = _numbered(tensor.to)
    tensor.cuda = _cuda
    tensor.type = _typed(tensor.type)
    tensor.record_stream = lambda self, stream: None
    storage.clone = lambda self: _bytes(self).clone().untyped_storage()
    storage.to = _storage_to
    constructors()  # as long as these are torch's own
    for name in ("as_tensor", "asarray", "tensor"):
        setattr(torch, name, _numbered(getattr(torch, name)))
    torch.set_autocast_enabled = _without_cuda(torch.set_autocast_enabled)
    for name in REFUSED:
        setattr(tensor, name, refusing(f"torch.Tensor.{name}"))


def _number(value: Any) -> Any:
    if isinstance(value, str):
        value = torch.device(value)
    if isinstance(value, torch.device) and value.type == "cuda":
        return torch.device("cuda", devices.index(value))
    return value


def _numbered(call: Callable[..., Any]) -> Callable[..., Any]:
    """Give `call` the current device for "cuda": torch asks its guard for that, which knows of none."""

    @wraps(call)
    def numbered(first: Any, *args: Any, **kwargs: Any) -> Any:
        if "device" in kwargs:
            kwargs["device"] = _number(kwargs["device"])
        return call(first, *map(_number, args), **kwargs)

    return numbered


def _cuda(self: Any, device: Any = None, non_blocking: bool = False, **options: Any) -> Any:
    """Play `torch.Tensor.cuda`."""
    device = "cuda" if device is None else device
    device = torch.device("cuda", device) if isinstance(device, int) else torch.device(device)
    if device.type != "cuda":
        raise RuntimeError("Invalid device, must be cuda device")
    return self.to(device, non_blocking=non_blocking, **options)


def _typed(call: Callable[..., Any]) -> Callable[..., Any]:
    """Refuse types such as `torch.cuda.FloatTensor`, which are not there without CUDA."""

    @wraps(call)
    def typed(self: Any, dtype: Any = None, **options: Any) -> Any:
        if isinstance(dtype, torch.dtype | None) or not (self.is_cuda or "cuda" in str(dtype)):
            return call(self, dtype, **options)
        return refuse(f"torch.Tensor.type with {dtype}")

    return typed


def _bytes(storage: Any) -> Any:
    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)


def _storage_to(self: Any, *, device: Any, non_blocking: bool = False) -> Any:
    """Play `torch.UntypedStorage.to`."""
    return _bytes(self).to(device, non_blocking=non_blocking).untyped_storage()


def _without_cuda(enable: Callable[..., None]) -> Callable[..., None]:
    """Refuse autocast on CUDA: which types a GPU chooses by itself is not played."""

    @wraps(enable)
    def enabled(*args: Any) -> None:
        if args in {("cuda", True), (True,)}:
            refuse("torch.autocast")
        enable(*args)

    return enabled
