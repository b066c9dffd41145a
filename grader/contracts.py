"""The seams: what a check kind, a report, an engine and a sandbox promise.

Built-ins and guests alike fulfil these protocols and come in through `grader.hookspecs`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias

from grader.model.job import Job

if TYPE_CHECKING:
    from grader.harness.context import CheckContext
    from grader.model.observation import Observation
    from grader.model.score import Award
    from grader.model.view import AudienceView


class CheckKind(Protocol):
    """One kind of check: a half that looks and a half that judges.

    The module is imported by the host for `Options` and `award`; whatever is heavy (numpy, numba, torch)
    is imported inside `observe`.

    Five attributes are optional: `timed = True` if `observe` takes times that decide, so that the exam has
    cores for itself (as many as the assignment's limits say, or the option `cores` names); `shares_gpu =
    True` if nobody can earn more for having another program beside his on a GPU, so that items may be
    observed there side by side (what does not earn everything so is observed once more, alone); `tool`, the
    name of the tool of ours that `observe` runs, so that its server is started early; `by_hand = True` if a
    person may give the points instead; and `related_optional = True` if the item need not wait for the
    items in `uses`: what was not observed is left out of `related`.
    """

    name: ClassVar[str]
    """What a rubric's `check:` says."""

    @property
    def Options(self) -> type:
        """A class in the class: a frozen dataclass of `grader.model.options.option` fields, the YAML keys."""
        ...

    def observe(self, options: Any, context: CheckContext) -> Observation:
        """Look, in the worker only. Whatever the student's program does ends in an outcome.

        An exception that leaves this method is a fault of ours: the item becomes `not_observed`.
        """
        ...

    def award(self, options: Any, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """Judge: pure arithmetic over an observation whose outcome is `observed`.

        `related` holds the observations of the items named in `uses`: of all of them, unless the kind says
        `related_optional`. Also called months later.
        """
        ...


class Report(Protocol):
    """One format in which a mark is written."""

    name: ClassVar[str]
    filename: ClassVar[str]
    """The file's name in the results folder of one submission."""

    def render(self, view: AudienceView) -> str:
        """The whole file as text, UTF-8. Pure: no files, no clock.

        Everything in the view may be told: what its audience must not know is not in it.
        """
        ...


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
    """How many cores its timed items need, if it has any."""
    shares_gpu: bool = False
    """Whether another such order may use its GPU meanwhile, if the engine says so in both jobs. What does
    not pass then is left without a record, and ordered again."""


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


Event: TypeAlias = Records | Waits | Ended


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


class Engine(Protocol):
    """One way to get workers (`python -m grader.worker JOB OUTBOX`) run, on this machine or others."""

    name: ClassVar[str]
    """What `--engine` says."""

    def open(self, settings: EngineSettings) -> AbstractContextManager[Session]:
        """Connect; workers may be started now. On leaving, whatever still runs is ended, and waited for."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """Settings of a command for its engine."""

    at_once: int = 1
    """How many orders may be observed side by side where none is exclusive."""
    gpus: int = 0
    """How many GPUs this machine has for all of them together."""
    shared_workspace: Path | None = None
    """A folder for copies of submissions, through which one worker serves many; None for a single one."""


class Launched(Protocol):
    """A process that a sandbox started."""

    def wait(self, timeout_s: float) -> int | None:
        """The exit status, or None if it is still running after `timeout_s` seconds."""
        ...

    def kill(self) -> None:
        """End it and everything in it, and wait until nothing of it is left."""
        ...

    def complaints(self) -> str:
        """The end of what it said on its error output."""
        ...


class Sandbox(Protocol):
    """One way to start a subject server with less of the machine in sight."""

    name: ClassVar[str]
    strength: ClassVar[int]
    """How much it keeps away: the strongest that works here is taken, one of 0 only where it is named."""
    namespaced: ClassVar[bool]
    """Whether it can mount, and what it starts may give each check namespaces of its own."""

    def student_uid(self, folders: Iterable[str]) -> int | None:
        """The user that a student's process becomes; None where it stays who we are, an ordinary user.

        `folders` are what that user must be able to read.

        Raises:
            RootError: it would be root.
        """
        ...

    def available(self) -> str:
        """Empty if it works here, otherwise one line on what is missing and how to get it."""
        ...

    def launch(
        self,
        argv: Sequence[str],
        *,
        mounts: Mapping[str, str],
        environment: Mapping[str, str],
        fds: Sequence[int],
        devices: Sequence[str] = (),
    ) -> Launched:
        """Start `argv` with nothing but `environment`, and with `fds` kept open under their own numbers.

        `mounts` maps a path inside to a folder outside; all are read-only. A sandbox that is not
        `namespaced` has no paths of its own: what it starts is told the paths outside. `devices` are
        device files beside those that every program may expect; a sandbox that hides any shows no others.
        """
        ...
