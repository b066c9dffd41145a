"""Records of CUDA C++ that was built for the CPU, by the libraries that the program has loaded."""

from __future__ import annotations

import ctypes
import os
from collections import Counter
from contextlib import suppress

from ..cuda_on_cpu.library import forget, record
from .record import HOST, Record, add, launch

_UNSEEN = ("framework_launches", "sites", "frees", "peak_bytes", "synchronisations")


class StandIn:
    """Records of kernels that the CPU runs; copies by the program's driver itself are not among them."""

    name = "cuda_on_cpu"
    exchange = None
    """A driver of the course exchanges inputs."""

    def __init__(self) -> None:
        self._before: Counter[str] = Counter()

    def watch(self) -> None:
        """A call begins: forget what was, but for the names of the calls."""
        for library in _libraries():
            self._before.update(one["call"] for one in record(library)["allocations"])
            forget(library)

    def record(self) -> Record:
        """What it did; of calls, only those that allocate are recorded."""
        made = Record(self.name)
        made.unseen = _UNSEEN
        made.api_before = dict(self._before)
        for seen in map(record, _libraries()):
            for one in seen["launches"]:
                made.launched(
                    launch(one["kernel"], one["grid"], one["block"], shared_bytes=one["shared_bytes"])
                )
            for one in seen["allocations"]:
                add(made.allocations, one["call"], one["bytes"], None)
                made.api[one["call"]] = made.api.get(one["call"], 0) + 1
            for direction, copies in seen["copies"].items():
                ends = HOST if direction.startswith("host") else 0, HOST if direction.endswith("host") else 0
                made.copied(direction, copies["bytes"], None, ends, count=copies["count"])
        return made


def _libraries() -> list[ctypes.CDLL]:
    """Those of this process that record what their kernels do."""
    with open("/proc/self/maps", encoding="utf-8") as file:
        paths = {line.split(maxsplit=5)[5].strip() for line in file if ".so" in line}
    loaded = []
    for path in sorted(paths):
        with suppress(OSError):
            library = ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
            if hasattr(library, "sim_record"):
                loaded.append(library)
    return loaded
