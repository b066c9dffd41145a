"""The contract of a scheduler that runs the tasks of a batch on other machines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import ClassVar, Protocol

from grader.engines.remote.batch import Batch
from grader.engines.remote.stored import Wants


class SchedulerAwayError(Exception):
    """The scheduler does not answer; it may later."""


class SchedulerFullError(SchedulerAwayError):
    """The scheduler takes no more tasks at the moment; it did not take the batch."""


class SchedulerRefusedError(Exception):
    """The scheduler refuses a batch, and would refuse it again."""


class TaskPhase(StrEnum):
    """How far a task is."""

    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    """Its program ended, however."""
    CANCELLED = "cancelled"
    """Somebody else cancelled it."""
    OUT_OF_TIME = "out of time"
    OUT_OF_MEMORY = "out of memory"
    LOST = "lost"
    """Its machine failed, or was taken away from it."""

    @property
    def is_over(self) -> bool:
        """Tell whether nothing of it comes any more."""
        return self not in {TaskPhase.WAITING, TaskPhase.RUNNING}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskState:
    """The state of one task, as a scheduler reports it."""

    phase: TaskPhase
    words: str
    """The scheduler's own, such as `Priority` or `NODE_FAIL`."""
    node: str = ""
    """Where it runs."""
    begins: str = ""
    """When it is expected to begin, if it waits and the scheduler has an estimate."""


TaskStates = Mapping[tuple[str, int], TaskState]
"""By the name of the batch and the number of the task."""


SHARED_FOLDER = "shared folder"
"""The carrier of schedulers whose machines share a file system."""
REST = -1
"""Stands for all tasks of a batch that a scheduler does not list by their numbers."""
MANY_TASKS = 500
"""From so many on, journals and scheduler are asked as seldom as may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How often a session looks at journals and asks the scheduler; times are in seconds."""

    read_every_s: tuple[float, float] = (0.5, 5.0)
    """Between two looks at the journals: the least and, with many tasks, the most."""
    ask_every_s: tuple[float, float] = (5.0, 15.0)
    """Between two questions to the scheduler, likewise."""
    first_ask_s: float = 1.0
    """From a batch that was sent to the next question."""
    grace_s: float = 15.0
    """The last lines of a task may show so late, as on a shared folder."""

    def until_read_s(self, tasks: int) -> float:
        """Return how long to wait before the next look at the journals of so many tasks."""
        return _between(*self.read_every_s, tasks)

    def until_asked_s(self, tasks: int) -> float:
        """Return how long to wait before the next question about so many tasks."""
        return _between(*self.ask_every_s, tasks)


def _between(least: float, most: float, tasks: int) -> float:
    return least + (most - least) * min(1.0, tasks / MANY_TASKS)


class Scheduler(Protocol):
    """Queues the tasks of batches, finds machines for them, and starts again what was lost."""

    pace: ClassVar[Pace]
    carrier: ClassVar[str]
    """What brings the lines of other machines here, for `grader doctor`."""

    @property
    def most_tasks(self) -> int:
        """Return the most tasks of one batch."""
        ...

    def gpus(self) -> int:
        """Return how many GPUs a task can have; 0 if none."""
        ...

    def slots(self, wants: Wants) -> int:
        """Return how many tasks with these needs run at the same time at most."""
        ...

    def cores(self, wants: Wants) -> int:
        """Return how many cores a task with these needs gets."""
        ...

    def limit_s(self, wants: Wants) -> float:
        """Return how long a task may take at most, in seconds."""
        ...

    def submit(self, batch: Batch, root: Path, folder: Path) -> None:
        """Queue a batch.

        Raises:
            SchedulerAwayError: it does not answer. It may have taken the batch.
            SchedulerFullError: it takes no more tasks at the moment.
            SchedulerRefusedError: it will never take it.
            OSError: the folder cannot be written.
        """
        ...

    def states(self) -> TaskStates:
        """Return the states of all tasks that it remembers.

        Raises:
            SchedulerAwayError: it does not answer.
        """
        ...

    def cancel(self, batch: str) -> None:
        """Cancel what is left of a batch, if anything is.

        Raises:
            SchedulerAwayError: it does not answer.
        """
        ...
