"""Exchanges inputs that torch copies to a device for another call's, and for its own on their way back.

Two calls of the same shapes, as in `exchange`: of the first the inputs are noted. In the second every tensor
that goes from the host to a device and carries an input, whole or in part, has the noted one's values there;
one that comes back and carries a noted input has the call's own values on the host. So the devices have the
inputs of the first call and the host those of the second: whose result comes out says who computed it.
Operators are seen by a TorchDispatchMode: in the thread of the call alone, and no copies but torch's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .exchange import Ask

Content = np.ndarray[Any, Any]
_HOST = "cpu"


class TorchExchange:
    """Inputs noted in one call, and put on the devices in another."""

    def __init__(self) -> None:
        self._ask: Ask | None = None
        self._doing = ""
        self._arguments: list[Content] = []
        self._call_inputs: list[Content] = []
        self._noted: list[Content] = []
        self._exchanged = 0

    def begin(self, ask: Ask, arguments: Sequence[Any]) -> None:
        """Begin a call; `ask` is asked at the first copy to a device what to do with its inputs."""
        self._ask, self._doing, self._exchanged = ask, "", 0
        self._arguments = [value.copy() for value in _arrays(arguments)]

    def act(self, act: Callable[[], Any]) -> Any:
        """Call `act`, with copies of inputs exchanged if that is what the call is for."""
        if "torch" not in sys.modules:
            return act()
        from torch.utils._python_dispatch import TorchDispatchMode

        exchange = self._exchange

        class Exchanging(TorchDispatchMode):  # type: ignore[misc]  # torch is not there where types are checked
            def __torch_dispatch__(
                self, function: Any, types: Any, args: Any = (), kwargs: Any = None
            ) -> Any:
                result = function(*args, **(kwargs or {}))
                exchange(function, args, result)
                return result

        with Exchanging():
            return act()

    def end(self) -> dict[str, Any] | None:
        """End a call: return what was exchanged, as plain JSON; None if nothing was to be."""
        doing, self._doing, self._ask = self._doing, "", None
        if doing != "exchange":
            return None
        return {"arrays": self._exchanged, "problem": "", "written": True, "carrying": []}

    def _decide(self) -> None:
        if self._ask is None:
            return
        self._doing, self._ask = self._ask(0), None
        if self._doing == "note":
            self._noted = self._arguments
        alike = [array.shape for array in self._noted] == [array.shape for array in self._arguments]
        self._call_inputs = self._arguments if alike else []

    def _exchange(self, function: Any, args: Sequence[Any], result: Any) -> None:
        """Exchange the values of the tensor that an operator has copied, if it did."""
        name = getattr(getattr(function, "overloadpacket", None), "__name__", "")
        if name not in _COPIES or not hasattr(result, "device"):
            return
        source = args[1] if name == "copy_" else args[0]
        made = name == "lift_fresh"
        begins = _HOST if made else getattr(getattr(source, "device", None), "type", _HOST)
        ends = result.device.type
        if begins == _HOST and ends != _HOST:
            self._decide()
        if self._doing != "exchange" or not self._call_inputs:
            return
        if begins == _HOST and ends != _HOST:
            self._exchanged += _replace(result, self._call_inputs, self._noted)
        elif begins != _HOST and ends == _HOST:
            _replace(result, self._noted, self._call_inputs)


_COPIES = ("_to_copy", "copy_", "lift_fresh")
"""Operators by which values go from one device to another, or come out of Python's numbers."""


def _arrays(values: Any) -> Iterator[Content]:
    """Yield all arrays in arguments, also in lists and mappings."""
    if isinstance(values, np.ndarray):
        if values.ndim and values.size > 1:
            yield values
    elif isinstance(values, (list, tuple)):
        for value in values:
            yield from _arrays(value)
    elif isinstance(values, dict):
        yield from _arrays(list(values.values()))


def _replace(tensor: Any, values: Sequence[Content], counterparts: Sequence[Content]) -> bool:
    """Give a tensor that carries one of some arrays the values at the same place of its counterpart."""
    import torch

    if tensor.layout is not torch.strided or not tensor.numel() or tensor.dtype is torch.bfloat16:
        return False
    content = tensor.detach().to(_HOST).contiguous().numpy()
    for array, counterpart in zip(values, counterparts, strict=True):
        if array.shape == counterpart.shape and (new := _exchanged(content, array, counterpart)) is not None:
            tensor.detach().copy_(torch.from_numpy(new.reshape(content.shape)))
            return True
    return False


def _exchanged(content: Content, array: Content, counterpart: Content) -> Content | None:
    """Return the values of `counterpart` where `content` stands in `array`; None if it is no run of it."""
    if (
        content.size < 2
        or content.size > array.size
        or (content.dtype.kind in "iub") != (array.dtype.kind in "iub")
    ):
        return None
    part = np.ascontiguousarray(content).tobytes()
    for turned, turned_counterpart in ((array, counterpart), (array.T, counterpart.T)):
        with np.errstate(all="ignore"):
            whole = np.ascontiguousarray(turned).astype(content.dtype)
            new = np.ascontiguousarray(turned_counterpart).astype(content.dtype)
        at, rest = divmod(whole.tobytes().find(part), content.itemsize)
        if at >= 0 and not rest:
            return new.ravel()[at : at + content.size].copy()
    return None
