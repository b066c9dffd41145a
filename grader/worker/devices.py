"""The GPUs that an exam leases and lends to the items that need them, or a simulator in their place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from grader.cuda.files import driver_folders, nodes
from grader.cuda.gpus import NO_MULTICAST, VISIBLE, Gpu, gpus, why_none
from grader.cuda.health import probe
from grader.cuda.state import bus_carried, memory_used, state
from grader.cuda.traffic import BusBytes
from grader.errors import NotObservedError
from grader.harness.server_spec import NOTHING, DeviceGrant, played_by
from grader.machine.lease import Lease, Leases
from grader.model.job import Task
from grader.model.observation import Observation, Outcome
from grader.subject.standins import stand_in_for
from grader.subject.standins.requirements import why_not_played

GPU = "gpu"
WAIT_S = 1800.0
"""How long an exam waits for devices, or cores, that others have leased."""

_ABNORMAL = frozenset({Outcome.CRASHED, Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY})


class Devices:
    """One exam's hold on the GPUs of this machine: nothing until an item needs one, then a lease."""

    def __init__(
        self, what: str, *, retire: Callable[[], None], say: Callable[[str], None], lent: tuple[str, ...] = ()
    ) -> None:
        """Lease for `what`; `retire` ends all programs that have devices, `say` tells why we wait.

        `lent` are the UUIDs of GPUs that another exam has leased and lets this one use, and no others: it
        sees to their health, and that they are given back.
        """
        self._lent = lent
        self._what = what
        self._retire = retire
        self._say = say
        self._ill: set[str] = set()
        self._lease: Lease | None = None
        self._leased: tuple[Gpu, ...] = ()
        self.others: tuple[int, ...] = ()
        """Programs that computed on the leased GPUs before any of ours did."""

    @cached_property
    def _all(self) -> tuple[Gpu, ...]:
        return tuple(gpu for gpu in whole_gpus() if not self._lent or gpu.uuid in self._lent)

    @property
    def found(self) -> tuple[Gpu, ...]:
        """What this machine has that is whole and well."""
        return tuple(gpu for gpu in self._all if gpu.uuid not in self._ill)

    @property
    def leased(self) -> tuple[Gpu, ...]:
        """What this exam has at the moment."""
        return self._leased

    def facts(self) -> list[dict[str, str]]:
        """What this machine has, for those who read a measurement months later."""
        return [
            {
                "name": gpu.name,
                "uuid": gpu.uuid,
                "memory": f"{gpu.memory_bytes >> 20} MiB",
                "compute_capability": ".".join(map(str, gpu.compute_capability)),
                "driver": gpu.driver,
                "cuda": ".".join(map(str, gpu.cuda)),
            }
            for gpu in self.found
        ]

    def lacking(self, needed: Mapping[str, int], *, simulates: bool, torch: bool = False) -> str:
        """Why an item that needs these cannot be observed here, in one line; empty if it can.

        For an item that says with what inputs, a simulator stands in for one GPU where there is none; for
        one whose program imports `torch`, virtual GPUs where there are too few.
        """
        why = (self._lacking(name, n, simulates, torch) for name, n in needed.items())
        return ", ".join(filter(None, why))

    def _lacking(self, name: str, count: int, simulates: bool, torch: bool) -> str:
        found = len(self.found) if name == GPU else 0
        if found >= count:
            return ""
        unplayed = why_not_played(count, found, torch=torch) if simulates else ""
        if simulates and not unplayed:
            return ""
        why = (why_none() or "they are divided (MIG) or in quarantine") if name == GPU and not found else ""
        has = f"{found or 'none'}{f' ({why})' if why else ''}"
        lacks = f"needs {count} {name.upper()}{'' if count == 1 else 's'}; this machine has {has}"
        return f"{lacks}, and no virtual ones: {unplayed}" if torch and unplayed else lacks

    def lend(self, needed: Mapping[str, int], *, torch: bool = False, built: bool = False) -> DeviceGrant:
        """Grant what such an item needs; waits for a lease. Of what is `lacking`, a stand-in for it.

        A `built` program finds what the assignment's build makes; for `torch` see `lacking`.

        Raises:
            NotObservedError: nobody gave them back in time, or none of them is well.
        """
        count = needed.get(GPU, 0)
        if not count:
            grant = NOTHING
        elif len(self.found) < count:
            grant = played_by(stand_in_for(count, built=built, torch=torch))
        else:
            if len(self._leased) < count:
                # who holds one and waits for another may wait for somebody who does the same
                self.give_back()
                self._take(count)
            grant = _lent(self._leased[:count])
        return replace(grant, built=True) if built else grant

    def _take(self, count: int) -> None:
        if self._lent:
            self._leased = self.found
            return
        names = tuple(gpu.lease for gpu in self.found)
        lease = Leases().take(names, count, WAIT_S, self._what, waiting=self._say)
        self._lease, self._leased = lease, tuple(gpu for gpu in self.found if gpu.lease in lease.names)
        # the first CUDA program after a machine started is slow for all its life: it shall be ours
        if ill := self._examined():
            raise NotObservedError(ill)
        states = [state(gpu) for gpu in self._leased]
        self.others = tuple(process.pid for now in states for process in now.processes or ())

    def after(self, observation: Observation) -> None:
        """See to it that what one item did to a device does not hurt the next."""
        ended = {observation.outcome, *(case.outcome for case in observation.cases)}
        if self._leased and ended & _ABNORMAL and (ill := self._examined()):
            self._say(ill)

    def _examined(self) -> str:
        """What is wrong with a leased GPU; it is put into quarantine then, and all are given back."""
        for gpu in () if self._lent else self._leased:
            if problem := probe(gpu):
                Leases().quarantine(gpu.lease, problem)  # while it is ours: nobody who waits shall get it
                self._ill.add(gpu.uuid)
                self.give_back()
                return f"{gpu.name} {gpu.uuid} is put into quarantine: {problem}"
        return ""

    def memory_used(self) -> int:
        """Bytes taken on the leased GPUs, by whomever; 0 where that is not told."""
        return sum(memory_used(gpu) or 0 for gpu in self._leased)

    def bus_carried(self) -> tuple[int, int] | None:
        """Bytes that the bus carried to the leased GPU, and from it; None of several, or where untold."""
        return bus_carried(*self._leased) if len(self._leased) == 1 else None

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


def whole_gpus() -> tuple[Gpu, ...]:
    """Those of this machine that can be lent."""
    return tuple(gpu for gpu in gpus() if not gpu.mig)


def gpus_for(tasks: Iterable[Task]) -> int:
    """How many could be lent to these items; no driver is asked if none of them needs any."""
    return len(whole_gpus()) if any(task.devices for task in tasks) else 0


def foreseen(needed: Mapping[str, int]) -> DeviceGrant | None:
    """What an item will be lent, where that can be told before there is a lease: it needs all GPUs there are.

    A server that only imports does not touch them, and may be started while somebody else has the lease.
    """
    found = whole_gpus()
    return _lent(found) if found and needed.get(GPU, 0) == len(found) else None


def _lent(gpus: Sequence[Gpu]) -> DeviceGrant:
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
