"""The context of one check: fresh subjects, secret inputs, expected values, files, tools, times."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol

from grader.contracts.build import Built
from grader.contracts.call import Burst, Call, InputCase, Replayed, Run
from grader.contracts.ranks import LaunchedRanks, RanksOrder
from grader.model.assignment import Limits
from grader.model.observation import Observation
from grader.model.trace import Trace

SUBMISSION = "submission"
REFERENCE = "reference"
"""The two programs that a subject can run."""

READ_BYTES = 16 * 2**20

Proof = Literal["", "note", "exchange"]
"""The treatment of the inputs of kernels; see `Subject.call`."""


OTHERS_RAN = "other programs ran on the cores"
KERNEL_RAN = "the system itself worked on the cores"
"""Answers of `Quiet.end` where more was computed on the cores than by the timed programs."""


class Quiet(Protocol):
    """Monitor of the cores and devices that a timed item has for itself."""

    @property
    def untold(self) -> bool:
        """Whether the kernel's counts were unusable, so that some round was taken as quiet unchecked."""
        ...

    def begin(self, *, anew: bool = False) -> None:
        """Begin a round of timed calls; `anew` if the rounds before are no measure for it."""
        ...

    def end(self) -> str | None:
        """End the round: name what else ran, in a few words; empty for nothing, None for not yet decided.

        Not counted is what all programs of the item, the reference's as well, and pid 1 of each took in this
        round, whatever was asked of them. After None the answer to a later round covers this one, too.
        """
        ...


class Subject(Protocol):
    """A fresh child of the student's program with one of its files imported."""

    @property
    def imported(self) -> Call:
        """The outcome of the import; calls are possible only if it is `observed`."""
        ...

    def call(self, function: str, case: InputCase, *, proof: Proof | None = None, skip: int = 0) -> Call:
        """Call a function of the imported file; a child that died or hung answers every later call alike.

        With a proof the call carries a trace, which is made after it. `"note"` records the inputs of its
        kernels, and `"exchange"` replaces them by those of the recorded call: a result that is right for the
        recorded call was made from the data on the device. With `skip` the first so many launches that get
        inputs keep theirs. Possible for numba's kernels alone. Until the first launch that is treated so the
        program cannot tell such a call from one without a proof, which is timed.
        """
        ...

    def records(self) -> tuple[Trace, ...]:
        """Return the observer's records of the calls since the last request; none without devices."""
        ...

    def again(self, case: InputCase) -> Call:
        """Transfer the last result once more, without a call: the cost of the wire and of the copy.

        The arguments of a case are written and read as for a call, so that everything else is alike.
        """
        ...

    def burst(
        self,
        function: str,
        cases: Sequence[InputCase],
        *,
        again: int = 0,
        proof: Proof | None = None,
        skip: int = 0,
    ) -> Burst:
        """Call a function with one case after the other, and transfer the last result `again` times.

        Between two calls only the inputs of the next one are written: a pause would make it slower. So
        changed inputs are not detected. A `proof` is that of the last call; see `call`.
        """
        ...

    @property
    def alive(self) -> bool:
        """Whether another call can be made; if not, take a fresh subject."""
        ...

    @property
    def output(self) -> str:
        """The program's printed text so far, head and tail."""
        ...


class CheckContext(Protocol):
    """Everything that `CheckKind.observe` may use."""

    item: str
    seed: str
    """This item's secret in hexadecimal; everything drawn is drawn from it."""

    @property
    def limits(self) -> Limits:
        """The limits of one child."""
        ...

    def inputs(self, family: str) -> tuple[InputCase, ...]:
        """Draw a family of `inputs.py` from the seed; the same each time within one observation."""
        ...

    def draw(self, family: str, number: int) -> tuple[InputCase, ...]:
        """Draw a family another time: each `number` gives other values, the same for the same seed."""
        ...

    def expected(self, oracle: str) -> Callable[..., Any]:
        """Return a function of `expected.py`; what it changes in its arguments is gone with the call.

        Hand it the arguments of a case as they are: `after_call` finds their functions by identity.
        """
        ...

    @property
    def simulated(self) -> bool:
        """Whether a simulator stands in for the devices that the item needs."""
        ...

    @property
    def devices(self) -> int:
        """The number of devices that the item has for itself."""
        ...

    @property
    def bus_bytes_per_s(self) -> float:
        """The highest rate of copies to them, or from them; 0 where that is unknown."""
        ...

    def bus_bytes(self) -> tuple[tuple[int, int], ...] | None:
        """Read the bytes that each device has sent and received over its bus; None if one has no counter."""
        ...

    @property
    def cores(self) -> int:
        """The number of cores that the item has for itself; 1 where the machine has none to lease."""
        ...

    @property
    def quiet(self) -> Quiet:
        """The monitor of what else runs beside what is timed."""
        ...

    def subject(
        self, module: str, *, observed: bool = False, cores: int | None = None
    ) -> AbstractContextManager[Subject]:
        """Start a fresh child with `module` (a file of the submission, without `.py`) imported.

        With `observed` all its work on its devices is recorded, and its calls carry a trace. That takes time
        and memory of the program's own: what is timed is never observed so.

        With `cores` it stays on so many of the item's own, the same first ones each time, and numerical
        libraries get that number before they are imported; without, the number in the assignment's limits.
        """
        ...

    def reference(self, module: str, *, cores: int | None = None) -> AbstractContextManager[Subject]:
        """Start a child of the reference solution in the same way."""
        ...

    def by_reference(self, module: str, calls: Sequence[Call]) -> Replayed:
        """Have the reference make calls of the submission again, each after those that its process made.

        What a call found there, the reference finds as well. Calls behind more than are kept, and what does
        not fit into ten times the limit of one call, are left out. The submission's processes end.

        Yields:
            Each call with the reference's; the last one of a process with the import, or the call before it,
            that failed. None where the reference has no such file.
        """
        ...

    def let_go(self) -> None:
        """End all children and their servers: the next subject gets fresh ones in a new network."""
        ...

    def run(self, script: str, argv: tuple[str, ...], wall_s: float) -> Run:
        """Run a file of the submission as a program, in a copy of its folder that it may write to."""
        ...

    def ranks(self, order: RanksOrder) -> LaunchedRanks:
        """Run a program of several processes, and watch each of them.

        Raises:
            NotObservedError: the sandbox has no loopback, or this machine no torch for torchrun.
        """
        ...

    @property
    def files(self) -> tuple[str, ...]:
        """The accepted files of the submission, relative to its top folder, sorted."""
        ...

    @property
    def dropped(self) -> tuple[str, ...]:
        """Submitted files that were not accepted and are not in the workspace, junk included, sorted."""
        ...

    def missing(self, file: str) -> Observation:
        """Return the observation of an item whose file was not submitted: the advice, and no points."""
        ...

    def size(self, file: str) -> int:
        """Return the size of one accepted file, in bytes.

        Raises:
            FileNotFoundError: it is none of `files`, or a link stands in its place.
        """
        ...

    def read(self, file: str, at_most: int = READ_BYTES) -> bytes:
        """Read one accepted file; a tool parses it, never the worker.

        Raises:
            FileNotFoundError: it is none of `files`, or a link stands in its place.
            ValueError: it is larger than `at_most` bytes.
        """
        ...

    def build(self, *, simulated: bool = False) -> Built:
        """Build the submission as its assignment says, unless that was done; with `simulated`, for the CPU.

        Raises:
            CourseError: the assignment does not say how.
            NotObservedError: this machine lacks something that building needs.
        """
        ...

    def tool(self, name: str, *args: Any) -> Call:
        """Run `main(*args)` of `grader/subject/tools/<name>.py` in the submission's folder.

        The child is a fresh one, sandboxed like a student's, and no student code runs in it: a hang or a
        crash on an evil file happens there. The notes of the call speak of a program: say it in other words.
        """
        ...

    def tool_once(self, name: str, *args: Hashable) -> Call:
        """Run a tool that only reads files, as `tool` does, once for all items that ask the same of it."""
        ...
