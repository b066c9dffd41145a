"""What is left to observe of a submission, and which earlier observations still hold."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from grader import __version__
from grader.config.codec import digest, digest_bytes, dumps, to_plain
from grader.config.decode import keys_of
from grader.config.points_file import MANUAL
from grader.contracts import CheckKind
from grader.errors import UsageError
from grader.model.assignment import Assignment
from grader.model.evidence import Evidence
from grader.model.job import Job, Task
from grader.model.observation import Observation, Outcome
from grader.model.options import FunctionName, ModuleName, measuring
from grader.model.rubric import Item, Rubric
from grader.model.submission import Submission

BUILD = "build"
"""The kind whose products other items load."""
_HAND_IN = "the hand-in"
"""Stands for its digest."""


def tasks_of(
    rubric: Rubric,
    submission: Submission,
    assignment: Assignment,
    folder: Path,
    kinds: Mapping[str, CheckKind],
) -> tuple[Task, ...]:
    """Every item as the examiner sees it, each after what it needs.

    `folder` is the assignment's; see `task_digests`.
    """
    digests = task_digests(rubric, assignment, folder)(submission.digest)
    items = {item.id: item for item in rubric.items}
    order = TopologicalSorter({item.id: item.needs for item in rubric.items}).static_order()
    return tuple(
        Task(
            item=item.id,
            check=item.check,
            options=to_plain(item.options),
            needs=item.needs,
            uses=item.uses,
            calls=_files_called(item),
            tool=getattr(kinds[item.check], "tool", ""),
            group=item.group,
            devices=item.devices,
            built=_needs_kind(BUILD, item, items),
            digest=digests[item.id],
        )
        for item in (items[name] for name in order)
    )


def task_digests(rubric: Rubric, assignment: Assignment, folder: Path) -> Callable[[str], dict[str, str]]:
    """Tells by item the digest of its task, given the digest of a hand-in; the files are read only once.

    It covers whatever decides what is measured: the hand-in, the assignment and the files of its `folder`
    that an exam works with, the measuring options, this version of grader. Points and judging options are
    not in it.
    """
    basis = {"grader": __version__, "course": _course_files(folder), "assignment": to_plain(assignment)}
    begun: dict[str, tuple[Any, bytes]] = {}
    for item in rubric.items:
        measured = {"check": item.check, "options": measuring(item.options), "group": item.group}
        # the keys are sorted: all that hand-ins have in common stands before what they differ in
        head, _, tail = dumps({**basis, **measured, "submission": _HAND_IN}).rpartition(_HAND_IN)
        begun[item.id] = hashlib.sha256(head.encode()), tail.encode()

    def digests(submission: str) -> dict[str, str]:
        found = {}
        for name, (common, tail) in begun.items():
            whole = common.copy()
            whole.update(submission.encode() + tail)
            found[name] = f"sha256:{whole.hexdigest()}"
        return found

    return digests


def is_timed(task: Task, kinds: Mapping[str, CheckKind], *, gpus: int) -> bool:
    """Whether it takes times that decide: not where it needs more GPUs than there are, and waits for them."""
    return bool(getattr(kinds[task.check], "timed", False)) and _has_devices(task, gpus)


def _has_devices(task: Task, gpus: int) -> bool:
    return all(count <= gpus for count in task.devices.values())


def wanting_quiet(tasks: Sequence[Task], kinds: Mapping[str, CheckKind], *, gpus: int) -> frozenset[str]:
    """The items that other exams must not go on beside: timed ones, and those that are lent GPUs.

    With them what shares a program with one of them, and what comes after it. What needs more GPUs than there
    are is simulated or stays open, and disturbs nobody.
    """
    found = {
        task.item
        for task in tasks
        if is_timed(task, kinds, gpus=gpus) or (task.devices and _has_devices(task, gpus))
    }
    groups = {task.group for task in tasks if task.group and task.item in found}
    found |= {task.item for task in tasks if task.group in groups}
    while more := {task.item for task in tasks if found & {*task.needs, *task.uses}} - found:
        found |= more
    return frozenset(found)


def cores_of(job: Job, kinds: Mapping[str, CheckKind], *, gpus: int) -> int:
    """How many cores the timed items of an exam want for their programs; 0 if there are none."""
    timed = [task for task in job.tasks if is_timed(task, kinds, gpus=gpus)]
    return max((max(job.limits.cores, *task.options.get("cores", (1,))) for task in timed), default=0)


def course_digest(folder: Path) -> str:
    """`sha256:…` over the files of an assignment that an exam works with."""
    return digest(_course_files(folder))


def _needs_kind(kind: str, item: Item, items: Mapping[str, Item]) -> bool:
    """Whether an item needs one of this kind, be it by way of others."""
    return any(items[name].check == kind or _needs_kind(kind, items[name], items) for name in item.needs)


def _files_called(item: Item) -> tuple[str, ...]:
    """`utils` of `of: utils.sigmoid`, for each option that names a function or a file."""
    options: Any = type(item.options)
    keys = keys_of(options)
    kinds = (FunctionName, ModuleName)
    named = [getattr(item.options, name) for name, key in keys.items() if key.kind in kinds]
    return tuple(dict.fromkeys(name.partition(".")[0] for name in named))


def _course_files(folder: Path) -> dict[str, str]:
    """The digests of an assignment's files that an exam works with: not of what students are handed."""
    found = [*folder.glob("*.py")]
    for part in ("given", "reference", "data"):
        found += [file for file in folder.glob(f"{part}/**/*") if file.is_file() and file.suffix != ".pyc"]
    return {str(file.relative_to(folder)): digest_bytes(file.read_bytes()) for file in sorted(found)}


def holding(evidence: Evidence | None, tasks: Sequence[Task]) -> dict[str, Observation]:
    """The observations of exactly these tasks; what was measured otherwise is stale and left out."""
    digests = {task.item: task.digest for task in tasks}
    seen = evidence.observations if evidence is not None else {}
    return {
        name: observation for name, observation in seen.items() if digests.get(name) == observation.digest
    }


def left_to_do(
    tasks: Sequence[Task],
    earlier: Mapping[str, Observation],
    passed: Mapping[str, bool],
    wanted: frozenset[str],
) -> tuple[Task, ...]:
    """The wanted tasks that are not done; `passed` says of those that are whether they passed.

    What was skipped stays skipped as long as something that it needs is known to have failed.
    """
    done = set(passed)
    failed = {name for name, all_points in passed.items() if not all_points}
    for task in tasks:  # each after what it needs
        skipped = task.item in earlier and earlier[task.item].outcome is Outcome.SKIPPED
        if skipped and failed & set(task.needs):
            failed.add(task.item)
            done.add(task.item)
    return tuple(
        task for task in tasks if task.item in wanted and task.item not in done and task.check != MANUAL
    )


def wanted_items(patterns: Sequence[str], items: Sequence[Item]) -> frozenset[str]:
    """The items that patterns name, with everything that these need or use; no pattern means all.

    Raises:
        UsageError: the patterns match no item.
    """
    known = {item.id: item for item in items}
    pending = [name for name in known if not patterns or any(fnmatchcase(name, p) for p in patterns)]
    if not pending:
        raise UsageError(f"--item {' '.join(patterns)}: matches no item; there are {', '.join(known)}")
    wanted: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in wanted:
            wanted.add(name)
            pending += [*known[name].needs, *known[name].uses]
    return frozenset(wanted)
