"""CPU time that other processes took on timed cores, from /proc/stat."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.machine.cores import Cores

_PROC = Path("/proc")
_BUSY = (0, 1, 2, 5, 6, 7)
"""Columns of `/proc/stat`, man 5 proc_stat: user, nice, system, irq, softirq, steal."""
_KERNEL = (2, 5, 6)
"""Columns of kernel work: system, irq, softirq."""
_STEAL = 7
_INVOLUNTARY = "nonvoluntary_ctxt_switches:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """The kernel's counts for each core since the machine started, in seconds."""

    busy_s: Mapping[int, float]
    """All time but idle and iowait; `steal_s` included."""
    steal_s: Mapping[int, float]
    """Time in which the hypervisor ran another virtual machine although a process could run here."""
    kernel_s: Mapping[int, float] = field(default_factory=dict)
    """The part of `busy_s` in which the kernel worked, for any process."""

    @classmethod
    def parse(cls, stat: str, tick_s: float) -> Readings:
        """Read the text of `/proc/stat`, which counts in ticks."""
        counts = {
            int(name.removeprefix("cpu")): list(map(int, numbers))
            for name, *numbers in map(str.split, stat.splitlines())
            if name.startswith("cpu") and name != "cpu"
        }
        return cls(
            busy_s={core: tick_s * sum(count[i] for i in _BUSY) for core, count in counts.items()},
            steal_s={core: tick_s * count[_STEAL] for core, count in counts.items()},
            kernel_s={core: tick_s * sum(count[i] for i in _KERNEL) for core, count in counts.items()},
        )


def readings(proc: Path = _PROC) -> Readings:
    """Read the present counts."""
    return Readings.parse((proc / "stat").read_text(), tick())


def tick() -> float:
    """Return the resolution of the kernel's counts, in seconds: 10 ms nearly everywhere."""
    return 1.0 / os.sysconf("SC_CLK_TCK")


def load_1min(proc: Path = _PROC) -> float:
    """Return the load average of the last minute."""
    return float((proc / "loadavg").read_text().split()[0])


def switches(pid: int, proc: Path = _PROC) -> int | None:
    """Count the involuntary context switches of a process's threads.

    Threads that have ended are not in it. None if the process has ended, or the kernel does not tell.
    """
    counts: list[int] = []
    for status in (proc / str(pid) / "task").glob("*/status"):
        try:
            lines = status.read_text().splitlines()
        except OSError:  # this thread has ended
            continue
        counts += (int(line.split()[1]) for line in lines if line.startswith(_INVOLUNTARY))
    return sum(counts) if counts else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Disturbance:
    """CPU use of timed cores and their hardware siblings during a measurement."""

    wall_s: float
    busy_s: float
    """All CPU time spent there, by the kernel's count."""
    own_cpu_s: float
    """The CPU time that the timed program and we spent there, by our count."""
    steal_s: float
    """The part of `busy_s` that other virtual machines took."""
    resolution_s: float
    """The possible error of `busy_s`."""
    load_1min: float
    """The load average at the end, our own load included."""
    kernel_s: float = 0.0
    """The part of `busy_s` in which the kernel worked, for whomever."""
    involuntary: int | None = None
    """Involuntary context switches of the timed processes; None if none was given, or unknown."""

    @property
    def others_s(self) -> float:
        """CPU time that others took; 0 if it is below the resolution."""
        others_s = self.busy_s - self.own_cpu_s
        return others_s if others_s > self.resolution_s else 0.0

    @property
    def share(self) -> float:
        """`others_s` as a share of the wall time; beyond 1 if several cores were taken."""
        return self.others_s / self.wall_s if self.wall_s else 0.0

    def computed(self, own_user_s: float) -> Disturbance:
        """Return the disturbance by programs alone, without kernel time; ours computed for `own_user_s`."""
        return replace(self, busy_s=self.busy_s - self.kernel_s, own_cpu_s=own_user_s, kernel_s=0.0)

    def disturbed(self, limit: float = 0.1) -> bool | None:
        """Tell whether others took more than `limit` of the wall time; None if the time was too short.

        None as well if the kernel counted less than we spent ourselves: such counts are unusable (an emulated
        kernel, or work of ours on other cores).
        """
        others_s, allowed_s = self.busy_s - self.own_cpu_s, limit * self.wall_s
        if others_s - self.resolution_s > allowed_s:
            return True
        if -self.resolution_s <= others_s <= allowed_s - self.resolution_s:
            return False
        return None


class CoreMonitor:
    """Measures the CPU use of timed cores, their hardware siblings and the timed processes.

    The kernel counts in ticks of 10 ms, so one call of some milliseconds says nothing: let the watch run over
    many of them. One core and its sibling can be called quiet from 0.3 s on, for a limit of 0.1.
    """

    def __init__(
        self,
        cores: Iterable[int],
        *,
        topology: Cores | None = None,
        pids: Sequence[int] = (),
        proc: Path = _PROC,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Watch `cores`, of which `topology` knows the siblings; `pids` are the processes that are timed."""
        topology = topology or Cores()
        timed = set(cores)
        self.cores = sorted(timed.union(*map(topology.siblings, timed)))
        """The measured cores, siblings included."""
        self._pids, self._proc, self._clock = tuple(pids), proc, clock
        self._begun: tuple[float, Readings, int | None] | None = None

    @property
    def resolution_s(self) -> float:
        """The possible error of all counts together, in seconds of CPU time."""
        # the errors of two rounded counts per core, independent of each other: 3.4 standard deviations
        return 2 * math.sqrt(len(self.cores)) * tick()

    def begin(self) -> None:
        """Start a measurement."""
        switched = self._switches()
        self._begun = self._clock(), readings(self._proc), switched

    def end(self, own_cpu_s: float) -> Disturbance:
        """Return the disturbance since `begin`; may be called repeatedly.

        Args:
            own_cpu_s: the CPU time, in seconds, that all of ours spent on these cores meanwhile: the program
                that is timed, and ourselves as far as we run there.
        """
        if self._begun is None:
            raise RuntimeError("a watch ends after it has begun")
        now, clock = readings(self._proc), self._clock()
        begun, before, switched_before = self._begun
        switched = self._switches()
        involuntary = None
        if switched is not None and switched_before is not None:
            involuntary = max(0, switched - switched_before)
        return Disturbance(
            wall_s=clock - begun,
            busy_s=self._spent(before.busy_s, now.busy_s),
            own_cpu_s=own_cpu_s,
            steal_s=self._spent(before.steal_s, now.steal_s),
            resolution_s=self.resolution_s,
            load_1min=load_1min(self._proc),
            kernel_s=self._spent(before.kernel_s, now.kernel_s),
            involuntary=involuntary,
        )

    def _spent(self, before: Mapping[int, float], now: Mapping[int, float]) -> float:
        """On all cores together; the counts of a core may go back a little, and a core may be gone."""
        return sum(max(0.0, now.get(core, 0.0) - before.get(core, 0.0)) for core in self.cores)

    def _switches(self) -> int | None:
        counts = [switches(pid, self._proc) for pid in self._pids]
        return sum(count or 0 for count in counts) if any(count is not None for count in counts) else None
