"""Functions by which `DataParallel` moves tensors between devices, and which a torch without CUDA lacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .devices import devices
from .torches import torch


def _device(index: int | None) -> Any:
    """Return a device by torch's index: None is the current one, -1 the host."""
    if index == -1:
        return torch.device("cpu")
    return torch.device("cuda", devices.current if index is None else devices.checked(index))


def broadcast(tensor: Any, indices: Sequence[int]) -> list[Any]:
    """Copy a tensor to each device; where it is already, itself."""
    return [tensor.to(_device(index)) for index in indices]


def broadcast_coalesced(tensors: Sequence[Any], indices: Sequence[int], buffer_bytes: int) -> list[list[Any]]:
    """Copy all tensors to each device."""
    del buffer_bytes
    return [[tensor.to(_device(index)) for tensor in tensors] for index in indices]


def scatter(
    tensor: Any, indices: Sequence[int], sizes: Sequence[int] | None, dim: int = 0, streams: Any = None
) -> list[Any]:
    """Copy to each device its part of a tensor; without sizes, in parts as equal as can be."""
    del streams
    parts = tensor.chunk(len(indices), dim) if sizes is None else tensor.split(list(sizes), dim)
    return [part.to(_device(index)) for part, index in zip(parts, indices, strict=False)]


def gather(tensors: Sequence[Any], dim: int, index: int | None) -> Any:
    """Copy all parts into one tensor on a device."""
    shape = list(tensors[0].shape)
    shape[dim] = sum(tensor.shape[dim] for tensor in tensors)
    whole = torch.empty(shape, dtype=tensors[0].dtype, device=_device(index))
    begin = 0
    for tensor in tensors:
        whole.narrow(dim, begin, tensor.shape[dim]).copy_(tensor)
        begin += tensor.shape[dim]
    return whole
