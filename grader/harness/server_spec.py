"""Properties by which subject servers differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

from grader.subject.standins import StandIn

OBSERVER = "_grader_subject.observer"
RUN_TESTS = "_grader_subject.tools.run_tests"
RUN_RANKS = "_grader_subject.tools.run_ranks"
TORCHRUN = "torch.distributed.run"
"""Our own modules, as the student's side knows them, and one of torch's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSpec:
    """A server is kept for each of these: whatever is read when a library is imported is part of it."""

    preloads: tuple[str, ...] = ()
    """Modules that are imported before any file of a submission."""
    devices: tuple[str, ...] = ()
    """Device files that are shown, beside those that every program may expect."""
    environment: tuple[tuple[str, str], ...] = ()
    """Variables in place of, or beside, the usual ones."""
    mounts: tuple[tuple[str, str], ...] = ()
    """Further folders that are shown, read-only: the path inside and the one outside. Variables name the path
    inside."""
    cores: int | None = None
    """Threads that numerical libraries are told to use; None for as many as the assignment says."""

    def importing(self, *modules: str) -> Self:
        """The same, with these modules imported first."""
        return replace(self, preloads=tuple(dict.fromkeys((*modules, *self.preloads))))


def _not_counted() -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceGrant:
    """Devices and products that an item gets, beside memory and time."""

    devices: tuple[str, ...] = ()
    """Device files."""
    environment: tuple[tuple[str, str], ...] = ()
    """Variables with which libraries find their devices."""
    count: int = 0
    """How many devices they are, virtual ones too."""
    bus_bytes_per_s: float = 0.0
    """The most that their buses carry together in one direction; 0 where that is not known."""
    bus_bytes: Callable[[], tuple[tuple[int, int], ...] | None] = _not_counted
    """Reads what each device has sent and received over its bus so far; None where one does not count."""
    stand_in: StandIn | None = None
    """What plays for them where the machine has none."""
    built: bool = False
    """Whether its programs find what the assignment's build makes."""
    withheld: bool = False
    """Whether the item gets none of the machine's GPUs, so that an import that asks for one has failed."""

    @property
    def simulated(self) -> bool:
        """Whether a stand-in plays for them."""
        return self.stand_in is not None

    @property
    def waits_for_gpu(self) -> bool:
        """Whether an import that asks for a GPU decides nothing: there is none, and one may be granted."""
        return not self.count and not self.withheld

    def setup(self, preloads: tuple[str, ...]) -> ServerSpec:
        """The server for a file that wants these modules imported first."""
        plain = ServerSpec(preloads=preloads, devices=self.devices, environment=self.environment)
        if self.stand_in is not None:
            return plain.importing(self.stand_in.module, OBSERVER)
        return plain.importing(OBSERVER) if self.devices else plain


NOTHING = DeviceGrant()


def played_by(stand_in: StandIn) -> DeviceGrant:
    """Return the grant of an item whose devices a stand-in plays."""
    return DeviceGrant(stand_in=stand_in, environment=stand_in.environment, count=stand_in.gpus)


def of_tool(name: str) -> ServerSpec:
    """The server of one of our own tools imports it: its child could not find it any more."""
    return ServerSpec(preloads=(f"_grader_subject.tools.{name}",))
