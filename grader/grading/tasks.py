"""The tasks of a submission: one for each item, those that are left, those whose observation is valid."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from grader.config.codec import to_plain
from grader.config.decode import keys_of
from grader.contracts.check import CheckKind
from grader.errors import UsageError
from grader.grading.digests import task_digests
from grader.model.assignment import Assignment
from grader.model.evidence import Evidence, WorkerRun
from grader.model.job import GPU, Task
from grader.model.observation import Observation, Outcome
from grader.model.options import FunctionName, ModuleName
from grader.model.rubric import MANUAL, Item, Rubric
from grader.model.submission import Submission

BUILD = "build"
"""The kind whose products other items load."""


def tasks_of(
    rubric: Rubric,
    submission: Submission,
    assignment: Assignment,
    folder: Path,
    kinds: Mapping[str, CheckKind],
) -> tuple[Task, ...]:
    """Every item as the worker sees it, each after what it needs.

    `folder` is the assignment's; see `task_digests`.
    """
    return task_maker(rubric, assignment, folder, kinds)(submission.digest)


def task_maker(
    rubric: Rubric, assignment: Assignment, folder: Path, kinds: Mapping[str, CheckKind]
) -> Callable[[str], tuple[Task, ...]]:
    """Tells the tasks of a submission by its digest; what all submissions have in common is made once."""
    digests_of = task_digests(rubric, assignment, folder)
    items = {item.id: item for item in rubric.items}
    tasks = [
        Task(
            item=item.id,
            check=item.check,
            options=to_plain(item.options),
            needs=item.needs,
            uses=item.uses,
            calls=_files_called(item),
            tool=kinds[item.check].tool,
            group=item.group,
            devices=item.devices,
            gpu_kinds=tuple(assignment.gpu_kinds) if item.devices else (),
            built=_needs_kind(BUILD, item, items),
        )
        for item in _in_order(items)
    ]

    def tasks_for(digest: str) -> tuple[Task, ...]:
        digests = digests_of(digest)
        return tuple(replace(task, digest=digests[task.item]) for task in tasks)

    return tasks_for


def _in_order(items: Mapping[str, Item]) -> Iterator[Item]:
    """Yield items, each after what it needs or uses, and hidden ones as late as that allows.

    The programs of one submission share a network and the machine: what one of them got it can leave in
    counters of the kernel, and a later one prints them for the student.
    """
    sorter = TopologicalSorter({item.id: (*item.needs, *item.uses) for item in items.values()})
    sorter.prepare()
    ready: list[Item] = []
    while sorter.is_active():
        ready += (items[name] for name in sorter.get_ready())
        item = min(ready, key=lambda item: item.visible != "always")
        ready.remove(item)
        yield item
        sorter.done(item.id)


def _needs_kind(kind: str, item: Item, items: Mapping[str, Item]) -> bool:
    """Whether an item needs one of this kind, be it by way of others."""
    return any(items[name].check == kind or _needs_kind(kind, items[name], items) for name in item.needs)


def _files_called(item: Item) -> tuple[str, ...]:
    """`utils` of `of: utils.sigmoid`, for each option that names a function or a file."""
    options: Any = type(item.options)
    keys = keys_of(options)
    kinds = (FunctionName, ModuleName)
    named = [getattr(item.options, name) for name, key in keys.items() if key.kind in kinds]
    return tuple(dict.fromkeys(name.partition(".")[0] for name in named if name))


def still_valid(evidence: Evidence | None, tasks: Sequence[Task]) -> dict[str, Observation]:
    """The observations of exactly these tasks; what was measured otherwise is stale and left out.

    So is what was observed on a GPU of another kind than the assignment names.
    """
    by_item = {task.item: task for task in tasks}
    if evidence is None:
        return {}
    gpus = {run.id: _gpus_of(run) for run in evidence.runs}
    return {
        item: observation
        for item, observation in evidence.observations.items()
        if (task := by_item.get(item))
        and task.digest == observation.digest
        and all(map(task.may_use, gpus.get(evidence.run_of.get(item, ""), ())))
    }


def _gpus_of(run: WorkerRun) -> tuple[str, ...]:
    """Return the names of the GPUs that a run could use."""
    facts = run.environment.get("gpus", ())
    return tuple(str(gpu.get("name", "")) for gpu in facts if isinstance(gpu, Mapping))


def with_skipped(
    tasks: Sequence[Task], earlier: Mapping[str, Observation], passed: Mapping[str, bool]
) -> dict[str, bool]:
    """Add to {item: passed} what was skipped, as long as something that it needs is known to have failed.

    What needs one of these is to be skipped as well, also by the worker of a later part.
    """
    with_failures = dict(passed)
    for task in tasks:  # each after what it needs
        skipped = task.item in earlier and earlier[task.item].outcome is Outcome.SKIPPED
        if skipped and any(with_failures.get(name) is False for name in task.needs):
            with_failures[task.item] = False
    return with_failures


def left_to_do(tasks: Sequence[Task], passed: Mapping[str, bool], chosen: frozenset[str]) -> tuple[Task, ...]:
    """The chosen tasks that are not done; `passed` says of those that are whether they passed."""
    return tuple(
        task for task in tasks if task.item in chosen and task.item not in passed and task.check != MANUAL
    )


def with_gpu(tasks: Sequence[Task], items: Collection[str], gpu_kinds: Sequence[str]) -> tuple[Task, ...]:
    """Return the items whose import asked for a GPU, with one, and those that need or use them."""
    chosen: dict[str, Task] = {}
    for task in tasks:  # each after what it needs
        if task.item in items:
            chosen[task.item] = replace(
                task, devices={GPU: 1}, gpu_kinds=tuple(gpu_kinds), gpu_for_import=True
            )
        elif not chosen.keys().isdisjoint((*task.needs, *task.uses)):
            chosen[task.item] = task
    return tuple(chosen.values())


def wanted_items(patterns: Sequence[str], items: Sequence[Item]) -> frozenset[str]:
    """The items that patterns name, with everything that these need or use; no pattern means all.

    Raises:
        UsageError: the patterns match no item.
    """
    by_id = {item.id: item for item in items}
    pending = [name for name in by_id if not patterns or any(fnmatchcase(name, p) for p in patterns)]
    if not pending:
        raise UsageError(f"--item {' '.join(patterns)}: matches no item; there are {', '.join(by_id)}")
    chosen: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in chosen:
            chosen.add(name)
            pending += [*by_id[name].needs, *by_id[name].uses]
    return frozenset(chosen)
