"""One call under observation: what it did on its device, and whether its result depends on that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from grader.checks.calls import cases_of
from grader.config.codec import from_plain, to_plain
from grader.harness.tolerance import Tolerances
from grader.model.observation import Outcome, Quantity
from grader.model.score import Award
from grader.model.trace import Exchanged, Proven, Series, Trace, Watched

if TYPE_CHECKING:
    from grader.contracts.call import Call, InputCase
    from grader.contracts.context import CheckContext, Proof
    from grader.harness.compare import Comparison

NOTE: Proof = "note"
NOTHING: Proof = ""
_COPIES_OF_RESULT = 4
"""So often may a result come to the host, as it is or in other types; a driver reads it as well."""
FOLLOWS_HOST = "the result follows what the CPU holds, whatever lies on the GPU"
WATCHED = "watched"
"""Under which name it stands among the facts of an observation."""
_NOTED_DRAW, _PLAIN_DRAW, _EXCHANGED_DRAW = 1_000_001, 1_000_002, 1_000_003
"""Numbers of draws that no round of timed calls reaches: what is observed is of the same kind, and new."""
LEAST_SHARE = 0.9
"""Of the bytes that an observed call copies, a timed one must copy so many."""
LEAST_TIME, KERNELS_APART_S = 0.15, 1e-5
"""Of the time of its kernels so much, for a GPU that was idle has a sixth of its clock; and kernels of 10 µs
are never twice the same."""
DRAWS = 100
"""Of so many draws one must have the shapes of the noted one."""


def watch(
    context: CheckContext,
    of: str,
    family: str,
    oracle: Callable[..., Any],
    tolerances: Tolerances | None = None,
) -> Watched | Call:
    """Call a function under observation; the call itself if it did not return.

    Where numba launches kernels, what they get is noted in the first call. A second one, on other inputs, is
    what is seen of the program; what the first one left in memory is gone then. In a third, on others again,
    the kernels get the inputs of the first in place of their own: where the result was made shows in whose
    it is right for. Both have the same shapes; where no draw has, that is not tried.
    """
    from grader.harness.compare import compare

    def compared(case: InputCase, call: Call) -> Comparison:
        return compare(call.value, right(oracle, case), tolerances)

    module, _, function = of.rpartition(".")
    noted, plain = (cases_of(context, family, draw=draw)[-1] for draw in (_NOTED_DRAW, _PLAIN_DRAW))
    with context.subject(module, observed=not records_any_call(context)) as subject:
        if subject.imported.outcome is not Outcome.OBSERVED:
            return subject.imported
        # a simulator poisons memory that nobody wrote, and does not count what is read for the note
        for case, proof in ((noted, NOTE),) if context.simulated else ((noted, NOTE), (plain, NOTHING)):
            call = subject.call(function, case, proof=proof)
            if call.outcome is not Outcome.OBSERVED:
                return call
            trace = call.trace or Trace(source="none", complete=False, problem="no observer answered")
            result = compared(case, call)
            if not result.agrees:
                return Watched(trace=trace, wrong=result.note, symptom=result.symptom)
            if not trace.framework_launches:
                return _past_numba(trace)
        exchanged = alike(context, family, noted, _EXCHANGED_DRAW)
        if exchanged is None:
            return Watched(trace=trace)
        last = subject.call(function, exchanged, proof="exchange")
        made, why = where_made(last, compared(noted, last).note, compared(exchanged, last).note)
        return Watched(trace=trace, proof=made, unproven=why)


def records_any_call(context: CheckContext) -> bool:
    """Whether calls are recorded in the children whose calls are timed as well; CUPTI alone can do that."""
    return context.simulated or find_spec("cupti") is not None


def _past_numba(trace: Trace) -> Watched:
    """Nothing is exchanged in what numba does not launch; where it is at hand, others hide that from it."""
    if trace.framework_launches is None or not trace.launch_count:
        return Watched(trace=trace)
    return Watched(trace=trace, proof=Proven.UNCLEAR, unproven="its kernels were not launched by numba")


def alike(context: CheckContext, family: str, noted: InputCase, first: int) -> InputCase | None:
    """Draw a case whose arrays have the shapes of the noted one's, from draw `first` on; None if none has."""
    for draw in range(first, first + DRAWS):
        case = cases_of(context, family, draw=draw)[-1]
        if shapes_of(case) == shapes_of(noted):
            return case
    return None


def shapes_of(case: InputCase) -> list[Any]:
    """The shapes of a case's arguments, also within lists and dicts; None for what is no array."""
    return [_shape_of(value) for value in (*case.args, *case.kwargs.values())]


def _shape_of(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _shape_of(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_shape_of(part) for part in value]
    return getattr(value, "shape", None)


def where_made(call: Call, not_noted: str, not_own: str) -> tuple[Proven, str]:
    """Where a result was made whose kernels got the noted inputs, and why that is not clear.

    `not_noted` is how it differs from what is right for these, `not_own` for the call's own.
    """
    shown = (call.trace and call.trace.exchange) or Exchanged(arrays=0, problem="nothing was exchanged")
    by_host, by_device = not not_own, not not_noted
    doubts = (
        (call.outcome is not Outcome.OBSERVED, call.note),
        (bool(shown.problem), shown.problem),
        (by_host and by_device, "the results for both inputs are the same"),
        (not by_host and not by_device, "it is right for neither inputs"),
        (by_device and not shown.arrays, "no argument of a kernel carries the inputs"),
        (by_device and not shown.written, "no kernel wrote what was returned"),
    )
    for doubtful, why in doubts:
        if doubtful:
            return Proven.UNCLEAR, why
    return (Proven.HOST if by_host else Proven.DEVICE), ""


def where_torch_computed(
    call: Call, not_noted: str, not_own: str, input_bytes: int, result_bytes: int
) -> tuple[Proven, str]:
    """Where a result was made whose inputs torch copied to the devices as the noted ones, and why not there.

    `not_noted` is how it differs from what is right for these, `not_own` for the call's own.
    """
    trace = call.trace or Trace(source="none", complete=False)
    sent, returned = (
        trace.copies[way].bytes if way in trace.copies else 0 for way in ("host_to_device", "device_to_host")
    )
    by_host, by_device = not not_own, not not_noted
    exchanged = trace.exchange is not None and trace.exchange.arrays > 0
    doubts = (
        (call.outcome is not Outcome.OBSERVED, call.note),
        (by_host and by_device, "the results for both inputs are the same"),
        (not by_host and not by_device, "it is right for neither inputs"),
        (
            by_host and not exchanged and sent >= input_bytes // 2,
            "nothing that was copied to the devices carries the inputs",
        ),
        (
            by_device and returned > _COPIES_OF_RESULT * result_bytes + input_bytes,
            f"{returned:,} bytes were copied to the host, many times the result",
        ),
    )
    for doubtful, why in doubts:
        if doubtful:
            return Proven.UNCLEAR, why
    return (Proven.HOST, FOLLOWS_HOST) if by_host else (Proven.DEVICE, "")


def with_arrays_of(drawn: InputCase, noted: InputCase) -> InputCase:
    """Take the arrays of one case and everything else of another, which has the same arguments."""
    return replace(
        drawn,
        args=tuple(map(_arrays_of, drawn.args, noted.args)),
        kwargs={name: _arrays_of(value, noted.kwargs[name]) for name, value in drawn.kwargs.items()},
    )


def _arrays_of(drawn: Any, noted: Any) -> Any:
    if isinstance(drawn, Mapping):
        return {name: _arrays_of(part, noted[name]) for name, part in drawn.items()}
    if isinstance(drawn, (list, tuple)):
        return type(drawn)(map(_arrays_of, drawn, noted))
    return drawn if hasattr(drawn, "shape") else noted


def right(oracle: Callable[..., Any], case: InputCase) -> Any:
    """Call an oracle with a copy of a case, which it may change."""
    return oracle(*case.args, **case.kwargs)


def watched_of(facts: Mapping[str, Any]) -> Watched | None:
    """Decode the record among an observation's facts; None if the call was not watched."""
    plain = facts.get(WATCHED)
    return None if plain is None else from_plain(Watched, to_plain(plain), where=WATCHED)


def unrecorded(what: str, watched: Watched | None) -> Award:
    """Open, and looked at again: nothing was recorded, or the record has a hole. `what` could not be seen."""
    problem = watched.trace.problem if watched else "nothing was recorded"
    return Award(fraction=0.0, reason=f"{what}: {problem}", undecided=True, again=True)


def idle_device(watched: Watched) -> str:
    """How it is known that the device did not do the work, in one sentence; empty if it did."""
    trace, series = watched.trace, watched.series
    if watched.proof is Proven.HOST and watched.unproven:  # what shows it is named, and no hole in a record
        return f"{watched.unproven}: the work was done on the CPU"
    if not trace.complete:
        return ""
    for proof, where in ((watched.proof, ""), (series and series.proof, "in a call among the timed ones ")):
        if proof is Proven.HOST:
            return f"{where}{FOLLOWS_HOST}: the work was done on the CPU"
    if series and series.calls and not series.void and not series.launches:
        return "a timed call launched no kernel: its work was done on the CPU"
    if not trace.launch_count and watched.proof is not Proven.DEVICE:
        return "no kernel was launched: the work was done on the CPU"
    return ""


def idle_or_wrong(watched: Watched) -> str:
    """Say why an observed call earns nothing; empty if the device worked and the result was right."""
    wrong = f"the result of the observed call is wrong: {watched.wrong}" if watched.wrong else ""
    return idle_device(watched) or wrong


def unproven(watched: Watched) -> Award | None:
    """Open until a person has looked, where it is not clear where the result was made; otherwise None."""
    why = watched.unproven if watched.proof is Proven.UNCLEAR else _doubt(watched)
    if not why:
        return None
    flag = f"unproven: {why}"
    reason = f"a person looks: it is not clear that the GPU does the work ({why})"
    return Award(fraction=0.0, reason=reason, flags=(flag,), undecided=True)


def _doubt(watched: Watched) -> str:
    """Return a doubt that the timed calls leave; empty if there is none.

    An observed call of the same program is the measure: with fewer launches, with kernels that take much less
    time, or with fewer bytes copied, the result was made in another way there. Where no inputs can be
    exchanged the observed call is the first one, in which a program may do more. What its inputs and its
    result hold a call has to copy in any case, as far as the reference does: a program may know the observed
    call, and have the CPU do the work in that one and in those that are timed.
    """
    series, trace = watched.series, watched.trace
    if series is None or watched.proof is None:
        return ""
    if series.proof is Proven.UNCLEAR:
        return f"among the timed calls: {series.unproven}"
    if broken := series.contradiction or series.void or ("" if series.calls else "no records"):
        return f"timed calls: {broken}"
    if series.launches < trace.launch_count:
        return f"a timed call launched {series.launches} kernels, the observed one {trace.launch_count}"
    return _less_copied(series, trace) or _less_than_needed(series) or _less_computed(series, trace)


def _less_copied(series: Series, trace: Trace) -> str:
    by_record = ("a timed call copied", series.to_device_bytes, series.to_host_bytes)
    by_bus = ("for a timed call the bus carried", series.bus_to_device_bytes, series.bus_to_host_bytes)
    for who, to_device, to_host in (by_record, by_bus):
        for direction, least in (("host_to_device", to_device), ("device_to_host", to_host)):
            copied = trace.copies.get(direction)
            if copied and least is not None and least < LEAST_SHARE * copied.bytes:
                way = direction.replace("_", " ")
                return f"{who} {least:,} bytes {way}, and the observed one copied {copied.bytes:,}"
    return ""


def _less_than_needed(series: Series) -> str:
    """Say that timed calls moved less than their inputs and results hold; empty if they moved enough.

    What the bus carried counts before records: kernels may read memory of the host, which no record shows.
    """
    for way, bus, record, holds, reference in (
        (
            "to the device",
            series.bus_to_device_bytes,
            series.to_device_bytes,
            series.needed_to_device_bytes,
            series.reference_to_device_bytes,
        ),
        (
            "to the host",
            series.bus_to_host_bytes,
            series.to_host_bytes,
            series.needed_to_host_bytes,
            series.reference_to_host_bytes,
        ),
    ):
        moved, needed = record if bus is None else bus, min(holds, reference)
        if moved < LEAST_SHARE * needed:
            return f"a timed call moved {moved:,} bytes {way}, and what it must move is at least {needed:,}"
    return ""


def _less_computed(series: Series, trace: Trace) -> str:
    observed_s = sum(launch.seconds or 0.0 for launch in trace.launches)
    if series.kernels_s is None or series.kernels_s >= LEAST_TIME * observed_s - KERNELS_APART_S:
        return ""
    return (
        f"kernels ran for {series.kernels_s:.2g} s in a timed call, for {observed_s:.2g} s in an observed one"
    )


def off_the_device(watched: Watched) -> Award | None:
    """Judge whether the device did the work: 0 if not, open if nobody can tell yet, None if it did.

    A result that is wrong for the new inputs of the observed calls is none of work: it was kept, or guessed.
    """
    if watched.wrong:
        return Award(fraction=0.0, reason=f"called again with new inputs: {watched.wrong}")
    if idle := idle_device(watched):
        return Award(fraction=0.0, reason=idle)
    if not watched.trace.complete:
        return unrecorded("it could not be seen whether the GPU does the work", watched)
    return unproven(watched)


def trace_quantities(trace: Trace) -> Iterator[tuple[str, Quantity]]:
    """Yield the quantities of a trace."""
    if not trace.complete:
        return
    yield "launches", Quantity(value=trace.launch_count, unit="launches")
    seconds = [launch.seconds for launch in trace.launches if launch.seconds is not None]
    if seconds:
        yield "kernels_s", Quantity(value=sum(seconds), unit="s")
    for direction, copies in trace.copies.items():
        yield f"{direction}_bytes", Quantity(value=copies.bytes, unit="bytes")
        if copies.seconds is not None:
            yield f"{direction}_s", Quantity(value=copies.seconds, unit="s")
