"""A second worker for one submission: it looks at what it is given while ours does the rest."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.config.codec import dumps
from grader.config.evidence_file import EVIDENCE, EvidenceReader, ItemObserved
from grader.contracts.check import CheckKind
from grader.engines.process import WorkerProcess
from grader.grading.plan import cores_of, exclusive_items, is_timed
from grader.machine.cores import Cores
from grader.model.job import Job, Task
from grader.model.observation import Observation
from grader.worker.devices import GPU, gpus_for

WORTH_SHARING = 4
"""Fewer items on a GPU are not given away: another program would have to import first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """Which items of a job a second worker may look at; none where there is no room for one."""

    apart: tuple[Task, ...] = ()
    """Neither timed nor in need of a GPU: all of them, and at once."""
    company: frozenset[str] = frozenset()
    """Those that may be looked at beside each other on one GPU, while nothing is timed: some, in turn."""


def shares(job: Job, kinds: Mapping[str, CheckKind], cores: Cores) -> Shares:
    """What may go on beside the rest, where there are cores for it.

    Where submissions go on side by side these cores are theirs, and a second worker has nothing to do.
    """
    if job.stage or job.lent:
        return Shares()
    gpus = gpus_for(job.tasks)
    alone = exclusive_items(job.tasks, kinds, gpus=gpus)
    if not alone:
        return Shares()
    wanted = cores_of(job.tasks, kinds, job.limits, gpus=gpus)
    timed = cores.pick(wanted + 1)[: wanted + 1] if wanted else ()
    if len(cores.apart(timed)) < max(2, job.limits.cores):
        return Shares()
    return Shares(
        apart=tuple(task for task in job.tasks if task.item not in alone),
        company=frozenset(task.item for task in job.tasks if gpus and _bears_company(task, kinds, gpus)),
    )


def _bears_company(task: Task, kinds: Mapping[str, CheckKind], gpus: int) -> bool:
    alike = kinds[task.check].shares_gpu and not is_timed(task, kinds, gpus=gpus)
    return alike and task.devices == {GPU: 1} and not task.group


class Beside:
    """An exam of some items of a job, in a process of its own that ends with this one."""

    def __init__(self, job: Job, given: Shares, cores: Iterable[int]) -> None:
        """Begin to look at what is apart; the process and its programs stay on these cores.

        Where there is nothing for it to do there is no such process.
        """
        self.company = given.company
        """What it may be given, in turn."""
        self.left: dict[str, Task] = {}
        """What it was given and has not seen yet, by the item."""
        self._worker: WorkerProcess | None = None
        self._jobs = 0
        """How many it was given and has not ended."""
        if not given.apart and len(given.company) < WORTH_SHARING:
            return
        self._job = job
        # gone with us, whenever we are told to end: a job's file holds the seed
        self._place = tempfile.TemporaryDirectory(prefix="grader-beside-", ignore_cleanup_errors=True)
        self._folder = Path(self._place.name)
        self._evidence = EvidenceReader(self._folder / EVIDENCE)
        own = os.sched_getaffinity(0)
        os.sched_setaffinity(0, cores)  # it starts with ours
        try:
            self._worker = WorkerProcess()
        finally:
            os.sched_setaffinity(0, own)
        self._log = self._worker.log()
        try:
            if given.apart:
                self.give(given.apart, job.passed)
        except BaseException:  # nobody has us yet to close
            self._end()
            raise

    @property
    def idle(self) -> bool:
        """Whether it may be given something."""
        return self._worker is not None and not self.left

    @property
    def on_gpu(self) -> bool:
        """Whether it has something to do on a GPU of ours; what a simulator shows needs none."""
        return not self.company.isdisjoint(self.left)

    def give(self, tasks: Sequence[Task], standing: Mapping[str, bool], lent: tuple[str, ...] = ()) -> None:
        """Have it look at these, when it has seen what it was given before.

        `standing` says of items that were seen whether they passed, and `lent` which of our GPUs it may use.
        """
        assert self._worker is not None  # noqa: S101 - nothing is given to nobody
        self.left |= {task.item: task for task in tasks}
        file = self._folder / f"job-{self._jobs}.json"
        file.write_text(dumps(replace(self._job, tasks=tuple(tasks), passed=standing, lent=lent)))
        self._worker.give(file, self._folder)
        self._jobs += 1

    def seen(self) -> list[tuple[Task, Observation]]:
        """What it has seen since this was asked."""
        if self._worker is None:
            return []
        found = [one.observation for one in self._evidence.read() if isinstance(one, ItemObserved)]
        return [(self.left.pop(seen.item), seen) for seen in found if seen.item in self.left]

    def wait(self) -> bool:
        """Wait until it has something to tell; False if it has ended, or broke off."""
        while self._worker is not None and self._jobs:
            line = next(self._log)
            if isinstance(line, str):
                return True
            self._jobs -= 1
            if line != 0:
                break
            self._log = self._worker.log()
        return False

    def taken(self) -> list[Task]:
        """What it has not seen, which is nobody's then; it gets nothing more."""
        left = [*self.left.values()]
        self.left.clear()
        self._end()
        return left

    def close(self) -> None:
        """End it, in order if it has nothing left to do."""
        while not self.left and self.wait():
            pass
        self._end()

    def _end(self) -> None:
        if self._worker is None:
            return
        sys.stderr.write(self._worker.complaints())
        self._worker.stop()
        self._worker = None
        self._place.cleanup()
