"""Divides the tasks of a submission into parts, by what may run beside them; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from grader.contracts.check import CheckKind
from grader.model.assignment import Limits
from grader.model.job import GPU, Task

WORTH_SHARING = 4
"""Fewer shareable items of one submission are not divided: a second worker has to import first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Tasks that one worker observes, one after the other."""

    tasks: tuple[Task, ...]
    exclusive: bool = False
    """Whether they need cores or GPUs for themselves."""
    cores: int = 0
    """How many cores the timed items of the submission need: other parts keep off as many."""
    timed_parts: int = 1
    """How many parts of the submission may have cores for themselves at the same time."""
    shares_gpu: bool = False
    """Whether another part of this kind may use the same GPU meanwhile."""
    after: frozenset[int] = frozenset()
    """The numbers of the parts that must have ended before."""


def plan(
    tasks: Sequence[Task], kinds: Mapping[str, CheckKind], limits: Limits, *, gpus: int, alone: bool
) -> tuple[Part, ...]:
    """Return the parts of a submission; none if there are no tasks.

    First come tasks beside which anything may run, then those that may share a GPU, then those that need
    cores or GPUs for themselves. Where other submissions are graded at the same time, each part runs after
    the one before. A submission that is graded `alone` has its parts side by side: the shareable tasks are
    two parts, what is timed without a GPU is another part than what needs one, what only comes after these is
    a part of its own, what one of these parts needs is another than what others need too, tasks that none
    needs are the last part, and each waits only for those that it needs.

    Args:
        tasks: each after what it needs.
        kinds: check kinds by name.
        limits: the assignment's.
        gpus: how many GPUs a worker can lease.
        alone: whether no other submission is graded at the same time.
    """
    shareable = _shareable_items(tasks, kinds, gpus=gpus)
    exclusive = exclusive_items(tasks, kinds, gpus=gpus)
    plain = [task for task in tasks if task.item not in exclusive]
    sharing = [task for task in tasks if task.item in shareable]
    timed = [task for task in tasks if task.item in exclusive - shareable]
    groups = [plain, sharing, timed]
    timed_parts = 1
    if alone:
        late = _afterwards(timed, kinds, gpus)
        exclusive -= late
        on_gpus = _on_gpus(timed, gpus) - late
        off_gpus = [task for task in timed if task.item not in on_gpus | late]
        groups_after_plain = [
            sharing[::2],
            sharing[1::2],
            off_gpus,
            [task for task in timed if task.item in on_gpus],
            [task for task in timed if task.item in late],
        ]
        *first, rest = _by_who_needs_them(plain, groups_after_plain)
        groups = [*first, *groups_after_plain, rest]
        timed_parts = max(1, bool(off_gpus) + bool(on_gpus))
    groups = [group for group in groups if group]
    return tuple(
        Part(
            tasks=in_order(group, gpus),
            exclusive=group[0].item in exclusive,
            cores=cores_of(tasks, kinds, limits, gpus=gpus),
            timed_parts=timed_parts,
            shares_gpu=group[0].item in shareable,
            after=frozenset(
                earlier for earlier in range(number) if not alone or _needed_by(group, groups[earlier])
            ),
        )
        for number, group in enumerate(groups)
    )


def is_timed(task: Task, kinds: Mapping[str, CheckKind], *, gpus: int) -> bool:
    """Tell whether it takes times that decide: not where it needs more GPUs than there are, and waits."""
    return kinds[task.check].timed and _has_devices(task, gpus)


def _has_devices(task: Task, gpus: int) -> bool:
    return all(count <= gpus for count in task.devices.values())


def exclusive_items(tasks: Sequence[Task], kinds: Mapping[str, CheckKind], *, gpus: int) -> frozenset[str]:
    """Return the items that need cores or GPUs for themselves: timed ones, and those that lease GPUs.

    With them what shares a program with one of them, and what comes after it. What needs more GPUs than there
    are is simulated or stays open, and disturbs nobody.
    """
    exclusive = _by_themselves(tasks, kinds, gpus)
    while more := {task.item for task in tasks if exclusive & {*task.needs, *task.uses}} - exclusive:
        exclusive |= more
    return frozenset(exclusive)


def _shareable_items(tasks: Sequence[Task], kinds: Mapping[str, CheckKind], *, gpus: int) -> frozenset[str]:
    """Return the items that may share a GPU: those of kinds that say so, on one GPU, after no other there."""
    exclusive = exclusive_items(tasks, kinds, gpus=gpus)
    shareable = {
        task.item
        for task in tasks
        if kinds[task.check].shares_gpu
        and not is_timed(task, kinds, gpus=gpus)
        and gpus
        and task.devices == {GPU: 1}
        and not task.group
        and exclusive.isdisjoint({*task.needs, *task.uses})
    }
    return frozenset(shareable) if len(shareable) >= WORTH_SHARING else frozenset()


def _on_gpus(timed: Sequence[Task], gpus: int) -> frozenset[str]:
    """Return which of these items lease GPUs, share a program with one that does, or come after one."""
    found = {task.item for task in timed if task.devices and _has_devices(task, gpus)}
    size = -1
    while size < len(found):
        size = len(found)
        groups = {task.group for task in timed if task.group and task.item in found}
        found |= {task.item for task in timed if task.group in groups or found & {*task.needs, *task.uses}}
    return frozenset(found)


def _afterwards(timed: Sequence[Task], kinds: Mapping[str, CheckKind], gpus: int) -> frozenset[str]:
    """Return which of these items only come after others: nothing that is timed, or has GPUs, needs them."""
    strict = _by_themselves(timed, kinds, gpus)
    strict |= _needed_by([task for task in timed if task.item in strict], timed)
    return frozenset(task.item for task in timed) - strict


def _by_themselves(tasks: Sequence[Task], kinds: Mapping[str, CheckKind], gpus: int) -> set[str]:
    """Return the items that are timed or lease GPUs, and what shares a program with one of them."""
    undisturbed = {
        task.item
        for task in tasks
        if is_timed(task, kinds, gpus=gpus) or (task.devices and _has_devices(task, gpus))
    }
    groups = {task.group for task in tasks if task.group and task.item in undisturbed}
    return undisturbed | {task.item for task in tasks if task.group in groups}


def _needed_by(tasks: Iterable[Task], among: Sequence[Task]) -> frozenset[str]:
    """Return which items of `among` these tasks need or use, by way of others of `among` as well."""
    by_item = {task.item: task for task in among}
    pending = [name for task in tasks for name in (*task.needs, *task.uses)]
    needed: set[str] = set()
    while pending:
        name = pending.pop()
        if name in by_item and name not in needed:
            needed.add(name)
            pending += (*by_item[name].needs, *by_item[name].uses)
    return frozenset(needed)


def _by_who_needs_them(plain: Sequence[Task], groups: Sequence[Sequence[Task]]) -> list[list[Task]]:
    """Divide tasks by which of the groups need them: first what most of them need, at last what none needs.

    The last group comes after the others, so what it alone needs is not urgent. What a task needs is needed
    by the same groups at least, so it is in the same part or in an earlier one.
    """
    needed = [_needed_by(group, plain) for group in groups]
    parts: dict[tuple[bool, ...], list[Task]] = {}
    for task in plain:
        parts.setdefault(tuple(task.item in items for items in needed), []).append(task)
    nobody = (False,) * len(groups)
    rest = parts.pop(nobody, [])
    urgent_first = sorted(parts, key=lambda who: (sum(who[:-1]), who[-1]), reverse=True)
    return [*(parts[who] for who in urgent_first), rest]


def in_order(tasks: Sequence[Task], gpus: int) -> tuple[Task, ...]:
    """Return tasks in the order in which a worker observes them.

    Each comes after what it needs or uses. Of those that can be next the one with the most GPUs is: what the
    rest does not need is given back early.
    """
    if not gpus:
        return tuple(tasks)
    ordered: list[Task] = []
    left = list(tasks)
    while left:
        missing = {task.item for task in left}
        ready = [task for task in left if missing.isdisjoint({*task.needs, *task.uses})]
        task = max(ready, key=lambda task: task.devices.get(GPU, 0) * _has_devices(task, gpus))
        left.remove(task)
        ordered.append(task)
    return tuple(ordered)


def cores_of(tasks: Sequence[Task], kinds: Mapping[str, CheckKind], limits: Limits, *, gpus: int) -> int:
    """Return how many cores the timed ones of these tasks need for their programs; 0 if there are none."""
    timed = [task for task in tasks if is_timed(task, kinds, gpus=gpus)]
    return max((max(limits.cores, *task.options.get("cores", (1,))) for task in timed), default=0)
