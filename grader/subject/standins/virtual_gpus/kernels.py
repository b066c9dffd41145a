"""Operators that virtual GPUs do themselves: memory and copies, and what torch has for GPUs alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

from .devices import devices, refuse
from .memory import on_host
from .operators import operator
from .placement import placement
from .table import MEMORY
from .torches import aten, below_autograd, host_kernels, torch


def _overload(name: str) -> Any:
    packet, _, overload = name.partition(".")
    return getattr(getattr(aten, packet), overload or "default")


def _as_on_host(name: str, *args: Any, **kwargs: Any) -> Any:
    """Run torch's kernel for the CPU on the very tensors: those of views and storages look at no memory."""
    return _overload(name).redispatch(host_kernels, *args, **kwargs)


def _empty(size: Any, *, dtype: Any = None, device: Any = None, **options: Any) -> Any:
    order = options.pop("memory_format", None)
    _refuse_options(options)
    tensor = aten.empty.memory_format(size, dtype=dtype, device="cpu", memory_format=order)
    return devices.adopt(tensor, devices.index(device))


def _empty_strided(size: Any, stride: Any, *, dtype: Any = None, device: Any = None, **options: Any) -> Any:
    _refuse_options(options)
    tensor = aten.empty_strided.default(size, stride, dtype=dtype, device="cpu")
    return devices.adopt(tensor, devices.index(device))


def _refuse_options(options: dict[str, Any]) -> None:
    if options.get("layout") not in {None, torch.strided}:
        refuse(f"layout {options['layout']}")
    if options.get("pin_memory"):
        refuse("pinned memory")


def _copy(target: Any, source: Any, non_blocking: bool = False) -> Any:
    del non_blocking
    host = on_host(target)
    with below_autograd():
        host.copy_(on_host(source))
    if target.device == source.device:
        placement.ran(target.get_device(), "copy")
    else:
        placement.copied(source.device, target.device, target.numel() * target.element_size())
    return target


def _to_copy(tensor: Any, *, non_blocking: bool = False, **options: Any) -> Any:
    """Copy without pinned memory, which a copy that does not wait would want on the host."""
    del non_blocking
    return _as_on_host("_to_copy", tensor, **options)


def _local_scalar_dense(tensor: Any) -> Any:
    """Read a number as `item` does."""
    placement.copied(tensor.device, torch.device("cpu"), tensor.element_size())
    return on_host(tensor).item()


def _resize(tensor: Any, size: Any, *, memory_format: Any = None) -> Any:
    if memory_format not in {None, torch.contiguous_format}:
        refuse(f"resize_ to {memory_format}")
    strides = torch.empty(size, device="meta").stride()
    storage, begin = tensor.untyped_storage(), tensor.storage_offset()
    if storage.nbytes() < (begin + prod(size)) * tensor.element_size():
        larger = torch.empty(prod(size), dtype=tensor.dtype, device=tensor.device)
        larger[: tensor.numel()].copy_(tensor.reshape(-1))
        storage, begin = larger.untyped_storage(), 0
    return tensor.set_(storage, begin, size, strides)


def _convolution(input_: Any, weight: Any, bias: Any, *options: Any) -> Any:
    if not input_.is_cuda:  # torch's choice of a kernel says what it thinks of that
        return _as_on_host("convolution", input_, weight, bias, *options)
    for name, tensor in (("weight", weight), ("bias", bias)):
        if tensor is not None and not tensor.is_cuda:
            types = f"Input type ({input_.type()}) and {name} type ({tensor.type()})"
            raise RuntimeError(f"{types} should be the same")
    return operator(aten.convolution.default).run(input_, weight, bias, *options)


def _native_dropout(input_: Any, p: float, train: bool | None) -> Any:
    """Drop with a device's random numbers: torch's own takes the host's."""
    index = input_.get_device()
    keeps = torch.ones_like(input_, dtype=torch.bool)
    if train is False or not p:
        return input_.clone(), keeps
    placement.ran(index, "native_dropout")
    on_host(keeps).bernoulli_(1 - p, generator=devices.generators[index])
    scale = 1 / (1 - p) if p < 1 else 0
    return devices.adopt(on_host(input_) * on_host(keeps) * scale, index), keeps


def _lstm_cell(
    input_gates: Any, hidden_gates: Any, cx: Any, input_bias: Any = None, hidden_bias: Any = None
) -> tuple[Any, Any, Any]:
    """Compute a step of an LSTM: hidden and cell state, and the gates i, f, g and o for the way back."""
    gates = input_gates + hidden_gates
    for bias in (input_bias, hidden_bias):
        if bias is not None:
            gates += bias
    i, f, g, o = gates.chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    cy = f * cx + i * g
    return o * cy.tanh(), cy, torch.cat([i, f, g, o], 1)


def _lstm_cell_backward(
    grad_hy: Any, grad_cy: Any, cx: Any, cy: Any, workspace: Any, has_bias: bool
) -> tuple[Any, Any, Any]:
    """Return gradients of the gates before their activation, of the cell state and of either bias."""
    i, f, g, o = workspace.chunk(4, 1)
    out = torch.zeros_like(cy) if grad_hy is None else grad_hy
    tanh_cy = cy.tanh()
    cell = out * o * (1 - tanh_cy**2)
    if grad_cy is not None:
        cell = cell + grad_cy
    gates = torch.cat(
        [
            cell * g * i * (1 - i),
            cell * cx * f * (1 - f),
            cell * i * (1 - g**2),
            out * tanh_cy * o * (1 - o),
        ],
        1,
    )
    return gates, cell * f, gates.sum(0) if has_bias else None


_OWN: dict[str, Callable[..., Any]] = {
    "_local_scalar_dense": _local_scalar_dense,
    "_to_copy": _to_copy,
    "copy_": _copy,
    "empty.memory_format": _empty,
    "empty_strided": _empty_strided,
    "resize_": _resize,
}

KERNELS: dict[str, Callable[..., Any]] = {
    **{name: _OWN.get(name, partial(_as_on_host, name)) for name in MEMORY},
    "_thnn_fused_lstm_cell": _lstm_cell,
    "_thnn_fused_lstm_cell_backward_impl": _lstm_cell_backward,
    "convolution": _convolution,
    "native_dropout": _native_dropout,
}
"""By the overload's name; the operators of the table that have none here run on the host."""
