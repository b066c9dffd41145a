"""What an observer notes of one call, until it is sent: plain JSON with the fields of a trace."""

from __future__ import annotations

from typing import Any

LAUNCHES = 1000
"""How many are sent one by one."""
NAME = 200
"""Characters of a name that are sent."""


class Record:
    """Counts, and the first launches."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.launches: list[dict[str, Any]] = []
        self.launch_count = 0
        self.framework_launches: list[dict[str, Any]] | None = None
        self.copies: dict[str, dict[str, Any]] = {}
        self.allocations: dict[str, dict[str, Any]] = {}
        self.sites: dict[tuple[str, str], dict[str, Any]] = {}
        self.frees: dict[str, int] = {}
        self.peak_bytes: int | None = None
        self.synchronisations: int | None = None
        self.api: dict[str, int] = {}
        self.unseen: tuple[str, ...] = ()
        self.problem = ""

    def launched(self, launch: dict[str, Any]) -> None:
        """Note a launch."""
        self.launch_count += 1
        if len(self.launches) < LAUNCHES:
            self.launches.append(launch)

    def allocated(self, call: str, size: int, *, function: str, library: str) -> None:
        """Count one allocation, by what was called and by where that happened."""
        add(self.allocations, call, size, None)
        new = {"function": function[:NAME], "library": library[:NAME], "count": 0, "bytes": 0}
        site = self.sites.setdefault((function, library), new)
        site["count"] += 1
        site["bytes"] += size

    def plain(self) -> dict[str, Any]:
        """The record as it crosses the wire."""
        return {
            "source": self.source,
            "complete": not self.problem,
            "problem": self.problem,
            "launches": self.launches,
            "launch_count": self.launch_count,
            "framework_launches": self.framework_launches,
            "copies": self.copies,
            "allocations": self.allocations,
            "sites": list(self.sites.values()),
            "frees": self.frees,
            "peak_bytes": self.peak_bytes,
            "synchronisations": self.synchronisations,
            "api": self.api,
            "unseen": list(self.unseen),
        }


def add(where: dict[str, dict[str, Any]], name: str, size: int, seconds: float | None) -> None:
    """Count one copy or allocation."""
    entry = where.setdefault(name, {"count": 0, "bytes": 0, "seconds": None if seconds is None else 0.0})
    entry["count"] += 1
    entry["bytes"] += size
    if seconds is not None:
        entry["seconds"] = (entry["seconds"] or 0.0) + seconds


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
    """One launch as it crosses the wire."""
    return {
        "kernel": kernel[:NAME],
        "grid": [int(n) for n in grid],
        "block": [int(n) for n in block],
        "shared_bytes": shared_bytes,
        "seconds": seconds,
        "device": device,
        "stream": stream,
    }
