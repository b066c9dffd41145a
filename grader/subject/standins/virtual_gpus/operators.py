"""Runs torch's operators for tensors of virtual GPUs: checks the devices, computes on the host, records."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

from .devices import devices, refuse
from .memory import on_host
from .placement import placement
from .table import OPERATORS, OperatorRule
from .torches import aten, below_autograd, overload_name, schema, torch

_SAME = "Expected all tensors to be on the same device"
_INDICES = "indices should be either on cpu or on the same device as the indexed tensor"
_HOST = torch.device("cpu")
_METHODS = {
    "convolution": "wrapper_CUDA__cudnn_convolution",
    "native_batch_norm": "wrapper_CUDA__cudnn_batch_norm",
}
"""Who says on a GPU that devices differ, where that is cuDNN."""
_ARGUMENTS = {("convolution", "input"): "self"}
"""What it calls them."""
_REDUCED = {"mse_loss", "smooth_l1_loss"}
"""Compute more than they give, in what they are to give it in."""


class Operator:
    """One overload of an operator, `mm.out`: what it says of devices, and which arguments it writes to."""

    def __init__(self, overload: Any) -> None:
        described = schema(overload)
        self._call = overload
        self.name: str = described.name.removeprefix("aten::").removesuffix("_")
        if self.name not in OPERATORS:
            refuse(str(overload))
        self._rule = OPERATORS[self.name]
        overload_part = "" if self._rule is OperatorRule.STRUCTURED else f"{overload_name(overload)}_"
        self._method = _METHODS.get(
            self.name, f"wrapper_CUDA_{overload_part}{described.name.removeprefix('aten::')}"
        )
        self._names = tuple(argument.name for argument in described.arguments)
        self.outs = tuple(argument.name for argument in described.arguments if argument.is_out)
        self._written = {a.name for a in described.arguments if a.alias_info and a.alias_info.is_write}
        self._random = any(argument.name == "generator" for argument in described.arguments)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Compute it.

        Raises:
            RuntimeError: in torch's words, if arguments are on several devices; and whatever torch raises.
        """
        index = self._device(list(self._tensors(args, kwargs)))
        originals: dict[int, Any] = {}
        lower = partial(_lower, originals)
        host = {name: lower(value) for name, value in kwargs.items()}
        for name in self.outs:
            if name in host and not kwargs[name].numel():
                host[name] = torch.empty(0, dtype=kwargs[name].dtype, device="cpu")  # to be resized
        if self._random:
            host["generator"] = _generator(host.get("generator"), index)
        lowered = tuple(map(lower, args))
        with below_autograd():
            result = self._call(*lowered, **host)
        placement.ran(index, self.name)
        for name in self.outs:
            if name in host and id(host[name]) not in originals:
                originals[id(host[name])] = _moved(kwargs[name], host[name], index)
        return _lift(originals, result, index)

    def _tensors(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        """Yield the tensors among the arguments with their names, in the order in which torch checks them."""
        named = [(name, kwargs[name]) for name in self.outs if name in kwargs]
        named += zip(self._names, args, strict=False)
        named += [(name, value) for name, value in kwargs.items() if name not in self.outs]
        for name, value in named:
            for tensor in value if isinstance(value, list | tuple) else (value,):
                if isinstance(tensor, torch.Tensor):
                    yield _ARGUMENTS.get((self.name, name), name), tensor

    def _device(self, tensors: list[tuple[str, Any]]) -> int:
        """Return the device that they are on. Raises RuntimeError, in torch's words, if there are several."""
        if self._rule in {OperatorRule.STRUCTURED, OperatorRule.ONE_DEVICE}:
            first = tensors[0][1].device
            for name, tensor in tensors:
                if tensor.device != first:
                    where = f"{tensor.device}, different from other tensors on {first}"
                    method = f"(when checking argument in method {self._method})"
                    raise RuntimeError(f"{_SAME}, but got {name} is on {where} {method}")
            return int(first.index)
        if self._rule is OperatorRule.INDEXED:
            indexed = tensors[0][1].device
            for name, tensor in tensors:
                if name == "indices" and tensor.device not in {indexed, _HOST}:
                    raise RuntimeError(f"{_INDICES} ({indexed})")
            tensors = [(name, tensor) for name, tensor in tensors if name != "indices"]
        common = next(tensor.device for _, tensor in tensors if tensor.is_cuda)
        for name, tensor in tensors:
            scalar = not (tensor.is_cuda or tensor.dim() or name in self._written)
            if tensor.device != common and not scalar:
                raise RuntimeError(f"{_SAME}, but found at least two devices, {common} and {tensor.device}!")
        return int(common.index)


def _lower(originals: dict[int, Any], value: Any) -> Any:
    """Return an argument as the host computes with it; note what stands for which tensor."""
    if isinstance(value, torch.Tensor):
        host = on_host(value)
        originals[id(host)] = value
        return host
    if isinstance(value, list | tuple):
        return type(value)(_lower(originals, part) for part in value)
    return value


def _lift(originals: dict[int, Any], value: Any, index: int) -> Any:
    """Return a result as a tensor of the device; an argument that was written to comes back as it was."""
    if isinstance(value, torch.Tensor):
        return originals[id(value)] if id(value) in originals else devices.adopt(value, index)
    if isinstance(value, list | tuple):
        return type(value)(_lift(originals, part, index) for part in value)
    return value


def _moved(out: Any, host: Any, index: int) -> Any:
    """Make an empty tensor of the device one that a result made larger."""
    lifted = devices.adopt(host, index)
    return out.set_(lifted.untyped_storage(), 0, lifted.size(), lifted.stride())


def _generator(generator: Any, index: int) -> Any:
    if generator is None:
        return devices.generators[index]
    if generator not in devices.generators:
        raise RuntimeError("Expected a 'cuda' device type for generator but found 'cpu'")
    return generator


@cache
def operator(overload: Any) -> Operator:
    """Return an overload as virtual GPUs run it. Raises NotAvailable unless the table has it."""
    return Operator(overload)


def run(overload: Any, *args: Any, **kwargs: Any) -> Any:
    """Run any operator of the table; every other raises NotAvailable."""
    return operator(overload).run(*args, **kwargs)


def outright() -> Iterator[tuple[str, Any]]:
    """Yield by name overloads that torch shall not turn into those with an `out` argument.

    A GPU checks the devices before all else, and names the overload that was called; and those of `_REDUCED`
    want the given tensor larger than torch makes it.
    """
    for name, rule in OPERATORS.items():
        if rule is OperatorRule.ELEMENTWISE and name not in _REDUCED:
            continue
        for packet in filter(None, (getattr(aten, spelling, None) for spelling in (name, f"{name}_"))):
            for overload in map(partial(getattr, packet), packet.overloads()):
                described = schema(overload)
                if not any(argument.is_out for argument in described.arguments):
                    spelling = described.name.removeprefix("aten::")
                    yield f"{spelling}.{overload_name(overload)}".rstrip("."), partial(run, overload)
