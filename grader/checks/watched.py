"""One call under observation: what it did on its device, and whether its result depends on that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from grader.bench.tolerance import Tolerances
from grader.checks.calls import cases_of
from grader.config.codec import from_plain
from grader.model.observation import Outcome, Quantity
from grader.model.score import Award
from grader.model.trace import Exchanged, Proven, Trace, Watched

if TYPE_CHECKING:
    from grader.bench.bench import Bench, Call, InputCase, Proof

NOTE: Proof = "note"
NOTHING: Proof = ""
_COPIES_OF_RESULT = 4
"""So often may a result come to the host, as it is or in other types; a driver reads it as well."""
FOLLOWS_HOST = "the result follows what the CPU holds, whatever lies on the GPU"
WATCHED = "watched"
"""Under which name it stands among the facts of an observation."""
_NOTED_DRAW, _PLAIN_DRAW, _EXCHANGED_DRAW = 1_000_001, 1_000_002, 1_000_003
"""Numbers of draws that no round of timed calls reaches: what is observed is of the same kind, and new."""
_DRAWS = 100
"""Of so many draws one must have the shapes of the noted one."""


def watch(
    bench: Bench,
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
    from grader.bench.compare import compare

    def wrong(case: InputCase, call: Call) -> str:
        return compare(call.value, right(oracle, case), tolerances).note

    module, _, function = of.rpartition(".")
    noted, plain = (cases_of(bench, family, draw=draw)[-1] for draw in (_NOTED_DRAW, _PLAIN_DRAW))
    with bench.subject(module, observed=True) as subject:
        if subject.imported.outcome is not Outcome.OBSERVED:
            return subject.imported
        # a simulator poisons memory that nobody wrote, and does not count what is read for the note
        for case, proof in ((noted, NOTE),) if bench.simulated else ((noted, NOTE), (plain, NOTHING)):
            call = subject.call(function, case, proof=proof)
            if call.outcome is not Outcome.OBSERVED:
                return call
            trace = call.trace or Trace(source="none", complete=False, problem="no observer answered")
            if (difference := wrong(case, call)) or not trace.framework_launches:
                return Watched(trace=trace, wrong=difference)
        exchanged = _alike(bench, family, noted)
        if exchanged is None:
            return Watched(trace=trace)
        last = subject.call(function, exchanged, proof="exchange")
        told, why = _where_made(last, wrong(noted, last), wrong(exchanged, last))
        return Watched(trace=trace, proof=told, unproven=why)


def _alike(bench: Bench, family: str, noted: InputCase) -> InputCase | None:
    """A new case whose arrays have the shapes of the noted one's; None if none is drawn."""
    for draw in range(_EXCHANGED_DRAW, _EXCHANGED_DRAW + _DRAWS):
        case = cases_of(bench, family, draw=draw)[-1]
        if shapes_of(case) == shapes_of(noted):
            return case
    return None


def shapes_of(case: InputCase) -> list[Any]:
    """The shapes of a case's arguments, None for those that are no arrays."""
    return [getattr(value, "shape", None) for value in (*case.args, *case.kwargs.values())]


def _where_made(call: Call, not_noted: str, not_own: str) -> tuple[Proven, str]:
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
    if isinstance(drawn, (list, tuple)):
        return type(drawn)(map(_arrays_of, drawn, noted))
    return drawn if hasattr(drawn, "shape") else noted


def right(oracle: Callable[..., Any], case: InputCase) -> Any:
    """What an oracle gives for a case, of which it may change its own copy."""
    return oracle(*deepcopy(case.args), **deepcopy(dict(case.kwargs)))


def watched_of(facts: Mapping[str, Any]) -> Watched | None:
    """What an observation's facts hold of it; None if the call was not watched."""
    plain = facts.get(WATCHED)
    return None if plain is None else from_plain(Watched, plain, where=WATCHED)


def unrecorded(what: str, watched: Watched | None) -> Award:
    """Open, and looked at again: nothing was recorded, or the record has a hole. `what` could not be seen."""
    problem = watched.trace.problem if watched else "nothing was recorded"
    return Award(fraction=0.0, reason=f"{what}: {problem}", undecided=True, again=True)


def idle_device(watched: Watched) -> str:
    """How it is known that the device did not do the work, in one sentence; empty if it did."""
    trace = watched.trace
    if watched.proof is Proven.HOST and watched.unproven:  # what shows it is named, and no hole in a record
        return f"{watched.unproven}: the work was done on the CPU"
    if not trace.complete:
        return ""
    if watched.proof is Proven.HOST:
        return f"{FOLLOWS_HOST}: the work was done on the CPU"
    if not trace.launch_count and watched.proof is not Proven.DEVICE:
        return "no kernel was launched: the work was done on the CPU"
    return ""


def idle_or_wrong(watched: Watched) -> str:
    """Say why an observed call earns nothing; empty if the device worked and the result was right."""
    wrong = f"the result of the observed call is wrong: {watched.wrong}" if watched.wrong else ""
    return idle_device(watched) or wrong


def unproven(watched: Watched) -> Award | None:
    """Open until a person has looked, where it is not clear where the result was made; otherwise None."""
    if watched.proof is not Proven.UNCLEAR:
        return None
    flag = f"unproven: {watched.unproven}"
    reason = f"a person looks: it is not clear that the GPU does the work ({watched.unproven})"
    return Award(fraction=0.0, reason=reason, flags=(flag,), undecided=True)


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
    """What a page shows of a trace."""
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
