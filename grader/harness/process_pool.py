"""The children of one run: a fresh one for each item, or one that the items of a group share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

from grader.contracts.call import Burst, Call, InputCase
from grader.contracts.context import SUBMISSION, Proof, Subject
from grader.errors import NotObservedError
from grader.harness.course_forks import AfterCalls
from grader.harness.reference_control import ReferenceControl
from grader.harness.server_spec import ServerSpec
from grader.harness.servers import Servers
from grader.harness.student_process import StudentProcess
from grader.harness.subject import Advice, ChildSubject, DeviceMemory, answers
from grader.model.assignment import Limits
from grader.model.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessSpec:
    """Which child is wanted."""

    whose: str
    module: str
    """The file that is imported, without `.py`."""
    setup: ServerSpec
    observed: bool = False
    """Whether everything that it does on devices is recorded, at the cost of its time."""
    group: str = ""
    """Items of one group share a child; empty for a fresh one."""
    reference: ReferenceControl | None = field(default=None, compare=False)
    """Makes the calls of a program that failed; None if there is nothing to compare with."""
    advice: Advice | None = field(default=None, compare=False)
    """Explains why an import or a call failed."""
    others: Callable[[], Collection[str]] = field(default=frozenset, compare=False)
    """Returns functions that are asked for by their own names: none is a misspelling of another."""
    waits_for_gpu: bool = False
    """Whether an import that asks for a GPU is not held against it."""


class ProcessPool:
    """Hands out subjects. The items of a group pay for an import and a compilation once."""

    def __init__(self, servers: Servers, limits: Limits, cores: tuple[int, ...] = ()) -> None:
        """With `cores` all of them stay on these; an order may ask for the first few."""
        self.servers = servers
        self.cores = cores
        self.device_memory: DeviceMemory | None = None
        """Set by whoever lends devices."""
        self.tool_calls: dict[tuple[Hashable, ...], Call] = {}
        """Answers of tools that only read files; a workspace does not change while its items are observed."""
        self.after_calls = AfterCalls()
        """What the present item's oracles may see of its calls."""
        self.is_last_item = False
        """Whether no item comes after the present one, so that none is forked ahead."""
        self._limits = limits
        self._shared: dict[ProcessSpec, tuple[ChildSubject, ExitStack]] = {}
        self._children: list[StudentProcess] = []
        """All that were started, those that have ended as well."""
        self._programs: list[StudentProcess] = []
        """Those of the submission."""
        self._ahead: dict[tuple[str, ServerSpec], StudentProcess] = {}
        """Forked while the item before was looked at, and given to the next one of its kind."""

    @contextmanager
    def subject(self, order: ProcessSpec) -> Iterator[Subject]:
        """A child with the file imported: the group's, if there is one and it still lives, or a fresh one."""
        if not order.group:
            with ExitStack() as resources:
                yield self._start(order, resources)
            return
        if order in self._shared and not self._shared[order][0].alive:
            self._shared.pop(order)[1].close()
        if order in self._shared:
            shared = self._shared[order][0]
            yield GroupView(shared, len(shared.output))
        else:
            resources = ExitStack()
            self._shared[order] = self._start(order, resources), resources
            yield GroupView(self._shared[order][0], 0)

    @contextmanager
    def program(
        self, setup: ServerSpec, whose: str = SUBMISSION, limits: Limits | None = None
    ) -> Iterator[StudentProcess]:
        """Start a fresh child of the submission or the reference for a program that is run, not imported."""
        limits = limits or self._limits
        with self.servers.serving(setup) as server:
            child = StudentProcess(server, whose, limits, control=partial(self._works, setup, whose, limits))
            self._note(child, whose)
            yield child

    @property
    def program_s(self) -> float:
        """How long the submission's own program has run so far, in all of its children together."""
        return sum(child.ran_s for child in self._programs)

    @property
    def cpu_s(self) -> float:
        """CPU time so far of all children, the reference's as well, and of pid 1 of each."""
        return sum(child.cpu_s for child in self._children)

    def _note(self, child: StudentProcess, whose: str) -> None:
        self._children.append(child)
        if whose == SUBMISSION:
            self._programs.append(child)

    def end(self, group: str) -> None:
        """End what a group shares; its last item was looked at."""
        for order in [order for order in self._shared if order.group == group]:
            self._shared.pop(order)[1].close()

    def close(self) -> None:
        """End all of them."""
        self._end_where(lambda setup: True)

    def retire_devices(self) -> None:
        """End all that have devices, and their servers."""
        self._end_where(lambda setup: bool(setup.devices))
        self.servers.end_where(lambda setup: bool(setup.devices))

    def stop_programs(self) -> None:
        """End all of the submission, so that nothing of it runs, or holds anything, beside the reference."""
        for child in self._programs:
            child.stop("was ended after a failure, so that the reference could be asked")
        self.servers.dismissed.wait()

    def _end_where(self, applies: Callable[[ServerSpec], bool]) -> None:
        for whose, setup in [key for key in self._ahead if applies(key[1])]:
            if child := self._waiting(whose, setup):
                child.close()
        for order in [order for order in self._shared if applies(order.setup)]:
            self._shared.pop(order)[1].close()
        self.servers.dismissed.wait()

    def _waiting(self, whose: str, setup: ServerSpec) -> StudentProcess | None:
        """The child that was forked ahead, if its server still serves."""
        child = self._ahead.pop((whose, setup), None)
        if child is not None:
            try:
                child.ready()
            except NotObservedError:
                return None
        return child

    def _start(self, order: ProcessSpec, resources: ExitStack) -> ChildSubject:
        server = resources.enter_context(self.servers.serving(order.setup))
        cores = self.cores[: order.setup.cores or max(1, self._limits.cores)]
        fork = partial(
            StudentProcess,
            server,
            order.whose,
            self._limits,
            cores=cores,
            control=partial(self._works, order.setup, order.whose, self._limits),
        )
        child = self._waiting(order.whose, order.setup) or fork()
        if server.shared and not self.is_last_item:
            self._ahead[order.whose, order.setup] = fork(ahead=True)
        memory = self.device_memory if order.setup.devices else None
        self._note(child, order.whose)
        subject = ChildSubject(
            child,
            order.module,
            self._limits,
            observed=order.observed,
            devices=memory,
            reference=order.reference,
            advice=order.advice,
        )
        subject.others = order.others
        subject.waits_for_gpu = order.waits_for_gpu
        subject.after_calls = self.after_calls
        return resources.enter_context(subject)

    def _works(self, setup: ServerSpec, whose: str, limits: Limits) -> bool:
        """Whether a fresh child, in which no student code runs, can be started, called and stopped there."""
        for _ in range(2):  # a server that the program may have broken is replaced after the first
            with (
                suppress(NotObservedError),
                self.servers.serving(setup) as server,
                closing(StudentProcess(server, whose, limits)) as child,
            ):
                return answers(child)
        return False


@dataclass(frozen=True, slots=True)
class GroupView:
    """A shared subject as one item sees it: with what was printed since."""

    subject: ChildSubject
    printed: int

    @property
    def imported(self) -> Call:
        """How the import went, when the first item of the group asked for it."""
        return self.subject.imported

    @property
    def alive(self) -> bool:
        """Whether another call can be made."""
        return self.subject.alive

    @property
    def output(self) -> str:
        """Text that the program has printed since this item began."""
        return self.subject.output[self.printed :]

    def call(self, function: str, case: InputCase, *, proof: Proof | None = None, skip: int = 0) -> Call:
        """Call a function of the imported file."""
        return self.subject.call(function, case, proof=proof, skip=skip)

    def records(self) -> tuple[Trace, ...]:
        """The observer's records of the calls since the last time."""
        return self.subject.records()

    def again(self, case: InputCase) -> Call:
        """Have the last result given once more."""
        return self.subject.again(case)

    def burst(
        self,
        function: str,
        cases: Sequence[InputCase],
        *,
        again: int = 0,
        proof: Proof | None = None,
        skip: int = 0,
    ) -> Burst:
        """Call a function with one case after the other."""
        return self.subject.burst(function, cases, again=again, proof=proof, skip=skip)
