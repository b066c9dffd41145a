"""The virtual GPUs' own records, where they stand in for a machine's."""

from __future__ import annotations

import sys
from typing import Any

from .record import HOST, Record

_UNSEEN = (
    "launches",
    "framework_launches",
    "allocations",
    "sites",
    "frees",
    "peak_bytes",
    "synchronisations",
    "api",
    "api_before",
)


def virtual_gpus() -> Any:
    """Our virtual GPUs for torch, if the server imported them; otherwise None."""
    return sys.modules.get(f"{__package__.rpartition('.')[0]}.virtual_gpus")


class Virtual:
    """Records of devices that are played: an operator of torch counts as a kernel, and nothing has a time."""

    name = "virtual_gpus"

    def __init__(self, devices: Any) -> None:
        self._devices = devices
        self.exchange = None
        """Kernels of numba, whose inputs alone are exchanged, do not run on virtual GPUs."""

    def watch(self) -> None:
        """A call begins."""
        self._devices.forget()

    def record(self) -> Record:
        """What it did; a number that is read out of a tensor, as by `item()`, is a copy to the host."""
        record = Record(self.name)
        record.unseen = _UNSEEN
        seen = self._devices.record()
        for one in seen["devices"]:
            if kernels := sum(one["operators"].values()):
                record.ran(one["device"], kernels)
            if one["peak_bytes"]:
                record.held(one["device"], one["peak_bytes"])
        for one in seen["copies"]:
            ends = _number(one["from"]), _number(one["to"])
            direction = _direction(*ends)
            record.copied(direction, one["bytes"], None, ends, count=one["count"])
        return record


def _number(device: str) -> int | None:
    """The number of `cuda:1`; of `cpu`, none."""
    return HOST if device == "cpu" else int(device.partition(":")[2] or 0)


def _direction(source: int | None, target: int | None) -> str:
    if source is HOST:
        return "host_to_device"
    return "device_to_host" if target is HOST else "peer_to_peer"
