"""The student's program as a check sees it: a file is imported, functions are called, values come back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from mmap import mmap
from types import TracebackType
from typing import Any, Self

from grader.contracts.call import Burst, Call, InputCase, Request, Run
from grader.contracts.context import Proof
from grader.errors import CourseError
from grader.harness.answer import read_answer, read_records
from grader.harness.arguments import Arguments
from grader.harness.course_forks import AfterCalls, ForkedAnswers
from grader.harness.device_errors import must_need_no_gpu
from grader.harness.endings import ProgramEnd
from grader.harness.exchange import RoundTrip
from grader.harness.questions import Launches, answered, asks
from grader.harness.reference_control import ReferenceControl, Requests, is_a_failure, of_a_program
from grader.harness.student_process import ARGUMENTS_BYTES, Answer, StudentProcess
from grader.model.assignment import Limits
from grader.model.observation import Outcome, Symptom
from grader.model.trace import Trace
from grader.subject.questions import LAUNCH, TAG
from grader.subject.wire import JSON_BYTES, Encoder, TooLarge

DeviceMemory = Callable[[], int]
"""How many bytes are taken of the devices that a child sees, by whomever."""


STATUS = range(-(2**31), 2**31)
"""What a program may say that it ended with; no report takes integers of any length."""
Advice = Callable[[str, Call], Call]
"""Explains why a call of the function of this name failed, or the import of its file if it is empty.

Returns the call with that in its note.
"""


class ChildSubject:
    """One child with one file imported; `with` ends it and everything it started."""

    def __init__(
        self,
        child: StudentProcess,
        module: str,
        limits: Limits,
        *,
        observed: bool = False,
        devices: DeviceMemory | None = None,
        reference: ReferenceControl | None = None,
        advice: Advice | None = None,
    ) -> None:
        """With `observed` an observer is put beside the program before anything of it is imported.

        `devices` is how many bytes of its devices are in use, where it has any. The `reference` makes the
        calls of a program that failed. `advice` explains an import or a call that failed.
        """
        self._child = child
        self._module = module
        self._limits = limits
        self._observed = observed
        self._devices = devices
        self._reference = reference
        self._requests = Requests()
        self._advice = advice
        self.others: Callable[[], Collection[str]] = frozenset
        """Returns functions that are asked for by their own names: none is a misspelling of another."""
        self.waits_for_gpu = False
        """Whether an import that asks for a GPU is not held against the program."""
        self.after_calls = AfterCalls()
        """Keeps the functions of cases as calls leave them."""
        self._carrying: tuple[int, ...] = ()
        """The launches that get inputs, by the call whose launches were noted last."""
        self._unkept = ""
        """Why nobody knows what the last call asked of the functions of its case."""

    def __enter__(self) -> Self:
        """Import the file; `imported` says how that went.

        Raises:
            NeedsGpuError: it asks for a GPU, and has to wait for one.
        """
        encoder = Encoder(self._child.shared_buffer.arguments)
        request: dict[str, object] = {"do": "import", "module": self._module, "observed": self._observed}
        try:
            exchange = self._child.exchange(*encoder.close(request), self._limits.import_wall_s)
            self.imported = read_answer(self._child, exchange, f"importing {self._module}.py")
            self._must_be_its_own(self.imported, ())
            self.imported = self._explained("", self.imported)
            if self.waits_for_gpu:
                must_need_no_gpu(self.imported)
        except BaseException:
            self._child.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.dismiss()

    @property
    def alive(self) -> bool:
        """Whether another call can be made."""
        return self._child.ended is None

    @property
    def output(self) -> str:
        """The program's printed text so far, head and tail."""
        if self.alive:
            self._child.output.drain()
        return self._child.output.text()

    def call(self, function: str, case: InputCase, *, proof: Proof | None = None, skip: int = 0) -> Call:
        """Call a function of the imported file; see `grader.contracts.context.Subject`."""
        _require_bare(function)
        sent = _written(case, {"do": "call", "function": function}, self._child.shared_buffer.arguments)
        launches = Launches(proof or "", self._carrying, skip)
        # bytes with bytes: a view is compared element by element, ten times slower
        now = self._child.shared_buffer.arguments
        before = {name: bytes(now[span]) for name, span in sent.spans.items()}
        with self._answering(sent, launches) as (answer, waited_ns):
            within_s = self._limits.call_wall_s
            exchange = self._child.exchange(*sent.document, within_s, answer, waited_ns=waited_ns)
        requests = self._requests.followed_by(function, case)
        changed = [name for name, span in sent.spans.items() if before[name] != bytes(now[span])]
        call = read_answer(self._child, exchange, f"{function}()", tuple(sent.spans), changed, self.others)
        call = self._explained(function, _kept(call, function, self._unkept))
        disputed = self._requests.disputed_with(function, case)
        call = replace(call, launches_asked=launches.count, requests=disputed)
        call = self._on_devices(call, function)
        self._must_be_its_own(call, requests)
        self._requests.add(function, case, sum(sent.document))
        return self._recorded(call, proof)

    def burst(
        self,
        function: str,
        cases: Sequence[InputCase],
        *,
        again: int = 0,
        proof: Proof | None = None,
        skip: int = 0,
    ) -> Burst:
        """Call a function with one case after the other; see `grader.contracts.context.Subject`."""
        _require_bare(function)
        first: dict[str, object] = {"do": "call", "function": function}
        requests = [(case, first) for case in cases] + [(cases[-1], {"do": "again"})] * again
        shared_buffer = self._child.shared_buffer.arguments
        prepared = []
        with closing(mmap(-1, ARGUMENTS_BYTES)) as memory, memoryview(memory) as buffer:
            for case, request in requests:
                sent = _written(case, request, buffer)
                prepared.append((sent, Arguments(buffer, sum(sent.document))))
        self._child.results.prepare(len(prepared))
        exchanges: list[RoundTrip] = []
        unkept: list[str] = []
        launches = [Launches("", self._carrying, 0) for _ in requests]
        launches[len(cases) - 1] = Launches(proof or "", self._carrying, skip)
        for number, (sent, arguments) in enumerate(prepared):
            arguments.place(shared_buffer)
            begin, within_s = partial(arguments.complete, shared_buffer), self._limits.call_wall_s
            with self._answering(sent, launches[number]) as (answer, waited_ns):
                exchange = self._child.exchange(
                    *sent.document, within_s, answer, waited_ns=waited_ns, keep=number, begin=begin
                )
            exchanges.append(exchange)
            unkept.append(self._unkept)
            if isinstance(exchanges[-1].answer, ProgramEnd):
                break
        # not before all are over: to read an answer takes as long as a call
        calls: list[Call] = []
        for number, (exchange, launch) in enumerate(zip(exchanges, launches, strict=False)):
            call = read_answer(self._child, exchange, f"{function}()", others=self.others)
            call = self._explained(function, _kept(call, function, unkept[number]))
            calls.append(replace(call, launches_asked=launch.count))
            if calls[-1].outcome is not Outcome.OBSERVED:
                break
            if number < len(cases):
                self._requests.add(function, cases[number], sum(prepared[number][0].document))
        last = min(len(calls), len(cases)) - 1
        calls[last] = self._on_devices(calls[last], function)
        self._must_be_its_own(calls[last], self._requests.followed_by(function, requests[last][0]))
        if last == len(cases) - 1:
            calls[last] = self._recorded(calls[last], proof)
        return Burst(calls=tuple(calls[: len(cases)]), again=tuple(calls[len(cases) :]))

    @contextmanager
    def _answering(self, sent: _Sent, launches: Launches) -> Iterator[tuple[Answer, Callable[[], int]]]:
        """Answer the questions of one call: of launches here, of functions of its case in a fork.

        Yield what answers, and for how long it has waited for cores, in nanoseconds.
        """
        self._unkept = ""
        if not sent.outside:
            yield partial(answered, {LAUNCH: launches}), lambda: 0
            return
        forked = ForkedAnswers(sent.outside, self._limits.call_wall_s)
        try:
            yield (
                lambda text: answered({LAUNCH: launches}, text) if asks(LAUNCH, text) else forked(text),
                forked.waited_ns,
            )
        finally:
            self._unkept = forked.close(self.after_calls)

    def _must_be_its_own(self, call: Call, requests: Sequence[Request] | None) -> None:
        """Have the reference make the calls of which the last one failed, unless they were too many."""
        if self._reference is not None and requests is not None and is_a_failure(call):
            self._reference.require(requests)

    def _explained(self, function: str, call: Call) -> Call:
        """The call, with what explains it if it failed."""
        if call.outcome is Outcome.OBSERVED or self._advice is None:
            return call
        return self._advice(function, call)

    def _recorded(self, call: Call, proof: Proof | None) -> Call:
        """The call with its trace, if a proof was asked for."""
        if proof is None or call.outcome is not Outcome.OBSERVED:
            return call
        if call.trace is None:
            recorded = self.records()
            call = replace(call, trace=recorded[-1] if recorded else None)
        if proof == "note" and call.trace and call.trace.exchange:
            self._carrying = call.trace.exchange.carrying
        return call

    def records(self) -> tuple[Trace, ...]:
        """The observer's records of the calls since the last time; see `grader.contracts.context.Subject`."""
        encoder = Encoder(self._child.shared_buffer.arguments)
        exchange = self._child.exchange(*encoder.close({"do": "records"}), self._limits.call_wall_s)
        return read_records(self._child, exchange)

    def _on_devices(self, call: Call, function: str) -> Call:
        """The call, unless it took too much of a device; a program that failed there is ended."""
        if self._devices is None:
            return call
        call = self._within_device_memory(call, self._devices(), function)
        if call.outcome is not Outcome.OBSERVED:
            # after an error of a device a process gets nothing else, and what it holds the next one needs
            self._child.stop("was ended after an error on its device")
        return call

    def _within_device_memory(self, call: Call, used: int, function: str) -> Call:
        """The call, unless its program holds more of a device than it may: others need it as well."""
        if call.outcome is not Outcome.OBSERVED or used <= self._limits.gpu_memory_mb * 2**20:
            return call
        note = (
            f"{function}(): {used // 2**20} MiB of the GPU's memory are taken after the call; "
            f"{self._limits.gpu_memory_mb} MiB are allowed; free what a call allocates, and make a library's "
            "handle (cublasCreate) once, not in every call"
        )
        symptom = Symptom.GPU_MEMORY
        return replace(call, outcome=Outcome.OUT_OF_MEMORY, value=None, note=note, symptom=symptom)

    def again(self, case: InputCase) -> Call:
        """Have the last result given once more; see `grader.contracts.context.Subject`."""
        sent = _written(case, {"do": "again"}, self._child.shared_buffer.arguments)
        exchange = self._child.exchange(*sent.document, self._limits.call_wall_s)
        return read_answer(self._child, exchange, "again")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sent:
    """A request as it lies in the shared buffer, or will lie there."""

    document: tuple[int, int]
    """Where it starts, and how long it is, in bytes."""
    spans: Mapping[str, slice]
    """Where each argument's arrays lie."""
    outside: Mapping[int, Callable[..., Any]]
    """The functions among the arguments, which stay here, by the number that stands in their place."""


def _require_bare(function: str) -> None:
    """Refuse the name of a function with its module, as a rubric writes it.

    Raises:
        ValueError: it has a dot.
    """
    bare = function.rpartition(".")[2]
    if bare != function:
        raise ValueError(f"subject.call takes {bare!r}, without the module, got {function!r}")


def _written(case: InputCase, request: dict[str, object], buffer: memoryview) -> _Sent:
    """Write a request with the arguments of a case."""
    arguments = {f"argument {i + 1}": a for i, a in enumerate(case.args)} | dict(case.kwargs)
    encoder = Encoder(buffer)
    spans = {}
    encoded: list[Any] = []
    outside: list[Callable[..., Any]] = []
    try:
        for name, value in arguments.items():
            begin = encoder.end
            if callable(value):
                encoded.append({TAG: len(outside)})
                outside.append(value)
            else:
                encoded.append(encoder.encode(value))
            spans[name] = slice(begin, encoder.end)
        positional = len(case.args)
        keywords = dict(zip(case.kwargs, encoded[positional:], strict=True))
        document = encoder.close({**request, "args": encoded[:positional], "kwargs": keywords})
    except TooLarge:
        limits = f"{ARGUMENTS_BYTES >> 20} MiB of arguments, {JSON_BYTES >> 20} MiB of text"
        raise CourseError(f"inputs.py: case {case.name!r}: has more than {limits}; give less") from None
    return _Sent(document=document, spans=spans, outside=dict(enumerate(outside)))


def _kept(call: Call, function: str, unkept: str) -> Call:
    """Return a call; one after which the functions of its case cannot be had has failed."""
    if call.outcome is not Outcome.OBSERVED or not unkept:
        return call
    note = f"{function}(): asked a function of its case so that nobody can tell what it was asked ({unkept})"
    return replace(call, outcome=Outcome.CRASHED, value=None, note=note)


def answers(child: StudentProcess) -> bool:
    """Whether a child that has run nothing of the student's can be called and stopped."""
    encoder = Encoder(child.shared_buffer.arguments)
    document = encoder.close({"do": "again", "args": [], "kwargs": {}})
    return not isinstance(child.exchange(*document, child.limits.call_wall_s).answer, ProgramEnd)


def run_program(
    child: StudentProcess,
    script: str,
    argv: tuple[str, ...],
    wall_s: float,
    reference: ReferenceControl | None = None,
) -> Run:
    """Run a file of the submission as a program in this child, then end the child."""
    with closing(child):
        encoder = Encoder(child.shared_buffer.arguments)
        document = encoder.close({"do": "run", "script": script, "argv": list(argv)})
        exchange = child.exchange(*document, wall_s)
        call = read_answer(child, exchange, script)
        if type(call.value) is int and call.value not in STATUS:
            call = replace(call, value=255)  # as of a process that ends with more than fits
        run = Run(call=call, output=child.output.text())
    if reference is not None and is_a_failure(of_a_program(call)):
        reference.require(())
    return run
