"""Divides the tasks of a submission into parts, by what may run beside them; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.contracts.check import CheckKind
from grader.model.assignment import Limits
from grader.model.job import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Tasks that one worker observes, one after the other."""

    tasks: tuple[Task, ...]
    exclusive: bool = False
    """Whether they need cores or GPUs for themselves."""
    cores: int = 0
    """How many cores their timed items need."""


def plan(
    tasks: Sequence[Task], kinds: Mapping[str, CheckKind], limits: Limits, *, gpus: int, divided: bool
) -> tuple[Part, ...]:
    """The parts of a submission, each after those that it needs; none if there are no tasks.

    `divided` says whether other submissions are graded at the same time: then what needs cores or GPUs for
    itself is a part of its own, after the others. A submission that is alone is one part.
    """
    if not tasks:
        return ()
    exclusive = exclusive_items(tasks, kinds, gpus=gpus) if divided else frozenset()
    shared = tuple(task for task in tasks if task.item not in exclusive)
    timed = tuple(task for task in tasks if task.item in exclusive)
    cores = cores_of(timed, kinds, limits, gpus=gpus)
    parts = (Part(tasks=shared), Part(tasks=timed, exclusive=True, cores=cores))
    return tuple(part for part in parts if part.tasks)


def is_timed(task: Task, kinds: Mapping[str, CheckKind], *, gpus: int) -> bool:
    """Whether it takes times that decide: not where it needs more GPUs than there are, and waits for them."""
    return kinds[task.check].timed and _has_devices(task, gpus)


def _has_devices(task: Task, gpus: int) -> bool:
    return all(count <= gpus for count in task.devices.values())


def exclusive_items(tasks: Sequence[Task], kinds: Mapping[str, CheckKind], *, gpus: int) -> frozenset[str]:
    """The items beside which nothing else may run: timed ones, and those that are lent GPUs.

    With them what shares a program with one of them, and what comes after it. What needs more GPUs than there
    are is simulated or stays open, and disturbs nobody.
    """
    exclusive = {
        task.item
        for task in tasks
        if is_timed(task, kinds, gpus=gpus) or (task.devices and _has_devices(task, gpus))
    }
    groups = {task.group for task in tasks if task.group and task.item in exclusive}
    exclusive |= {task.item for task in tasks if task.group in groups}
    while more := {task.item for task in tasks if exclusive & {*task.needs, *task.uses}} - exclusive:
        exclusive |= more
    return frozenset(exclusive)


def cores_of(tasks: Sequence[Task], kinds: Mapping[str, CheckKind], limits: Limits, *, gpus: int) -> int:
    """How many cores the timed ones of these tasks need for their programs; 0 if there are none."""
    timed = [task for task in tasks if is_timed(task, kinds, gpus=gpus)]
    return max((max(limits.cores, *task.options.get("cores", (1,))) for task in timed), default=0)
