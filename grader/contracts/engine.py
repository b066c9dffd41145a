"""The contract of an engine, which gets workers run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeAlias, runtime_checkable

from grader.model.job import Job


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Some items of one submission, to be observed by one worker."""

    key: str
    """Unique among the orders of a session."""
    job: Job
    """What the worker is asked to do, but for its cores and the shared workspace, which the engine knows."""
    outbox: Path
    """The folder in which the worker appends its records to `evidence.jsonl`."""
    exclusive: bool = False
    """Whether it needs cores or GPUs for itself: it has timed items, or items with devices."""
    cores: int = 0
    """How many cores the timed items of its submission need, in this order or in others; 0 without any."""
    timed_parts: int = 1
    """How many orders of its submission may have cores for themselves at the same time."""
    shares_gpu: bool = False
    """Whether another such order may use its GPU meanwhile, if the engine says so in both jobs. What does
    not pass then is left without a record, and ordered again."""

    @property
    def job_file(self) -> Path:
        """The file of its job: orders of one submission have one outbox."""
        return self.outbox / f"job-{self.key}.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """Lines that were appended to the evidence in the outbox of an order, by it or by another one."""

    order: Order
    lines: tuple[bytes, ...]
    """Whole lines of JSON, without their line breaks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """An event: an order waits, with the cause."""

    order: Order
    message: str
    """One line for a person: for what, and who has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The end of an order; all of its records have been reported."""

    order: Order
    problem: str = ""
    """Why it was cut short; empty if the worker finished."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStatus:
    """An event: how the orders of a session stand, where they run on other machines."""

    order: Order
    """One of them that has not ended."""
    message: str
    """One line for a person: how many run on which machines, and what the others wait for."""


Event: TypeAlias = Records | Waits | Ended | QueueStatus
"""One entry of the stream of a session."""


class Session(Protocol):
    """A connection to an engine, for the orders of one command."""

    def wants(self) -> bool:
        """Whether another order could begin soon; an engine that queues by itself always says so."""
        ...

    def submit(self, order: Order) -> None:
        """Queue an order. A local engine may take it that no more come if none does while it `wants` one."""
        ...

    def event(self) -> Event | None:
        """Wait for the next event; None if no order is open.

        A problem with a worker or a queue is the `Ended.problem` of its orders, never an exception.
        """
        ...


@runtime_checkable
class CountsGpus(Protocol):
    """A session whose workers run on other machines, and lease GPUs there."""

    def gpus(self) -> int:
        """Return how many GPUs one worker can have."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineFinding:
    """One property of a machine where workers would run."""

    machine: str
    """A heading: which tasks run there, and the machine's name."""
    name: str
    works: bool
    message: str
    advice: str = ""
    """The remedy, if it does not work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoSettings:
    """The keys of an engine that has none."""


class Engine(ABC):
    """One way to get workers (`python -m grader.worker JOB OUTBOX`) run, on this machine or others."""

    name: ClassVar[str]
    """The value of `--engine`."""
    Options: ClassVar[type] = NoSettings
    """A dataclass of the keys below `engines` and its name in `course.yaml`, each declared by `option`."""
    is_remote: ClassVar[bool] = False
    """Whether its workers run on other machines; then its sessions tell how many GPUs these have
    (`CountsGpus`)."""
    detaches: ClassVar[bool] = False
    """Whether its workers go on without the command, which collects later what they observed."""

    @abstractmethod
    def open(self, settings: EngineSettings) -> AbstractContextManager[Session]:
        """Connect; workers may be started now. On leaving, whatever still runs is ended, and waited for.

        An engine that `detaches` ends it only where a person interrupts the command: when it is left by a
        KeyboardInterrupt of SIGINT, whose number is the exception's argument.
        """

    def probe(self, settings: EngineSettings) -> Iterator[EngineFinding]:
        """Look at the machines where workers would run, for `grader doctor --engine`; here there is nothing.

        Raises:
            UsageError, NotObservedError: they cannot be reached.
        """
        del settings
        return iter(())


def _be_silent(_line: str) -> None:
    """Show nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """Settings of a command for its engine."""

    at_once: int = 1
    """How many orders may be observed side by side where none is exclusive."""
    gpus: int = 0
    """How many GPUs this machine has for all of them together."""
    shared_workspace: Path | None = None
    """A folder for copies of submissions, through which one worker serves many; None for a single one."""
    results: Path | None = None
    """The results folder of the command; None if it has none that stays."""
    options: Any = None
    """The engine's `Options`; None for the defaults of all."""
    min_isolation: str = ""
    """The weakest sandbox that the course demands; empty for none."""
    detach: bool = False
    """Whether to end all orders as soon as they are sent, and leave them to a later command."""
    tell: Callable[[str], None] = _be_silent
    """Shows a person a line on what a probe waits for."""
