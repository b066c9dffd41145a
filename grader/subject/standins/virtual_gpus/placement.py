"""Counts of operators by device, and of copies between devices."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

from .devices import devices


class TensorPlacement:
    """Counts since the last `forget`."""

    def __init__(self) -> None:
        self._ran: Counter[tuple[int, str]] = Counter()
        self._copies: Counter[tuple[str, str]] = Counter()
        self._copied_bytes: Counter[tuple[str, str]] = Counter()
        self._changing = threading.Lock()

    def ran(self, index: int, name: str) -> None:
        """Count an operator of device `index`."""
        with self._changing:
            self._ran[index, name] += 1

    def copied(self, source: Any, target: Any, size: int) -> None:
        """Count a copy of so many bytes from one `torch.device` to another one."""
        with self._changing:
            self._copies[str(source), str(target)] += 1
            self._copied_bytes[str(source), str(target)] += size

    def forget(self) -> None:
        """Begin anew; what is allocated stays, and the peak begins with it."""
        with self._changing:
            for counts in (self._ran, self._copies, self._copied_bytes):
                counts.clear()
            for memory in devices.memories:
                memory.observed_peak = memory.allocated

    def plain(self) -> dict[str, Any]:
        """Return the counts as plain JSON.

        {"devices": [{"device": 0, "operators": {"mm": 9, …}, "allocated_bytes": now, "peak_bytes": at most},
        …], "copies": [{"from": "cpu", "to": "cuda:0", "count": …, "bytes": …}, …]}. Operators are counted by
        name, also those that autograd runs; a copy within a device is one of them, `copy`.
        """
        with self._changing:
            return {
                "devices": [
                    {
                        "device": index,
                        "operators": {name: n for (at, name), n in sorted(self._ran.items()) if at == index},
                        "allocated_bytes": memory.allocated,
                        "peak_bytes": memory.observed_peak,
                    }
                    for index, memory in enumerate(devices.memories)
                ],
                "copies": [
                    {"from": ends[0], "to": ends[1], "count": n, "bytes": self._copied_bytes[ends]}
                    for ends, n in sorted(self._copies.items())
                ],
            }


placement = TensorPlacement()
