"""One item: gates, devices, a look, and whether it passed for those that need it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from grader.config.decode import decode
from grader.contracts.check import CheckKind
from grader.contracts.context import Quiet
from grader.errors import CourseError, NotObservedError
from grader.harness.item_context import ItemContext, build_nothing
from grader.harness.missing import without_its_file
from grader.harness.process_pool import ProcessPool
from grader.harness.server_spec import DeviceGrant
from grader.model.job import Job, Task
from grader.model.observation import Fault, Observation, Outcome
from grader.model.rubric import Item
from grader.scoring.score import passed
from grader.worker.devices import GPU, Devices

if TYPE_CHECKING:
    from grader.contracts.build import Built
    from grader.harness.builds import Builds


class Items:
    """The items of one exam, each looked at after what it needs."""

    def __init__(
        self,
        job: Job,
        kinds: Mapping[str, CheckKind],
        children: ProcessPool,
        devices: Devices,
        quiet: Quiet,
        builds: Builds | None = None,
    ) -> None:
        """`builds` builds what the assignment says how to build."""
        self._job = job
        self._kinds = kinds
        self._children = children
        self._devices = devices
        self._quiet = quiet
        self._builds = builds
        self._standing = dict(job.passed)
        """Whether an item passed; unknown if it is not here."""
        self._seen: dict[str, Observation] = {}

    def gpus_for(self, task: Task) -> int:
        """How many an item is lent; none where the machine has fewer than it needs."""
        count = task.devices.get(GPU, 0)
        return count if 0 < count <= len(self._devices.found) else 0  # who needs none asks no driver

    @property
    def standing(self) -> Mapping[str, bool]:
        """Of those items of which it is known, whether they passed."""
        return self._standing

    def prepare(self, task: Task) -> tuple[str, ...]:
        """Lease what an item will need before its turn: the UUIDs of GPUs; it tells itself if that fails."""
        with suppress(NotObservedError):
            self._devices.lend(task.devices, torch=self._uses_torch(task))
        return tuple(gpu.uuid for gpu in self._devices.leased[: self.gpus_for(task)])

    def observe(self, task: Task) -> Observation:
        """Look at one item, unless what it needs did not pass or is not here."""
        begun, ran_s = time.perf_counter(), self._children.program_s
        kind = self._kinds[task.check]
        options, problems = decode(kind.Options, task.options)
        if problems:
            raise NotObservedError(*(f"job: item {task.item}: {problem}" for problem in problems))
        observation = self._gate(task, options) or self._look(task, kind, options)
        return replace(
            observation,
            digest=task.digest,
            wall_s=time.perf_counter() - begun,
            program_s=self._children.program_s - ran_s,
        )

    def leave(self, task: Task, later: Sequence[Task]) -> None:
        """End what an item shared, or was lent, if none of those that come later needs that, or so many."""
        if task.group not in {one.group for one in later}:
            self._children.end(task.group)
        self._devices.keep(max(map(self.gpus_for, later), default=0))

    def passes(self, task: Task, observation: Observation) -> bool | None:
        """Whether it earns everything; None if that cannot be told yet."""
        seen = {**self._seen, task.item: observation}
        if observation.outcome is Outcome.NOT_OBSERVED or not seen.keys() >= set(task.uses):
            return None
        options, _ = decode(self._kinds[task.check].Options, task.options)
        item = Item(id=task.item, title="", points=1, check=task.check, options=options, uses=task.uses)
        with suppress(Exception):  # no reason to lose what was seen: the host judges too, and shows this bug
            return passed(item, observation, self._kinds, seen)
        return None

    def note(self, task: Task, observation: Observation, passes: bool | None) -> None:
        """Take what was seen of an item, here or elsewhere, for those that need or use it."""
        self._seen[task.item] = observation
        if passes is not None:
            self._standing[task.item] = passes

    def _gate(self, task: Task, options: Any) -> Observation | None:
        failed = [name for name in task.needs if self._standing.get(name) is False]
        if failed:
            return Observation(item=task.item, outcome=Outcome.SKIPPED, note=f"needs {', '.join(failed)}")
        if refused := without_its_file(task, self._job):
            return refused
        simulates = self._kinds[task.check].simulates(options)
        note = self._devices.lacking(task.devices, simulates=simulates, torch=self._uses_torch(task))
        if not note and task.devices and not self._children.servers.lends_devices:
            note = f"the sandbox {self._children.servers.isolation} lends no devices; see grader doctor"
        waiting = [name for name in task.needs if name not in self._standing]
        if not note and waiting:
            note = f"waits for {', '.join(waiting)}"
        return Observation(item=task.item, outcome=Outcome.NOT_OBSERVED, note=note) if note else None

    def _uses_torch(self, task: Task) -> bool:
        """Whether one of the files that it calls does."""
        return any("torch" in self._job.preloads.get(module, ()) for module in task.calls)

    def _look(self, task: Task, kind: CheckKind, options: Any) -> Observation:
        """Have the kind look; whatever it raises is not the student's fault."""
        try:
            lent = self._devices.lend(task.devices, torch=self._uses_torch(task), built=task.built)
            observation = kind.observe(options, self._context(task, lent))
            self._devices.after(observation)
            return replace(observation, simulated=observation.simulated or lent.simulated)
        except CourseError as error:
            note, fault = "; ".join(error.problems), Fault.COURSE
        except NotObservedError as error:
            note, fault = "; ".join(error.problems), Fault.MACHINE
        except OSError as error:
            note, fault = str(error), Fault.MACHINE
        except (Exception, SystemExit) as error:
            import traceback

            traceback.print_exc()
            note, fault = f"a bug in check kind {kind.name}: {type(error).__name__}: {error}", Fault.GRADER
        return Observation(item=task.item, outcome=Outcome.NOT_OBSERVED, note=note, fault=fault)

    def _context(self, task: Task, lent: DeviceGrant) -> ItemContext:
        return ItemContext(
            self._job,
            task.item,
            self._children,
            task.group,
            lent=lent,
            quiet=self._quiet,
            make=partial(self._make, self._builds, lent) if self._builds else build_nothing,
        )

    def _make(self, builds: Builds, lent: DeviceGrant, whose: str, *, simulated: bool = False) -> Built:
        """Have it built for the devices of an item; a GPU that the item has not got can be built for, too."""
        if simulated or lent.simulated:
            return builds.of(whose, simulated=True)
        gpus = self._devices.leased if lent.count else self._devices.found
        architecture = "sm_{}{}".format(*gpus[0].compute_capability) if gpus else ""
        return builds.of(whose, architecture=architecture)
