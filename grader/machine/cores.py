"""Processor cores that we may use (CPU affinity), and their hardware-thread siblings."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

_CPUS = Path("/sys/devices/system/cpu")
_CGROUPS = Path("/sys/fs/cgroup")


class Cores:
    """The cores of this machine, as far as we may use them; they are Linux's CPUs: hardware threads."""

    def __init__(self, allowed: Iterable[int] | None = None, folder: Path = _CPUS) -> None:
        """Take our own affinity, unless `allowed` names others."""
        self.allowed = tuple(sorted(os.sched_getaffinity(0) if allowed is None else allowed))
        self._folder = folder

    def siblings(self, core: int) -> tuple[int, ...]:
        """Return the other hardware threads of a core's physical core; none if unknown."""
        file = self._folder / f"cpu{core}" / "topology" / "thread_siblings_list"
        try:
            return tuple(other for other in parse_list(file.read_text()) if other != core)
        except (OSError, ValueError):
            return ()

    def pick(self, count: int) -> tuple[int, ...]:
        """Candidates for `count` leases, the best first; fewer than `count` if there are no more.

        One hardware thread of each physical core, for two on one slow each other down. The physical core of
        core 0, where most interrupts and services run, only where the others do not suffice; second
        threads only where all physical cores together do not.
        """
        first: list[int] = []
        second: list[int] = []
        for core in self.allowed:
            threads = [core, *(other for other in self.siblings(core) if other in self.allowed)]
            (first if core == min(threads) else second).append(core)
        busiest = {0, *self.siblings(0)}
        chosen: list[int] = []
        for cores in (
            [core for core in first if core not in busiest],
            [core for core in first if core in busiest],
            second,
        ):
            if len(chosen) < count:
                chosen += cores
        return tuple(chosen)

    def apart(self, chosen: Iterable[int]) -> frozenset[int]:
        """Return the cores that share no physical core with the chosen ones, and disturb them least."""
        chosen = tuple(chosen)
        return frozenset(self.allowed).difference(chosen, *map(self.siblings, chosen))

    def governors(self) -> tuple[str, ...]:
        """Return the names of active frequency governors; none if the hypervisor controls the frequency."""
        names = set()
        for core in self.allowed:
            file = self._folder / f"cpu{core}" / "cpufreq" / "scaling_governor"
            if file.is_file():
                names.add(file.read_text().strip())
        return tuple(sorted(names))


def quota(folder: Path = _CGROUPS) -> float | None:
    """Return the CPU quota of a container in cores (cgroup v2, `cpu.max`); None without a limit."""
    try:
        limit, period = (folder / "cpu.max").read_text().split()
        return int(limit) / int(period)
    except (OSError, ValueError):  # the file of a cgroup without a bound says "max"
        return None


def parse_list(text: str) -> tuple[int, ...]:
    """Parse a kernel CPU list: `0-2,8` is 0, 1, 2, 8.

    Raises:
        ValueError: it is none.
    """
    numbers: list[int] = []
    for part in filter(None, text.strip().split(",")):
        low, _, high = part.partition("-")
        numbers += range(int(low), int(high or low) + 1)
    return tuple(numbers)
