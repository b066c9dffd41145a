"""The simulator's own records, where it stands in for a device."""

from __future__ import annotations

import sys
from itertools import count
from typing import Any

from .exchange import DeviceArray, HostArray, InputExchange
from .record import HOST, LAUNCHES, Record, launch

_UNSEEN = ("allocations", "sites", "frees", "peak_bytes", "synchronisations", "api", "api_before")
_ORDERS = ("forward", "reversed", "shuffled")


def simulator() -> Any:
    """Our simulator of numba kernels, if the server imported it; otherwise None."""
    return sys.modules.get(f"{__package__.rpartition('.')[0]}.simulator")


class Turns:
    """Every call runs its threads in another order than the one before."""

    def __init__(self, device: Any) -> None:
        self._device = device
        self._turns = count()

    def next(self) -> None:
        """Choose the order of the next call: forward, reversed, shuffled, and again."""
        turn = next(self._turns)
        self._device.run_in(_ORDERS[turn % len(_ORDERS)], turn)


class Simulated:
    """Records of a device that is played: nothing of it can be forged by a driver, and nothing has a time."""

    name = "simulator"

    def __init__(self, device: Any) -> None:
        self._device = device
        self.exchange = InputExchange(self._array_of, lambda: None)

    def watch(self) -> None:
        """A call begins."""
        self._device.forget()
        self._device.around_launches(self.exchange.launch)

    def _array_of(self, argument: Any) -> DeviceArray | None:
        elements = self._device.elements_of(argument)
        return None if elements is None else HostArray(elements)

    def record(self) -> Record:
        """What it did."""
        record = Record(self.name)
        record.unseen = _UNSEEN
        launches = [
            launch(one["kernel"], one["grid"], one["block"], shared_bytes=one["shared_bytes"])
            for one in self._device.launches()
        ]
        record.framework_launches = launches[:LAUNCHES]
        for one in launches:
            record.launched(one)
        for direction, copies in self._device.copies().items():
            ends = HOST if direction.startswith("host") else 0, HOST if direction.endswith("host") else 0
            record.copied(direction, copies["bytes"], None, ends, count=copies["count"])
        return record
