"""The cores that a run has for itself while it times, and whether they, and its GPUs, were left alone."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from grader.contracts.context import KERNEL_RAN, OTHERS_RAN
from grader.cuda.state import GpuState, state
from grader.machine.cores import Cores
from grader.machine.lease import Lease, Leases
from grader.machine.quiet import CoreMonitor, Disturbance
from grader.model.job import LEASE_WAIT_S
from grader.worker.devices import Devices, is_sibling

UNTOLD_S = 3.0
"""After so long without an answer the kernel's counts are taken for worthless, and what ran for quiet."""


class OwnCores:
    """Leased cores for programs, and one for ourselves; none where the machine has too few."""

    def __init__(
        self,
        count: int,
        what: str,
        waits: Callable[[str], None],
        among: tuple[int, ...] = (),
        *,
        wait_s: float = LEASE_WAIT_S,
    ) -> None:
        """Lease up to `count` for programs, and one for ourselves: who is kept waiting reads the clock late.

        They are some of those `among` which to choose, or of all that we may use. `waits` is called with the
        cause of a wait, which lasts for `wait_s` at most.

        Raises:
            NotObservedError: nobody gave them back in time.
        """
        topology = Cores(among or None)
        self._lease: Lease | None = None
        self.cores: tuple[int, ...] = ()
        count = min(count, len(topology.allowed) - 1)
        if count < 1:
            return
        names = {f"core-{core}": core for core in topology.pick(count + 1)}
        self._lease = Leases().take(tuple(names), count + 1, wait_s, what, waiting=waits, ignore=is_sibling)
        *programs, ours = (names[name] for name in self._lease.names)
        self.cores = tuple(programs)
        # what is imported from now on starts its threads there, and so do the servers
        os.sched_setaffinity(0, {ours})

    def close(self) -> None:
        """Let go of them."""
        if self._lease is not None:
            self._lease.close()


class WatchedCores:
    """`grader.contracts.context.Quiet` over the leased cores and GPUs."""

    def __init__(self, cores: tuple[int, ...], devices: Devices, programs_s: Callable[[], float]) -> None:
        """`programs_s` gives the CPU seconds so far of all programs that run there for us."""
        topology = Cores()
        watched = {*cores, *os.sched_getaffinity(0)} if cores else topology.allowed
        self._watch = CoreMonitor(watched, topology=topology)
        self._beside_us = not os.sched_getaffinity(0).isdisjoint(self._watch.cores)
        """Whether what we compute ourselves may be counted there."""
        self._devices = devices
        self.untold = False
        """Whether it could not be told of some round."""
        self._programs_s = programs_s
        self._own_from_s = 0.0
        self._since: float | None = None

    def begin(self, *, anew: bool = False) -> None:
        """Count from now on, unless a count is still open that was too short to tell."""
        if anew or self._since is None:
            self._watch.begin()
            self._own_from_s = self._own_s()
            self._since = time.monotonic()

    def end(self) -> str | None:
        """Say what else ran since the count began; empty if nothing did, None if it is too early to tell."""
        if disturbed := self._on_devices():
            self._since = None
            return disturbed
        use = self._watch.end(self._own_s() - self._own_from_s)
        verdict = use.disturbed()
        if verdict is None and time.monotonic() - (self._since or 0.0) < UNTOLD_S:
            return None
        self.untold |= verdict is None
        self._since = None
        return _who_ran(use) if verdict else ""

    def _own_s(self) -> float:
        return self._programs_s() + (time.process_time() if self._beside_us else 0.0)

    def _on_devices(self) -> str:
        for gpu in self._devices.leased:
            now = state(gpu)
            if now.throttle:
                return f"the GPU was slowed down: {', '.join(now.throttle)}"
            if strangers := self._strangers(now):
                return f"another program (process {strangers[0]}) has the GPU open"
        return ""

    def _strangers(self, now: GpuState) -> list[int]:
        """Return the processes that have a context there and are none of ours.

        Who is not among the processes that we see (the driver may know them by other numbers) is a stranger
        if it was there before us. A context alone suffices: whether it computes is known too late.
        """
        here = sorted({process.pid for process in now.processes or ()})
        return [pid for pid in here if pid in self._devices.others or (_exists(pid) and not _ours(pid))]


def _who_ran(use: Disturbance) -> str:
    """Return OTHERS_RAN if programs computed beside ours, otherwise KERNEL_RAN, for whomever."""
    return OTHERS_RAN if use.computed(use.own_cpu_s).disturbed() else KERNEL_RAN


def _exists(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def _ours(pid: int) -> bool:
    """Whether a process descends from this one; one that has just ended is taken for ours."""
    while pid > 1 and pid != os.getpid():
        try:
            stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        except OSError:
            return True
        pid = int(stat.rpartition(")")[2].split()[1])
    return pid == os.getpid()
