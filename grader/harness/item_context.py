"""The context that checks get: inputs and oracles on our side, the student's program on the other."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from grader.contracts.call import Call, InputCase, Replayed, Request, Run
from grader.contracts.context import READ_BYTES, REFERENCE, SUBMISSION, Quiet, Subject
from grader.contracts.ranks import LaunchedRanks, RanksOrder
from grader.errors import CourseError, NotObservedError
from grader.files import holds_files
from grader.harness.built import with_products
from grader.harness.course_forks import apart
from grader.harness.course_functions import EXPECTED, CourseFunctions, once
from grader.harness.device_errors import must_need_no_gpu
from grader.harness.driver_calls import functions_in
from grader.harness.explanations import Explanations
from grader.harness.missing import without_file
from grader.harness.process_pool import ProcessPool, ProcessSpec
from grader.harness.ranks import launch, server_spec
from grader.harness.reference_control import REPLAY_CALLS, ReferenceControl, of_a_program, place, replays
from grader.harness.server_spec import NOTHING, RUN_TESTS, DeviceGrant, ServerSpec, of_tool
from grader.harness.student_process import StudentProcess
from grader.harness.subject import run_program
from grader.harness.tool import run_tool
from grader.model.assignment import Limits
from grader.model.job import Job
from grader.model.observation import Observation, Outcome

if TYPE_CHECKING:
    from grader.contracts.build import Built


class Unwatched:
    """A monitor of nothing."""

    untold = True

    def begin(self, *, anew: bool = False) -> None:
        """A round of timed calls begins."""

    def end(self) -> str | None:
        """Report no interference: without a monitor none is assumed."""
        return ""


class Make(Protocol):
    """Has submission or reference built for what the item has been lent."""

    def __call__(self, whose: str, *, simulated: bool = False) -> Built:
        """Return the build; see `grader.contracts.context.CheckContext.build`."""
        ...


def build_nothing(whose: str, *, simulated: bool = False) -> Built:
    """The assignment does not say how."""
    del whose, simulated
    raise CourseError("assignment.py: does not say how it is built; give it a build=Build(…)")


class ItemContext:
    """`grader.contracts.context.CheckContext` for one item."""

    _whose: ClassVar[str] = SUBMISSION

    def __init__(
        self,
        job: Job,
        item: str,
        children: ProcessPool,
        group: str = "",
        *,
        lent: DeviceGrant = NOTHING,
        quiet: Quiet | None = None,
        make: Make = build_nothing,
    ) -> None:
        """`group` names the items with which this one shares its children; empty for children of its own."""
        self.item = item
        self._lent = lent
        self._quiet = quiet or Unwatched()
        self._make = make
        item_seed = hashlib.sha256(f"{job.seed}/{item}".encode()).hexdigest()[:32]
        self.seed = job.seeds.get(item, item_seed)
        self._job = job
        self._course = CourseFunctions(Path(job.assignment_folder))
        self._children = children
        self._children.after_calls.clear()
        self._group = group
        self._families: dict[str, tuple[InputCase, ...]] = {}
        self._drawn: set[int] = set()

    def of_reference(self, files: tuple[str, ...]) -> ItemContext:
        """Return this context with these files of the reference in the submission's place.

        Its programs end first. Inputs are the same; children are fresh ones, whatever the group.
        """
        self._children.stop_programs()
        job = replace(
            self._job,
            submission=replace(self._job.submission, files=files, dropped=(), top=""),
            workspace=str(self._assignment / REFERENCE),
        )
        return ReferenceContext(
            job, self.item, self._children, lent=self._lent, quiet=self._quiet, make=self._make
        )

    @property
    def limits(self) -> Limits:
        """The limits of one child."""
        return self._job.limits

    def inputs(self, family: str) -> tuple[InputCase, ...]:
        """A family of `inputs.py`, drawn from the item's seed; the same each time within one observation."""
        if family not in self._families:
            self._families[family] = self.draw(family, 0)
            for drawn in self._families[family]:
                self._drawn.update(map(id, (*drawn.args, *drawn.kwargs.values())))
        return self._families[family]

    def draw(self, family: str, number: int) -> tuple[InputCase, ...]:
        """A family drawn another time: each `number` gives other values, the same for the same seed."""
        return self._course.draw(family, self.seed, number)

    def expected(self, oracle: str) -> Callable[..., Any]:
        """A function of `expected.py`, whose exceptions are the course's, with arguments of its own."""
        place = f"{self._course.place_of(EXPECTED, oracle)}: {oracle}"
        call = apart(self._course.expected(oracle), place, self._children.after_calls)

        @wraps(call)
        def of_cases(*args: Any, **kwargs: Any) -> Any:
            values = (*args, *kwargs.values())
            if any(callable(value) or id(value) not in self._drawn for value in values):
                return call(*args, **kwargs)  # a student may have chosen them
            return once(self._assignment, EXPECTED, oracle, lambda: call(*args, **kwargs))

        return of_cases

    @property
    def simulated(self) -> bool:
        """Whether a simulator stands in for the devices that the item needs."""
        return self._lent.simulated

    @property
    def devices(self) -> int:
        """How many devices the item has for itself."""
        return self._lent.count

    @property
    def bus_bytes_per_s(self) -> float:
        """The most that can be copied to them, or from them, in a second; 0 where that is not known."""
        return self._lent.bus_bytes_per_s

    def bus_bytes(self) -> tuple[tuple[int, int], ...] | None:
        """Read the bytes that each device has sent and received over its bus; None if one has no counter."""
        return self._lent.bus_bytes()

    @property
    def cores(self) -> int:
        """How many cores the item has for itself; 1 where the machine has none to lease."""
        return max(1, len(self._children.cores))

    @property
    def quiet(self) -> Quiet:
        """Tells whether something else ran beside what is timed."""
        return self._quiet

    def subject(
        self, module: str, *, observed: bool = False, cores: int | None = None
    ) -> AbstractContextManager[Subject]:
        """A child of the submission with `module` imported: fresh, or the group's."""
        return self._child(self._whose, module, self._group, observed=observed, cores=cores)

    def reference(self, module: str, *, cores: int | None = None) -> AbstractContextManager[Subject]:
        """A child of the reference solution with `module` imported: fresh, or the group's."""
        return self._child(REFERENCE, module, self._group, cores=cores)

    def by_reference(self, module: str, calls: Sequence[Call]) -> Replayed:
        """Have the reference make calls of a submission, after those before them; see `CheckContext`."""
        if self._control(module, None) is None:
            return
        for of_one in replays([call for call in calls if call.requests]):
            at = {len(call.requests): call for call in of_one}
            replayed = self._by_reference(module, None, of_one[0].requests)
            for number, answer in enumerate(run.call for run in replayed):
                if number in at:
                    yield at.pop(number), answer
                elif answer.outcome is not Outcome.OBSERVED:
                    yield of_one[0], answer

    def let_go(self) -> None:
        """End all children and their servers: whoever comes next gets fresh ones in a new network."""
        self._children.close()
        self._children.servers.close()

    def _child(
        self, whose: str, module: str, group: str, *, observed: bool = False, cores: int | None = None
    ) -> AbstractContextManager[Subject]:
        setup = replace(self._setup(module, whose), cores=cores)
        order = ProcessSpec(
            whose=whose,
            module=module,
            setup=setup,
            observed=observed,
            group=group,
            reference=self._control(module, cores) if whose == SUBMISSION else None,
            advice=partial(self._explanations.explained, module)
            if whose == SUBMISSION
            else self._line_of_reference,
            others=partial(functions_in, self._assignment, module),
            waits_for_gpu=whose == SUBMISSION and self._lent.waits_for_gpu,
        )
        return self._children.subject(order)

    def _line_of_reference(self, function: str, call: Call) -> Call:
        """Return a call with the course's line at which the reference failed in its note."""
        del function
        line = place(call, self._assignment)
        return replace(call, note=f"{call.note} ({line})") if line else call

    @property
    def _explanations(self) -> Explanations:
        return Explanations(job=self._job, tool=self.tool_once, withheld=self._lent.withheld)

    @property
    def _own_paths(self) -> tuple[str, ...]:
        """Paths that a submission may have, or that are built of it."""
        return (*self._job.accepts, *(self._job.build.products if self._job.build else ()))

    def _control(self, module: str, cores: int | None) -> ReferenceControl | None:
        """Return what makes a submission's calls with the reference; None where that has no such file."""
        if not self._has_file(f"{module.replace('.', '/')}.py"):
            return None

        def last_of(requests: Sequence[Request]) -> Run:
            *_, run = self._by_reference(module, cores, requests)
            return run

        return ReferenceControl(last_of, self._assignment, self._own_paths)

    def _by_reference(self, module: str, cores: int | None, requests: Sequence[Request]) -> Iterator[Run]:
        """Make these calls in a fresh child of the reference, up to one that fails; its import first."""
        self._children.stop_programs()
        until = time.monotonic() + REPLAY_CALLS * self.limits.call_wall_s
        with self._child(REFERENCE, module, "", cores=cores) as reference:
            call = reference.imported
            yield Run(call=call, output=reference.output)
            for function, case in requests:
                if call.outcome is not Outcome.OBSERVED or time.monotonic() > until:
                    return
                call = reference.call(function, case)
                yield Run(call=call, output=reference.output)

    @property
    def _assignment(self) -> Path:
        return Path(self._job.assignment_folder)

    def _has_file(self, file: str) -> bool:
        """Tell whether there is a reference, and it or the course has this file."""
        reference = self._assignment / REFERENCE
        there = any((folder / file).is_file() for folder in (reference, self._assignment / "given"))
        return there and holds_files(reference)

    def _setup(self, module: str, whose: str) -> ServerSpec:
        preloads = self._job.preloads.get(module, ())
        if module == RUN_TESTS:
            preloads = (RUN_TESTS, "pytest", *self._job.preloads.get("pytest", ()))
        setup = self._lent.setup(preloads)
        if not self._lent.built:
            return setup
        built = self._make(whose)
        if built.folder:
            return with_products(built, setup)
        # whether it can be is another item's business, and that one has passed
        raise NotObservedError(f"it was built before, and cannot be here: {built.note}")

    def build(self, *, simulated: bool = False) -> Built:
        """Build the submission, unless that was done."""
        return self._make(self._whose, simulated=simulated)

    def run(self, script: str, argv: tuple[str, ...], wall_s: float) -> Run:
        """Run a file of the submission as a program, in a copy of its folder that it may write to."""

        def run_of(whose: str, reference: ReferenceControl | None = None) -> Run:
            setup = self._setup(script.removesuffix(".py"), whose)
            with self._children.program(setup, whose) as child:
                return run_program(child, script, argv, wall_s, reference)

        def run_of_reference(_: Sequence[Request]) -> Run:
            self._children.stop_programs()
            run = run_of(REFERENCE)
            return replace(run, call=of_a_program(run.call))

        control = ReferenceControl(run_of_reference, self._assignment, self._own_paths)
        has_control = self._whose == SUBMISSION and self._has_file(script)
        run = run_of(self._whose, control if has_control else None)
        if self._whose == SUBMISSION and self._lent.waits_for_gpu:
            must_need_no_gpu(run.call)
        return replace(run, call=self._explanations.explained(script.removesuffix(".py"), script, run.call))

    def ranks(self, order: RanksOrder) -> LaunchedRanks:
        """Run a file of the submission as a program of several processes that talk over a loopback."""
        setup = server_spec(order, self._setup(order.module, self._whose))
        with self._children.program(setup, self._whose) as child:
            if not self._children.servers.has_loopback:
                child.close()
                layer = self._children.servers.isolation
                raise NotObservedError(
                    f"the sandbox {layer} has no loopback: it refuses all sockets; see grader doctor"
                )
            return launch(child, order)

    @property
    def files(self) -> tuple[str, ...]:
        """The accepted files of the submission, relative to its top folder, sorted."""
        return self._job.submission.files

    @property
    def dropped(self) -> tuple[str, ...]:
        """Submitted files that were not accepted and are not in the workspace, junk included, sorted."""
        return self._job.submission.dropped

    def missing(self, file: str) -> Observation:
        """The observation of an item whose file was not handed in."""
        return without_file(self.item, file, self._job.submission, self.seed, accepts=self._job.accepts)

    def size(self, file: str) -> int:
        """The size of one accepted file, in bytes."""
        return self._file(file).stat().st_size

    def read(self, file: str, at_most: int = READ_BYTES) -> bytes:
        """The content of one accepted file."""
        with self._file(file).open("rb") as content:
            data = content.read(at_most + 1)
        if len(data) > at_most:
            raise ValueError(f"{file}: is larger than {at_most} bytes")
        return data

    def tool(self, name: str, *args: Any) -> Call:
        """Run one of our tools over the submission's files, in a child in which no student code runs."""
        with self._children.servers.serving(of_tool(name)) as server:
            return run_tool(StudentProcess(server, self._whose, self.limits), name, args)

    def tool_once(self, name: str, *args: Hashable) -> Call:
        """Run a tool that only reads files, once for all items of a run that ask the same of it."""
        calls = self._children.tool_calls
        key = self._whose, name, *args
        if key not in calls:
            calls[key] = self.tool(name, *args)
        return calls[key]

    def _file(self, name: str) -> Path:
        """Where an accepted file lies; intake lets no link in, and a link that got there is not followed."""
        path = Path(self._job.workspace, name)
        workspace_path = Path(self._job.workspace).resolve() / name
        if name not in self.files or not path.is_file() or path.resolve() != workspace_path:
            raise FileNotFoundError(f"{name}: is no file of the submission")
        return path


class ReferenceContext(ItemContext):
    """The context of an item with the reference in the submission's place."""

    _whose: ClassVar[str] = REFERENCE
