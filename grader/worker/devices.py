"""The GPUs that a run leases and grants to the items that need them, or a simulator in their place."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from grader.cuda.files import driver_folders, nodes
from grader.cuda.gpus import NO_MULTICAST, VISIBLE, Gpu, gpus, why_none
from grader.cuda.health import probe
from grader.cuda.state import memory_used, state
from grader.cuda.traffic import BusBytes
from grader.errors import NotObservedError
from grader.harness.server_spec import NOTHING, DeviceGrant, played_by
from grader.machine.lease import Lease, Leases
from grader.machine.notes import Holder
from grader.model.job import GPU, LEASE_WAIT_S, Task
from grader.model.observation import Observation, Outcome
from grader.subject.standins import stand_in_for
from grader.subject.standins.requirements import why_not_played

_ABNORMAL = frozenset({Outcome.CRASHED, Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY})


class Devices:
    """The GPUs that one run leases: none until an item needs one."""

    def __init__(  # noqa: PLR0913 - all that a run knows of its devices, by name
        self,
        what: str,
        *,
        retire: Callable[[], None],
        say: Callable[[str], None],
        waits: Callable[[str], None],
        share: Callable[[Lease, str], None] | None = None,
        granted: tuple[str, ...] = (),
        tasks: Sequence[Task] = (),
        wait_s: float = LEASE_WAIT_S,
    ) -> None:
        """Prepare to lease for `what`.

        Args:
            what: for people who wait for the lease.
            retire: ends all programs that have devices.
            say: logs a line.
            waits: is called with the cause of a wait.
            share: is called with a new lease, and the UUID of its GPU, if another run may use that as well.
            granted: UUIDs of the only GPUs to use, which another run has leased: it sees to their health.
            tasks: those that are observed: they may demand GPUs of some kinds.
            wait_s: how long to wait for what others have leased.
        """
        self._wait_s = wait_s
        self._tasks = tuple(tasks)
        self._granted = granted
        self._what = what
        self._retire = retire
        self._say = say
        self._waits = waits
        self._share = share
        self._ill: set[str] = set()
        self._lease: Lease | None = None
        self._leased: tuple[Gpu, ...] = ()
        self.others: tuple[int, ...] = ()
        """Programs that computed on the leased GPUs before any of ours did."""

    @cached_property
    def _all(self) -> tuple[Gpu, ...]:
        return tuple(
            gpu
            for gpu in whole_gpus()
            if (not self._granted or gpu.uuid in self._granted)
            and all(task.may_use(gpu.name) for task in self._tasks)
        )

    @property
    def usable(self) -> tuple[Gpu, ...]:
        """The GPUs of this machine that are whole and well."""
        return tuple(gpu for gpu in self._all if gpu.uuid not in self._ill)

    @property
    def leased(self) -> tuple[Gpu, ...]:
        """The GPUs that this run has at the moment."""
        return self._leased

    def facts(self) -> list[dict[str, str]]:
        """Describe the usable GPUs, for those who read a measurement months later."""
        return [
            {
                "name": gpu.name,
                "uuid": gpu.uuid,
                "memory": f"{gpu.memory_bytes >> 20} MiB",
                "compute_capability": ".".join(map(str, gpu.compute_capability)),
                "driver": gpu.driver,
                "cuda": ".".join(map(str, gpu.cuda)),
            }
            for gpu in self.usable
        ]

    def lacking(
        self, needed: Mapping[str, int], *, simulates: bool, torch: bool = False, built: bool = False
    ) -> str:
        """Return why an item that needs these cannot be observed here, in one line; empty if it can.

        For an item that says with what inputs, a simulator stands in for one GPU where there is none; for
        one whose program imports `torch` and is not `built`, virtual GPUs where there are too few.
        """
        why = (self._lacking(name, n, simulates, torch, built) for name, n in needed.items())
        return ", ".join(filter(None, why))

    def _lacking(self, name: str, count: int, simulates: bool, torch: bool, built: bool) -> str:
        present = len(self.usable) if name == GPU else 0
        if present >= count:
            return ""
        unplayed = why_not_played(count, present, torch=torch, built=built) if simulates else ""
        if simulates and not unplayed:
            return ""
        why = self._why_none() if name == GPU and not present else ""
        has = f"{present or 'none'}{f' ({why})' if why else ''}"
        lacks = f"needs {count} {name.upper()}{'' if count == 1 else 's'}; this machine has {has}"
        return f"{lacks}, and no virtual ones: {unplayed}" if torch and not built and unplayed else lacks

    def _why_none(self) -> str:
        if unfit := {gpu.name for gpu in whole_gpus() if not all(t.may_use(gpu.name) for t in self._tasks)}:
            kinds = sorted({kind for task in self._tasks for kind in task.gpu_kinds})
            return f"{', '.join(sorted(unfit))}; it is measured on {' or '.join(kinds)}"
        return why_none() or "they are divided (MIG) or in quarantine"

    def grant(self, needed: Mapping[str, int], *, torch: bool = False, built: bool = False) -> DeviceGrant:
        """Grant an item what it needs, after waiting for a lease; of what is `lacking`, a stand-in.

        A `built` program finds what the assignment's build makes; for `torch` see `lacking`.

        Raises:
            NotObservedError: nobody gave them back in time, or none of them is well.
        """
        count = needed.get(GPU, 0)
        if not count:
            grant = NOTHING
        elif len(self.usable) < count:
            grant = played_by(stand_in_for(count, built=built, torch=torch))
        else:
            if len(self._leased) < count:
                # who holds one and waits for another may wait for somebody who does the same
                self.give_back()
                self._take(count)
            grant = _grant_of(self._leased[:count])
        return replace(grant, built=True) if built else grant

    def _take(self, count: int) -> None:
        if self._granted:
            self._leased = self.usable
            return
        names = tuple(gpu.lease for gpu in self.usable)
        lease = Leases().take(names, count, self._wait_s, self._what, waiting=self._waits, ignore=is_sibling)
        self._lease, self._leased = lease, tuple(gpu for gpu in self.usable if gpu.lease in lease.names)
        # the first CUDA program after a machine started is slow for all its life: it shall be ours
        if problem := self._probe():
            raise NotObservedError(problem)
        states = [state(gpu) for gpu in self._leased]
        self.others = tuple(process.pid for now in states for process in now.processes or ())
        if self._share:
            self._share(lease, self._leased[0].uuid)

    def after(self, observation: Observation) -> None:
        """Probe the leased GPUs after an item that ended abnormally, so that it does not hurt the next."""
        outcomes = {observation.outcome, *(case.outcome for case in observation.cases)}
        if self._leased and outcomes & _ABNORMAL and (problem := self._probe()):
            self._say(problem)

    def _probe(self) -> str:
        """Return the fault of a leased GPU, which is put into quarantine then, and all are given back."""
        for gpu in () if self._granted else self._leased:
            if problem := probe(gpu):
                Leases().quarantine(gpu.lease, problem)  # while it is ours: nobody who waits shall get it
                self._ill.add(gpu.uuid)
                self.give_back()
                return f"{gpu.name} {gpu.uuid} is put into quarantine: {problem}"
        return ""

    def memory_used(self) -> int:
        """Return the bytes that programs have taken on the leased GPUs; 0 where the driver does not tell."""
        return sum(memory_used(gpu) or 0 for gpu in self._leased)

    def keep(self, count: int) -> None:
        """Give back what is leased if only fewer are needed from now on: they are leased anew.

        Others wait for the rest, and programs that saw all of them end in any case.
        """
        if len(self._leased) > count:
            self.give_back()

    def give_back(self) -> None:
        """End what has devices, and the lease."""
        if self._lease is not None:
            self._retire()
            self._lease.close()
            self._lease, self._leased = None, ()

    close = give_back


def is_sibling(holder: Holder) -> bool:
    """Tell whether a lease is held by another worker of our own host: its parent is ours."""
    try:
        stat = Path(f"/proc/{holder.pid}/stat").read_text(errors="replace")
    except OSError:
        return False
    return holder.pid != os.getpid() and int(stat.rpartition(")")[2].split()[1]) == os.getppid()


def whole_gpus() -> tuple[Gpu, ...]:
    """Return the GPUs of this machine that can be leased: those that are not divided."""
    return tuple(gpu for gpu in gpus() if not gpu.mig)


def gpus_for(tasks: Iterable[Task]) -> int:
    """Count the GPUs that could be leased for these items; without asking the driver if they need none."""
    return len(whole_gpus()) if any(task.devices for task in tasks) else 0


def foreseen(needed: Mapping[str, int]) -> DeviceGrant | None:
    """Return what an item will be granted if that is certain before the lease: it needs all GPUs there are.

    A server that only imports does not touch them, and may be started while somebody else has the lease.
    """
    whole = whole_gpus()
    return _grant_of(whole) if whole and needed.get(GPU, 0) == len(whole) else None


def _grant_of(gpus: Sequence[Gpu]) -> DeviceGrant:
    environment = {
        VISIBLE: ",".join(gpu.uuid for gpu in gpus),
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        **NO_MULTICAST,
        **({"LD_LIBRARY_PATH": ":".join(folders)} if (folders := driver_folders()) else {}),
    }
    buses = [gpu.bus_bytes_per_s for gpu in gpus]
    return DeviceGrant(
        devices=nodes(gpus),
        environment=tuple(environment.items()),
        count=len(gpus),
        bus_bytes_per_s=sum(buses) if all(buses) else 0.0,
        bus_bytes=BusBytes(tuple(gpu.uuid for gpu in gpus)),
    )
