"""One item: gates, devices, a look, and whether it passed for those that need it."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.config.codec import unstorable
from grader.config.decode import decode
from grader.contracts.check import CheckKind
from grader.contracts.context import Quiet
from grader.coursecode import PACKAGE, deepest_place, line_of, own_modules
from grader.errors import CourseError, NeedsGpuError, NotObservedError, PackageError, UnimportableError
from grader.files import show_path
from grader.harness.item_context import ItemContext, build_nothing
from grader.harness.missing import without_its_file
from grader.harness.process_pool import ProcessPool
from grader.harness.server_spec import DeviceGrant
from grader.installed import error_of_import, missing_error
from grader.model.job import GPU, Job, Task
from grader.model.observation import JUDGED_BY, NEEDS_GPU, Fault, Observation, Outcome, Quantity
from grader.model.options import judging_digest, programs_named
from grader.model.rubric import Item
from grader.scoring.judge import passed
from grader.text import one_line
from grader.worker.devices import Devices
from grader.worker.reference import controlled, observe

if TYPE_CHECKING:
    from grader.contracts.build import Built
    from grader.harness.builds import Builds


class Items:
    """The items of one run, each observed after what it needs."""

    def __init__(
        self,
        job: Job,
        kinds: Mapping[str, CheckKind],
        processes: ProcessPool,
        devices: Devices,
        quiet: Quiet,
        builds: Builds | None = None,
    ) -> None:
        """`builds` builds what the assignment says how to build."""
        self._job = job
        self._kinds = kinds
        self._processes = processes
        self._devices = devices
        self._quiet = quiet
        self._builds = builds
        self._passed = dict(job.passed)
        """Whether an item passed; unknown if it is not here."""
        self._observations = dict(job.earlier)

    def gpus_for(self, task: Task) -> int:
        """Count the GPUs that an item is granted; 0 where the machine has fewer than it needs."""
        count = task.devices.get(GPU, 0)
        return count if 0 < count <= len(self._devices.usable) else 0  # who needs none asks no driver

    def observe(self, task: Task) -> Observation:
        """Observe one item, unless what it needs did not pass or is not here."""
        begun, ran_s = time.perf_counter(), self._processes.program_s
        kind = self._kinds[task.check]
        options, problems = decode(kind.Options, task.options)
        if problems:
            raise NotObservedError(*(f"job: item {task.item}: {problem}" for problem in problems))
        observation = self._gate(task, options) or self._try(task, kind, options)
        return replace(
            observation,
            digest=task.digest,
            wall_s=time.perf_counter() - begun,
            program_s=self._processes.program_s - ran_s,
        )

    def note(self, task: Task, observation: Observation) -> bool:
        """Take an observation into account for the items that need or use it; return whether it passed."""
        self._observations[task.item] = observation
        passes = self._passes(task, observation)
        if passes is not None:
            self._passed[task.item] = passes
        return bool(passes)

    def _passes(self, task: Task, observation: Observation) -> bool | None:
        """Tell whether an item earns everything; None if that cannot be told yet."""
        if observation.outcome is Outcome.NOT_OBSERVED or not self._observations.keys() >= set(task.uses):
            return None
        options, _ = decode(self._kinds[task.check].Options, task.options)
        with suppress(Exception):  # no reason to lose an observation: the host judges too, and shows this
            return passed(_item(task, options), observation, self._kinds, self._observations)
        return None

    def leave(self, task: Task, later: Sequence[Task]) -> None:
        """End what an item shared, and give back what it was granted, unless later items need that."""
        if task.group not in {other.group for other in later}:
            self._processes.end(task.group)
        self._devices.keep(max(map(self.gpus_for, later), default=0))

    def _gate(self, task: Task, options: Any) -> Observation | None:
        refused = without_its_file(task, self._job, programs_named(options))
        is_absent = refused is not None and refused.outcome is Outcome.REFUSED  # told beside what else failed
        failed = [name for name in task.needs if self._passed.get(name) is False]
        if failed and not is_absent:
            return Observation(item=task.item, outcome=Outcome.SKIPPED, note=f"needs {', '.join(failed)}")
        if refused:
            return refused
        simulates = self._kinds[task.check].simulates(options)
        note = self._devices.lacking(
            task.devices, simulates=simulates, torch=self._uses_torch(task), built=task.built
        )
        if not note and task.devices and not self._processes.servers.lends_devices:
            note = f"the sandbox {self._processes.servers.isolation} lends no devices; see grader doctor"
        if not note and not all(name in self._passed for name in task.needs):
            note = "waits for an item that it needs"
        return Observation(item=task.item, outcome=Outcome.NOT_OBSERVED, note=note) if note else None

    def _uses_torch(self, task: Task) -> bool:
        """Tell whether one of the files that it calls imports torch."""
        return any("torch" in self._job.preloads.get(module, ()) for module in task.calls)

    def _try(self, task: Task, kind: CheckKind, options: Any) -> Observation:
        """Let the kind observe; whatever it raises is not the student's fault."""
        output = ""
        try:
            grant = self._grant(task, kind)
            context = self._context(task, grant)
            observation = observe(kind, options, context, self._job)
            _require_observation(observation, task.item)
            self._devices.after(observation)
            if kind.asks_reference:
                item = _item(task, options)
                observation = controlled(item, kind, observation, context, self._job, self._observations)
                facts = {**observation.facts, JUDGED_BY: judging_digest(options)}
                observation = replace(observation, facts=facts)
            return replace(observation, simulated=observation.simulated or grant.simulated)
        except NeedsGpuError as error:
            return Observation(
                item=task.item,
                outcome=Outcome.NOT_OBSERVED,
                note=str(error),
                facts={NEEDS_GPU: True},
            )
        except UnimportableError as error:
            folder, accepts = Path(self._job.assignment_folder), self._job.accepts
            raised = missing_error(error.where, [error.module], own_modules(folder, accepts)) or error
            note, output = "; ".join(raised.problems), error.output
            fault = Fault.MACHINE if isinstance(raised, PackageError) else Fault.COURSE
        except CourseError as error:
            note, fault, output = "; ".join(error.problems), Fault.COURSE, error.output
        except NotObservedError as error:
            note, fault, output = "; ".join(error.problems), Fault.MACHINE, error.output
        except OSError as error:
            note, fault = _refused_by_system(error), Fault.MACHINE
        except (Exception, SystemExit) as error:
            import traceback

            traceback.print_exc()
            note, fault = f"a bug in check kind {kind.name}: {type(error).__name__}: {error}", Fault.GRADER
            module = sys.modules[type(kind).__module__]
            if module.__name__.startswith(f"{PACKAGE}."):
                line = line_of(error, str(module.__file__)) or type(kind).observe.__code__.co_firstlineno
                file = Path(str(module.__file__))
                place = f"{show_path(file)}:{line}"
                missing = error_of_import(error, place, file.parent, file)
                note = f"{place}: check kind {kind.name}: {type(error).__name__}: {error}"
                note = "; ".join(missing.problems) if missing else note
                fault = Fault.MACHINE if isinstance(missing, PackageError) else Fault.COURSE
        facts = {JUDGED_BY: judging_digest(options)} if kind.asks_reference else {}
        return Observation(
            item=task.item,
            outcome=Outcome.NOT_OBSERVED,
            note=note,
            fault=fault,
            facts=facts,
            output=output,
        )

    def _grant(self, task: Task, kind: CheckKind) -> DeviceGrant:
        """Grant an item its devices; a timed one gets no GPU for an import, for it could compute there."""
        withheld = task.gpu_for_import and kind.timed
        devices = {} if withheld else task.devices
        grant = self._devices.grant(devices, torch=self._uses_torch(task), built=task.built)
        return replace(grant, withheld=True) if withheld else grant

    def _context(self, task: Task, grant: DeviceGrant) -> ItemContext:
        return ItemContext(
            self._job,
            task.item,
            self._processes,
            task.group,
            lent=grant,
            quiet=self._quiet,
            make=partial(self._make, self._builds, grant) if self._builds else build_nothing,
        )

    def _make(self, builds: Builds, grant: DeviceGrant, whose: str, *, simulated: bool = False) -> Built:
        """Build for the devices of an item; a GPU that the item has not got can be built for, too."""
        if simulated or grant.simulated:
            return builds.of(whose, simulated=True)
        gpus = self._devices.leased if grant.count else self._devices.usable
        architecture = "sm_{}{}".format(*gpus[0].compute_capability) if gpus else ""
        return builds.of(whose, architecture=architecture)


def _refused_by_system(error: OSError) -> str:
    """Return what the operating system refused, and where in grader, if no file says what was asked for."""
    place = None if error.filename else deepest_place(error, {"grader"})
    return f"{error} ({place[2]}() in {place[0].name}:{place[1]})" if place else str(error)


def _item(task: Task, options: Any) -> Item:
    """Return an item as it is judged here, where nobody knows its points."""
    return Item(id=task.item, title="", points=1, check=task.check, options=options, uses=task.uses)


def _require_observation(value: object, item: str) -> None:
    """Refuse what a kind's `observe` returns in place of an observation that can be stored."""
    if value is None:
        raise TypeError("observe must return an Observation, got None; is a return missing?")
    if not isinstance(value, Observation):
        raise TypeError(f"observe must return an Observation, got {type(value).__name__}")
    if value.item != item:
        raise ValueError(f"observe returned an observation of {value.item!r}; write item=context.item")
    quantities: Any = value.quantities
    for name, quantity in quantities.items() if isinstance(quantities, Mapping) else ():
        if not isinstance(quantity, Quantity):
            wrong = one_line(f"quantities.{name} must be a Quantity, got {quantity!r}")
            raise TypeError(f"{wrong}; write Quantity(value=…, unit=…)")
    if problem := unstorable(value):
        raise TypeError(f"observe returned what cannot be stored: {problem}; give plain text and numbers")
