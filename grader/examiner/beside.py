"""A second examiner for what nobody times: it looks at that on other cores while ours does the rest."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.config.codec import dumps
from grader.config.evidence_file import EVIDENCE, EvidenceReader, ItemObserved
from grader.contracts import CheckKind
from grader.examiner.devices import whole_gpus
from grader.executors.local import Examiner
from grader.jobs import cores_of, wanting_quiet
from grader.machine.cores import Cores
from grader.model.job import Job, Task
from grader.model.observation import Observation

if TYPE_CHECKING:
    from grader.examiner.items import Items


def untimed(job: Job, kinds: Mapping[str, CheckKind], cores: Cores) -> tuple[Task, ...]:
    """What a second examiner may look at: it is not timed, needs no GPU, and there are cores for it.

    Where hand-ins go on side by side these cores are theirs, and there is nothing for it to do.
    """
    if job.stage:
        return ()
    gpus = len(whole_gpus()) if any(task.devices for task in job.tasks) else 0
    alone = wanting_quiet(job.tasks, kinds, gpus=gpus)
    if not alone:
        return ()
    wanted = cores_of(job, kinds)
    timed = cores.pick(wanted + 1)[: wanted + 1] if wanted else ()
    if len(cores.apart(timed)) < max(2, job.limits.cores):
        return ()
    return tuple(task for task in job.tasks if task.item not in alone)


class Beside:
    """An exam of some items of a job, in a process of its own that ends with this one."""

    def __init__(self, job: Job, tasks: Sequence[Task], cores: Iterable[int]) -> None:
        """Begin to look at these items, which need no others; it and its programs stay on these cores.

        Without tasks there is no such process.
        """
        self.left = {task.item: task for task in tasks}
        """What it has not seen yet, by the item."""
        self._examiner: Examiner | None = None
        if not tasks:
            return
        self._folder = Path(tempfile.mkdtemp(prefix="grader-beside-"))
        self._evidence = EvidenceReader(self._folder / EVIDENCE)
        own = os.sched_getaffinity(0)
        os.sched_setaffinity(0, cores)  # it starts with ours
        try:
            self._examiner = Examiner()
        finally:
            os.sched_setaffinity(0, own)
        file = self._folder / "job.json"
        file.write_text(dumps(replace(job, tasks=tuple(tasks))))
        self._examiner.give(file, self._folder)
        self._log = self._examiner.log()

    def seen(self) -> list[tuple[Task, Observation]]:
        """What it has seen since this was asked."""
        if self._examiner is None:
            return []
        found = [one.observation for one in self._evidence.read() if isinstance(one, ItemObserved)]
        return [(self.left.pop(seen.item), seen) for seen in found if seen.item in self.left]

    def wait(self) -> bool:
        """Wait until it has something to tell; False if it has ended."""
        return next(self._log, None) is not None

    def taken(self) -> list[Task]:
        """What it has not seen, which is nobody's then."""
        left = [*self.left.values()]
        self.left.clear()
        return left

    def close(self) -> None:
        """End it."""
        if self._examiner is None:
            return
        if not self.left:
            for _ in self._log:  # it has nothing left to do but to end in order
                pass
        sys.stderr.write(self._examiner.complaints())
        self._examiner.stop()
        self._examiner = None
        shutil.rmtree(self._folder, ignore_errors=True)


def in_turn(tasks: Sequence[Task], items: Items, beside: Beside) -> Iterator[Observation]:
    """What is seen of every item: one after the other here, each after what it needs, and others beside.

    Of those that can be looked at, those that are lent the most GPUs come first: what the rest does not
    need is given back early.
    """
    left = [task for task in tasks if task.item not in beside.left]
    while left or beside.left:
        for task, observation in beside.seen():
            items.note(task, observation)
            yield observation
        missing = {one.item for one in left} | beside.left.keys()
        ready = [task for task in left if missing.isdisjoint({*task.needs, *task.uses})]
        if ready:
            task = max(ready, key=items.gpus_for)
            left.remove(task)
            yield items.observe(task, later=left)
            continue
        if left:
            items.prepare(max(left, key=items.gpus_for))
        if not beside.wait():  # it ended before its time
            left = beside.taken() + left
