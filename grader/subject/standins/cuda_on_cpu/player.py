"""CUDA C++ on the CPU as a stand-in: the records of the libraries that a program has loaded."""

from __future__ import annotations

import ctypes
import os
from collections import Counter
from contextlib import suppress

from ... import standins
from ...observer.record import Record, add, launch
from ..player import Player
from .library import forget, record

_UNSEEN = ("framework_launches", "sites", "frees", "peak_bytes", "synchronisations")


class CudaOnCpuPlayer(Player):
    """Records of kernels that the CPU runs; copies by the program's driver itself are not among them.

    A driver of the course exchanges inputs.
    """

    name = "cuda_on_cpu"
    observes_every_call = False

    def __init__(self) -> None:
        self._before: Counter[str] = Counter()

    def begin(self) -> None:
        """Begin the record of a call; the names of earlier calls stay known."""
        for library in _libraries():
            self._before.update(allocation["call"] for allocation in record(library)["allocations"])
            forget(library)

    def record(self) -> Record:
        """Return what the last call did; of calls, only those that allocate are recorded."""
        made = Record(self.name)
        made.unseen = _UNSEEN
        made.api_before = dict(self._before)
        for ran in map(record, _libraries()):
            for kernel in ran["launches"]:
                made.launched(
                    launch(
                        kernel["kernel"], kernel["grid"], kernel["block"], shared_bytes=kernel["shared_bytes"]
                    )
                )
            for allocation in ran["allocations"]:
                add(made.allocations, allocation["call"], allocation["bytes"], None)
                made.api[allocation["call"]] = made.api.get(allocation["call"], 0) + 1
            made.copied_by_direction(ran["copies"])
        return made


def _libraries() -> list[ctypes.CDLL]:
    """List the libraries of this process that record what their kernels do."""
    with open("/proc/self/maps", encoding="utf-8") as file:
        paths = {line.split(maxsplit=5)[5].strip() for line in file if ".so" in line}
    loaded = []
    for path in sorted(paths):
        with suppress(OSError):
            library = ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
            if hasattr(library, "sim_record"):
                loaded.append(library)
    return loaded


standins.active_player = CudaOnCpuPlayer()
