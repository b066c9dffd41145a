"""The virtual GPUs of this process: how many, each one's memory and random numbers, and which is current."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NoReturn

from .memory import Memory, relabel
from .torches import AcceleratorError, torch

_NO_SUCH_DEVICE = """CUDA error: invalid device ordinal
GPU device may be out of range, do you have enough GPUs?
"""
"""Torch adds how to debug kernels."""


class NotAvailable(RuntimeError):
    """Use of something that virtual GPUs do not play."""


def refuse(name: str) -> NoReturn:
    """Raise NotAvailable for an operator, or a call, of that name."""
    raise NotAvailable(f"not available on virtual GPUs: {name}")


def refusing(name: str) -> Callable[..., NoReturn]:
    """Return a function that refuses the call of that name."""

    def refused(*args: Any, **kwargs: Any) -> NoReturn:
        refuse(name)

    return refused


class VirtualDevices:
    """All of them; none before they are installed."""

    def __init__(self) -> None:
        self.count = 0
        self.memories: tuple[Memory, ...] = ()
        self.generators: tuple[Any, ...] = ()
        """Random numbers of their own, apart from the host's; not the ones that a GPU's generator gives."""
        self._thread = threading.local()

    def begin(self, count: int) -> None:
        """Make `count` devices."""
        self.count = count
        self.memories = tuple(Memory() for _ in range(count))
        self.generators = tuple(torch.Generator() for _ in range(count))

    @property
    def current(self) -> int:
        """The current one of this thread; every thread begins with the first, as with CUDA."""
        return getattr(self._thread, "current", 0)

    @current.setter
    def current(self, index: int) -> None:
        self._thread.current = self.checked(index)

    def exchange(self, index: int) -> int:
        """Make another one current, unless it is negative; the one before."""
        before = self.current
        if index >= 0:
            self.current = index
        return before

    def checked(self, index: int) -> int:
        """Return the same number. Raises torch's error if there is no such device."""
        if not 0 <= index < self.count:
            raise AcceleratorError(_NO_SUCH_DEVICE)
        return index

    def index(self, device: Any) -> int:
        """Return the number that a `torch.device` names: without one, the current device's."""
        return self.current if device is None or device.index is None else self.checked(device.index)

    def adopt(self, tensor: Any, index: int) -> Any:
        """Make a tensor of the host, whose memory is new, one that device `index` has allocated."""
        self.memories[index].take(tensor)
        return relabel(tensor, index)


devices = VirtualDevices()
