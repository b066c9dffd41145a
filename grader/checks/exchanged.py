"""Whether an operation in CUDA C++ works on the GPU: a driver of the course exchanges its inputs there.

The driver has three functions, called in a fresh observed child one after the other: `place` puts inputs on
the GPU while nothing of the submission is loaded, `load` gives the operation others of the same shapes, and
`run` copies the first over the second, on the device, and calls it. So the host never has what the operation
works on, unless it copies it from the device, and what is copied is counted: by the records of the program's
process, and by the GPU's own counter, outside of it. `rest` does what `run` does without the operation.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from grader.checks.calls import cases_of
from grader.checks.watched import FOLLOWS_HOST, right, shapes_of, with_arrays_of
from grader.cuda.traffic import moved_between
from grader.errors import CourseError, NotObservedError
from grader.model.observation import Outcome
from grader.model.trace import Proven, Trace, Watched

if TYPE_CHECKING:
    from grader.contracts.call import Call, InputCase
    from grader.contracts.context import CheckContext, Subject
    from grader.harness.tolerance import Tolerances

_PLACED_DRAW, _LOADED_DRAW = 1_000_201, 1_000_202
"""Numbers of draws that no round of timed calls reaches."""
PLACE, LOAD, RUN, REST = "place", "load", "run", "rest"
SHARE = 64
"""At most one byte in so many of the inputs may come to the host, and of the result from it."""
SMALL_BYTES = 64
"""So many may in any case: a flag, a size, a sum."""
HIDDEN_SHARE, HIDDEN_BYTES = 8, 2**17
"""What may move besides, of the inputs or the result, or in any case."""
LAUNCH_BYTES = 2**11
"""What each launch may take in commands to the GPU: 1.6 to 1.9 kB were measured (docs/measurements.md)."""
TURNS = 3
"""How often `run` and `rest` are compared by what the GPU sends."""
LAUNCHES = 64
"""Parameters of more launches could carry a result."""

_DOORS = re.compile(
    r"HostAlloc|MallocHost|AllocHost|HostRegister|Managed|Ipc(Get|Open)|MemExportTo|ImportF|ImportExternal"
    r"|MemGetHandle|Mem(Prefetch|Advise)"
)
"""Calls after which memory of the host, or another process, is in reach of kernels."""
_POOLS = re.compile(r"MemPoolCreate|MemCreate|MemMap|Graphics(Register|Map)|Multicast")
"""Calls after which it may be."""
_PLAIN = re.compile(
    r"(cu|cuda)("
    r"Launch(Kernel|CooperativeKernel)\w*|(Get|Peek|Set|Init|Driver|Runtime|Thread|Device|Ctx|Primary)\w*|"
    r"Event\w+|Stream(Create|Destroy|Synchronize|Query|WaitEvent|Get|Is)\w*|"
    r"(Func|Kernel|Occupancy|Pointer)\w+|(Module|Library)Get\w+|"
    r"Mem(cpy|set)\w*|Mem(Alloc|Free)(Async|Pitch|FromPoolAsync)?|Malloc(Async|Pitch|3D)?|Free(Async)?|"
    r"MemGetInfo|GetDriverEntryPoint\w*"
    r")"
)
"""Calls by which data moves only as the records of copies say."""


def watch_operation(
    context: CheckContext,
    of: str,
    family: str,
    oracle: Callable[..., Any],
    tolerances: Tolerances | None = None,
) -> Watched | Call | None:
    """Call an operation, which is a function of a driver, with a family's last case on the GPU.

    Where a GPU is played, a family whose draws have other shapes decides nothing: None.
    """
    driver, _, operation = of.rpartition(".")
    loaded = cases_of(context, family, draw=_LOADED_DRAW)[-1]
    drawn = cases_of(context, family, draw=_PLACED_DRAW)[-1]
    # numbers are no arrays, and go from the host to the GPU with the call
    placed = with_arrays_of(drawn, loaded)
    if shapes_of(placed) != shapes_of(loaded) and context.simulated:
        return None
    if shapes_of(placed) != shapes_of(loaded):
        raise CourseError(f"inputs.py: {family}: must always give the same shapes, for exchanged_inputs")
    return watch_exchange(
        context,
        driver,
        replace(placed, args=(operation, *placed.args)),
        replace(loaded, args=(operation, *loaded.args)),
        (right(oracle, placed), right(oracle, loaded)),
        tolerances,
    )


def watch_exchange(
    context: CheckContext,
    driver: str,
    placed: InputCase,
    loaded: InputCase,
    expected: tuple[Any, Any],
    tolerances: Tolerances | None = None,
) -> Watched | Call:
    """Have the driver's operation called with `placed` on the device and `loaded` on the host.

    `wanted` is what is right for the one and for the other. The call itself if one of the three did not
    return.
    """
    from grader.harness.compare import compare

    nothing = replace(placed, args=(), kwargs={})
    with context.subject(driver, observed=True) as subject:
        if subject.imported.outcome is not Outcome.OBSERVED:
            return subject.imported
        for function, given in ((PLACE, placed), (LOAD, loaded), (RUN, nothing)):
            call = subject.call(function, given)
            if call.outcome is not Outcome.OBSERVED and function == PLACE:
                raise NotObservedError(f"the inputs could not be put on the GPU: {call.note}")
            if call.outcome is not Outcome.OBSERVED:
                return call
        turns = _turns(context, subject, nothing)
    if failed := next((turn.call for turn in turns if turn.call.outcome is not Outcome.OBSERVED), None):
        return failed
    sizes = bytes_of(placed.args), bytes_of(call.value)
    verdicts = [
        (*judged(_trace(run), on_placed.note, on_loaded.note, *sizes), on_placed)
        for run in (call, *(turn.call for turn in turns if turn.function == RUN))
        for on_placed, on_loaded in [[compare(run.value, verdict, tolerances) for verdict in expected]]
    ]
    # what is doubtful in the first call alone decides: the others are held against the bus
    proof, why, _ = next((verdict for verdict in verdicts if verdict[0] is Proven.HOST), verdicts[0])
    wrong = next((on_placed for _, _, on_placed in verdicts if on_placed.note), None)
    hidden = (why for turn in turns if turn.function == REST for why in _on_host(_trace(turn.call), *sizes))
    if proof is not Proven.HOST and (
        reason := next(hidden, "") or _hidden(_beside(turns), *sizes, launches=_trace(call).launch_count)
    ):
        proof, why = Proven.HOST, reason
    watched = Watched(trace=_trace(call), proof=proof, unproven=why)
    if wrong is None or proof is not Proven.DEVICE:
        return watched
    return replace(watched, wrong=wrong.note, symptom=wrong.symptom)


@dataclass(frozen=True, slots=True)
class Turn:
    """A call of `run` or of `rest`, and what the GPU has sent and received in it."""

    function: str
    call: Call
    moved: tuple[int, int]


def _turns(context: CheckContext, subject: Subject, nothing: InputCase) -> list[Turn]:
    """Call `run` and `rest` in turns of equal length, until one does not return.

    None where the GPU does not count.
    """
    turns: list[Turn] = []
    window_s = 0.0
    for function in (RUN, REST) * TURNS:
        before, begun = context.bus_bytes(), time.monotonic()
        call = subject.call(function, nothing) if before is not None else None
        if call is not None and function == REST:
            # a GPU sends about 0.2 MB in a second by itself: both are watched for as long a time
            time.sleep(max(0.0, begun + window_s - time.monotonic()))
        window_s = time.monotonic() - begun
        moved = moved_between(before, context.bus_bytes())
        if call is None or moved is None:
            return []
        turns.append(Turn(function, call, moved))
        if call.outcome is not Outcome.OBSERVED:
            break
    return turns


def _beside(turns: Sequence[Turn]) -> tuple[int, int]:
    """Return what the GPU sends and receives at least for the operation; 0 where it does not count.

    The operation alone makes the difference between `run` and `rest`: what anybody else does on the GPU shows
    in some of both.
    """
    if not turns:
        return 0, 0
    sent, received = (
        min(turn.moved[way] for turn in turns if turn.function == RUN)
        - max(turn.moved[way] for turn in turns if turn.function == REST)
        for way in (0, 1)
    )
    return max(0, sent), max(0, received)


def _trace(call: Call) -> Trace:
    return call.trace or Trace(source="none", complete=False, problem="no observer answered")


def _hidden(moved: tuple[int, int], input_bytes: int, result_bytes: int, *, launches: int) -> str:
    """Say what moved over the bus without a record; empty if it may be what launches and waits take.

    More launches than `LAUNCHES` take no more here: their parameters could carry a result.
    """
    sent, received = moved
    commands = min(launches, LAUNCHES) * LAUNCH_BYTES
    if sent > max(input_bytes // HIDDEN_SHARE, HIDDEN_BYTES):
        return f"{sent:,} bytes of which no record tells went from the GPU to the host"
    if received > max(result_bytes // HIDDEN_SHARE, HIDDEN_BYTES) + commands:
        return f"{received:,} bytes of which no record tells went from the host to the GPU"
    return ""


def judged(
    trace: Trace, not_placed: str, not_loaded: str, input_bytes: int, result_bytes: int
) -> tuple[Proven, str]:
    """Where a result was made, and why that is not the device.

    `not_placed` is how the result differs from what is right for the inputs on the device, `not_loaded` from
    what is right for those that the host has.
    """
    for why in _on_host(trace, input_bytes, result_bytes):
        return Proven.HOST, why
    if not_placed and not not_loaded:
        return Proven.HOST, FOLLOWS_HOST
    unknown = sorted(
        {name for name in trace.api if not _PLAIN.fullmatch(name)}
        | {name for name in (*trace.api, *trace.api_before) if _POOLS.search(name)}
    )
    untold = "api_before" in trace.unseen
    doubts = (
        (untold, f"{trace.source} does not tell which memory kernels reach; install cupti-python"),
        (bool(unknown), f"it called {', '.join(unknown[:1])}, of which the records of copies tell nothing"),
        (trace.unrecorded > 0, f"{trace.unrecorded} calls of CUDA are missing in the records"),
        (trace.launch_count > LAUNCHES, f"it launched {trace.launch_count} kernels, more than {LAUNCHES}"),
    )
    for doubtful, why in doubts:
        if doubtful:
            return Proven.UNCLEAR, why
    return Proven.DEVICE, ""


def _on_host(trace: Trace, input_bytes: int, result_bytes: int) -> Iterator[str]:
    """Yield signs that the host did the work, or a part of it."""
    doors = [name for name in (*trace.api, *trace.api_before) if _DOORS.search(name)]
    if doors:
        yield f"{min(doors)} gives kernels memory of the host, and nobody can see what is done there"
    most = {"device_to_host": result_bytes + _small(input_bytes), "host_to_device": _small(result_bytes)}
    copied = {way: trace.copies[way].bytes if way in trace.copies else 0 for way in most}
    if copied["device_to_host"] > most["device_to_host"]:
        yield f"{copied['device_to_host'] - result_bytes:,} bytes were copied from the GPU to the host"
    if copied["host_to_device"] > most["host_to_device"]:
        yield f"{copied['host_to_device']:,} bytes were copied from the host to the GPU"


def _small(size: int) -> int:
    return max(size // SHARE, SMALL_BYTES)


def bytes_of(value: Any) -> int:
    """The bytes of all arrays in a value."""
    if isinstance(value, Mapping):
        return sum(map(bytes_of, value.values()))
    if isinstance(value, (list, tuple)):
        return sum(map(bytes_of, value))
    return int(getattr(value, "nbytes", 0))
