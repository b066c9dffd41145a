"""The item_context of one check: fresh subjects, secret inputs, expected values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from grader.model.assignment import Limits
from grader.model.observation import Observation, Outcome, Symptom
from grader.model.trace import Trace

if TYPE_CHECKING:
    from grader.harness.built import Built
    from grader.harness.ranks import LaunchedRanks, RanksOrder

SUBMISSION = "submission"
REFERENCE = "reference"
"""Whose program a subject runs."""

READ_BYTES = 16 * 2**20

Proof = Literal["", "note", "exchange"]
"""What an observer does with the inputs of kernels; see `grader/subject/observer/exchange.py`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputCase:
    """One set of arguments; what `grader.api.case` makes.

    A function among them stays in the worker: the student's process gets one that asks for its values, and
    never what these come from. What it is called with, and gives, is plain JSON of at most 4 kB.
    """

    name: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpaqueValue:
    """A value of a type that does not cross the wire; only its type's name did."""

    type_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What came of one call into the student's program."""

    outcome: Outcome
    """`observed` if it returned; then `value` is what came back."""
    value: Any = None
    """None, bool, int, float, complex, str, list, tuple, dict with str keys, numpy.ndarray or numpy scalar,
    all of exactly these types, or `OpaqueValue`."""
    note: str = ""
    """How it ended if not by returning: one sentence with the exception's text."""
    symptom: Symptom | None = None
    """The form of that end, as a device's error names it."""
    traceback: str = ""
    """The student's own frames, shortened."""
    changed_inputs: tuple[str, ...] = ()
    """Arguments that were changed in place: `argument 1`, or a keyword's name."""
    wall_s: float = 0.0
    """By the worker's clock: from *continue and call* until everything in the sandbox stood still and, with
    devices, the result was copied."""
    freeze_s: float = 0.0
    """The part of it that came after *done*: what a late thread, or a late kernel, could at most use."""
    cpu_s: float | None = None
    """CPU time of all of the program's processes in the call, read by pid 1; None where the kernel does not
    tell, or where it ended."""
    sandbox_cpu_s: float = 0.0
    """That of pid 1, which looked at them and stopped them."""
    trace: Trace | None = None
    """What it did on its devices, if that was asked for."""
    launches_asked: int = 0
    """How often it was asked from within what is to be done at a launch; a program can do so, too."""

    @property
    def own_cpu_s(self) -> float:
        """CPU time that is no work of others: the program's, as far as it is known, and that of pid 1."""
        return (self.cpu_s or 0.0) + self.sandbox_cpu_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Burst:
    """What came of several calls in a row."""

    calls: tuple[Call, ...]
    """One for each case, in their order, up to the first that did not return."""
    again: tuple[Call, ...] = ()
    """What handing over the last result took, right behind them; empty if a call did not return."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What came of running a program."""

    call: Call
    """Its value is the exit status, if the program ended by itself without an exception."""
    output: str
    """What it printed, head and tail."""


OTHERS_RAN = "other programs ran on the cores"
KERNEL_RAN = "the system itself worked on the cores"
"""Words of a watch over cores where more was computed than by the timed programs."""


class Quiet(Protocol):
    """Watches the cores and devices that a timed item has for itself."""

    @property
    def untold(self) -> bool:
        """Whether the kernel's counts were worthless, so that some round was taken for quiet unseen."""
        ...

    def begin(self, *, anew: bool = False) -> None:
        """A round of timed calls begins; `anew`, one of which the rounds before tell nothing."""
        ...

    def end(self, own_cpu_s: float) -> str | None:
        """What else went on, in a few words; empty if nothing did, None if that cannot be told yet.

        `own_cpu_s` is the CPU time that all processes of the timed programs took in this round, and pid 1 of
        each. After None the answer to a later round is about this one, too.
        """
        ...


class Subject(Protocol):
    """A fresh child of the student's program with one of its files imported."""

    @property
    def imported(self) -> Call:
        """How the import went; calls are possible only if its outcome is `observed`."""
        ...

    def call(self, function: str, case: InputCase, *, proof: Proof | None = None, skip: int = 0) -> Call:
        """Call a function of the imported file; a child that died or hung answers every later call alike.

        With a proof the call carries a trace, which is made after it. With `"note"` what its kernels get is
        noted, and with `"exchange"` given to them in place of their inputs: a result that is right for the
        noted call was made from what lies on the device. With `skip` the first so many launches that get
        inputs keep theirs. Possible for numba's kernels alone. Until a launch at which something is done the
        program cannot tell such a call from one without a proof, which is timed.
        """
        ...

    def records(self) -> tuple[Trace, ...]:
        """The observer's records of the calls since the last time it was asked; none without devices."""
        ...

    def again(self, case: InputCase) -> Call:
        """Have the last result given once more, without a call: what the wire and the copy of it cost.

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
        """Call a function with one case after the other, and give the last result `again` so many times.

        Between two calls only the inputs of the next one are written: a rest would make it slower. So what a
        program changed in its inputs is not looked for. A `proof` is that of the last call; see `call`.
        """
        ...

    @property
    def alive(self) -> bool:
        """Whether another call can be made; if not, take a fresh subject."""
        ...

    @property
    def output(self) -> str:
        """What the program printed so far, head and tail."""
        ...


class CheckContext(Protocol):
    """What `CheckKind.observe` gets."""

    item: str
    seed: str
    """This item's secret in hexadecimal; everything drawn is drawn from it."""

    @property
    def limits(self) -> Limits:
        """What one child may use."""
        ...

    def inputs(self, family: str) -> tuple[InputCase, ...]:
        """A family of `inputs.py`, drawn anew from the seed; the same each time within one observation."""
        ...

    def draw(self, family: str, number: int) -> tuple[InputCase, ...]:
        """A family drawn another time: each `number` gives other values, the same for the same seed."""
        ...

    def expected(self, oracle: str) -> Callable[..., Any]:
        """A function of `expected.py`; it gets arguments of its own that it may change."""
        ...

    @property
    def simulated(self) -> bool:
        """Whether a simulator stands in for the devices that the item needs."""
        ...

    @property
    def devices(self) -> int:
        """How many devices the item has for itself."""
        ...

    @property
    def bus_bytes_per_s(self) -> float:
        """The most that can be copied to them, or from them, in a second; 0 where that is not known."""
        ...

    def bus_bytes(self) -> tuple[tuple[int, int], ...] | None:
        """What each device has sent and received over its bus so far; None where one does not count."""
        ...

    def bus_carried(self) -> tuple[int, int] | None:
        """By the driver's count, the bytes that the bus carried to its device, and from it, so far.

        Both wrap at 2**32. None with several devices, or where the driver does not count.
        """
        ...

    @property
    def cores(self) -> int:
        """How many cores the item has for itself; 1 where the machine has none to lease."""
        ...

    @property
    def quiet(self) -> Quiet:
        """Tells whether something else ran beside what is timed."""
        ...

    def subject(
        self, module: str, *, observed: bool = False, cores: int | None = None
    ) -> AbstractContextManager[Subject]:
        """A fresh child with `module` (a file of the submission, without `.py`) imported.

        With `observed` everything is recorded that it does on its devices, and its calls carry a trace. That
        takes time and memory of the program's own: what is timed is never observed so.

        With `cores` it stays on so many of the item's own, the same first ones each time, and numerical
        libraries are told so before they are imported; without, on as many as the assignment's limits say.
        """
        ...

    def reference(self, module: str, *, cores: int | None = None) -> AbstractContextManager[Subject]:
        """The same of the reference solution."""
        ...

    def let_go(self) -> None:
        """End all children and their servers: whoever comes next gets fresh ones in a new network."""
        ...

    def run(self, script: str, argv: tuple[str, ...], wall_s: float) -> Run:
        """Run a file of the submission as a program, in a copy of its folder that it may write to."""
        ...

    def ranks(self, order: RanksOrder) -> LaunchedRanks:
        """The same of a program of several processes, watched; see `grader.harness.ranks`.

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
        """What was handed in beside them and is not in the workspace, junk included, sorted."""
        ...

    def missing(self, file: str) -> Observation:
        """The observation of an item whose file was not handed in: what to do, and no points."""
        ...

    def size(self, file: str) -> int:
        """The size of one accepted file, in bytes.

        Raises:
            FileNotFoundError: it is none of `files`, or a link stands in its place.
        """
        ...

    def read(self, file: str, at_most: int = READ_BYTES) -> bytes:
        """The content of one accepted file; to parse it is the business of a tool.

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

        The child is a fresh one, sandboxed like a student's, and no student code runs in it: what may hang or
        crash on an evil file does so there. The notes of the call speak of a program: say it in other words.
        """
        ...
