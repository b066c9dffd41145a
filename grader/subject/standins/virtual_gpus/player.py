"""Virtual GPUs for torch as a stand-in: which device ran how many operators, and copies between devices."""

from __future__ import annotations

import os

from ... import standins
from ...observer.record import HOST, Record
from ..player import Player
from . import installation  # torch takes long to import: before the server forks
from .placement import placement

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


class VirtualGpusPlayer(Player):
    """Records of devices that are played: an operator of torch counts as a kernel, and nothing has a time.

    Kernels of numba, whose inputs alone could be exchanged, do not run on virtual GPUs.
    """

    name = "virtual_gpus"

    def install(self) -> None:
        """Put as many virtual GPUs in the place of torch's own as the environment says."""
        installation.install(int(os.environ["VIRTUAL_GPUS"]))

    def begin(self) -> None:
        """Begin the record of a call."""
        placement.forget()

    def record(self) -> Record:
        """Return what the last call did; a number that `item()` reads is a copy to the host."""
        record = Record(self.name)
        record.unseen = _UNSEEN
        placed = placement.plain()
        for device in placed["devices"]:
            if kernels := sum(device["operators"].values()):
                record.ran(device["device"], kernels)
            if device["peak_bytes"]:
                record.note_peak(device["device"], device["peak_bytes"])
        for copies in placed["copies"]:
            ends = _number(copies["from"]), _number(copies["to"])
            record.copied(_direction(*ends), copies["bytes"], None, ends, count=copies["count"])
        return record


def _number(device: str) -> int | None:
    """Return the number of `cuda:1`; None for `cpu`."""
    return HOST if device == "cpu" else int(device.partition(":")[2] or 0)


def _direction(source: int | None, target: int | None) -> str:
    if source is HOST:
        return "host_to_device"
    return "device_to_host" if target is HOST else "peer_to_peer"


standins.active_player = VirtualGpusPlayer()
