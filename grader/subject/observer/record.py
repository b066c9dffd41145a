"""Record of one call by an observer, until it is sent: plain JSON with the fields of a trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

Key = TypeVar("Key")

LAUNCHES = 1000
"""How many are sent one by one."""
NAME = 200
"""Characters of a name that are sent."""

COLLECTIVE = "nccl"
"""Prefix of NCCL's kernels. They wait for each other: how long one runs says what its peers did."""
HOST = None
"""In the place of a device's number, at one end of a copy."""


class Record:
    """Counts, and the first launches."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.launches: list[dict[str, Any]] = []
        self.launch_count = 0
        self.framework_launches: list[dict[str, Any]] | None = None
        self.copies: dict[str, dict[str, Any]] = {}
        self.devices: dict[int, dict[str, Any]] = {}
        self.transfers: dict[tuple[int | None, int | None], dict[str, Any]] = {}
        self.allocations: dict[str, dict[str, Any]] = {}
        self.sites: dict[tuple[str, str], dict[str, Any]] = {}
        self.frees: dict[str, int] = {}
        self.peak_bytes: int | None = None
        self.synchronisations: int | None = None
        self.api: dict[str, int] = {}
        self.api_before: dict[str, int] = {}
        self.unrecorded = 0
        self.unseen: tuple[str, ...] = ()
        self.problem = ""
        self.exchange: dict[str, Any] | None = None
        """What exchanging the inputs of its kernels showed; None if they were not."""

    def launched(self, launch: dict[str, Any]) -> None:
        """Note a launch, and what its device did; a collective is no work of its own."""
        self.launch_count += 1
        work = self._device(launch["device"])
        if not launch["kernel"].startswith(COLLECTIVE):
            work["kernels"] += 1
            if launch["seconds"] is not None:
                work["seconds"] = (work["seconds"] or 0.0) + launch["seconds"]
        if len(self.launches) < LAUNCHES:
            self.launches.append(launch)

    def ran(self, device: int, kernels: int) -> None:
        """Count kernels of which no more is known than where they ran."""
        self.launch_count += kernels
        self._device(device)["kernels"] += kernels

    def copied(
        self,
        direction: str,
        size: int,
        seconds: float | None,
        ends: tuple[int | None, int | None],
        *,
        count: int = 1,
    ) -> None:
        """Count a copy, or several together, by direction and by the devices at both ends."""
        add(self.copies, direction, size, seconds, count)
        if ends != (HOST, HOST):
            add(self.transfers, ends, size, seconds, count)

    def copied_by_direction(self, totals: Mapping[str, Mapping[str, int]]) -> None:
        """Count the copies of a single device, whose totals are given by direction."""
        for direction, total in totals.items():
            ends = copy_ends(direction, 0, 0)
            self.copied(direction, total["bytes"], None, ends, count=total["count"])

    def note_peak(self, device: int, peak_bytes: int) -> None:
        """Note the most memory of a device that was allocated at one time."""
        self._device(device)["peak_bytes"] = peak_bytes

    def _device(self, number: int) -> dict[str, Any]:
        new = {"device": number, "kernels": 0, "seconds": None, "peak_bytes": None}
        return self.devices.setdefault(number, new)

    def allocated(self, call: str, size: int, *, function: str, library: str) -> None:
        """Count one allocation, by what was called and by where that happened."""
        add(self.allocations, call, size, None)
        new = {"function": function[:NAME], "library": library[:NAME], "count": 0, "bytes": 0}
        site = self.sites.setdefault((function, library), new)
        site["count"] += 1
        site["bytes"] += size

    def plain(self) -> dict[str, Any]:
        """Return the record as it crosses the wire."""
        return {
            **vars(self),
            "complete": not self.problem,
            "devices": [self.devices[number] for number in sorted(self.devices)],
            "transfers": [
                {"source": source, "target": target, **copies}
                for (source, target), copies in self.transfers.items()
            ],
            "sites": list(self.sites.values()),
            "unseen": list(self.unseen),
        }


def add(
    where: dict[Key, dict[str, Any]], name: Key, size: int, seconds: float | None, count: int = 1
) -> None:
    """Count a copy or an allocation, or several together."""
    entry = where.setdefault(name, {"count": 0, "bytes": 0, "seconds": None if seconds is None else 0.0})
    entry["count"] += count
    entry["bytes"] += size
    if seconds is not None:
        entry["seconds"] = (entry["seconds"] or 0.0) + seconds


def copy_ends(direction: str, source: int, target: int) -> tuple[int | None, int | None]:
    """Return the devices at both ends of a copy: HOST in the place of those that its direction excludes."""
    return (
        HOST if direction.startswith("host") else source,
        HOST if direction.endswith("host") else target,
    )


def launch(
    kernel: str,
    grid: tuple[int, ...],
    block: tuple[int, ...],
    *,
    shared_bytes: int = 0,
    seconds: float | None = None,
    device: int = 0,
    stream: int = 0,
) -> dict[str, Any]:
    """Return one launch as it crosses the wire; a source that knows when it was puts that in."""
    return {
        "kernel": kernel[:NAME],
        "grid": [int(n) for n in grid],
        "block": [int(n) for n in block],
        "shared_bytes": shared_bytes,
        "seconds": seconds,
        "device": device,
        "stream": stream,
        "asked_s": None,
        "began_s": None,
    }
