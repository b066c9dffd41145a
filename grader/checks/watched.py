"""One call under observation: what it did on its device, and whether its result depends on that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from grader.bench.tolerance import Tolerances
from grader.checks.calls import cases_of
from grader.config.codec import from_plain
from grader.model.observation import Outcome, Quantity
from grader.model.score import Award
from grader.model.trace import Trace, Watched

if TYPE_CHECKING:
    from grader.bench.bench import Bench, Call, InputCase

WATCHED = "watched"
"""Under which name it stands among the facts of an observation."""
_FIRST_DRAW, _SECOND_DRAW = 1_000_001, 1_000_002
"""Numbers of draws that no round of timed calls reaches: what is observed is of the same kind, and new."""


def watch(
    bench: Bench,
    of: str,
    family: str,
    oracle: Callable[..., Any],
    tolerances: Tolerances | None = None,
) -> Watched | Call:
    """Call a function under observation; the call itself if it did not return.

    A second call with other inputs follows, in which the kernels of numba are kept from running: whatever is
    right then was not computed by them. Other inputs, because memory that was freed may still hold what the
    first call left there.
    """
    from grader.bench.compare import compare

    def right(case: InputCase, call: Call) -> str:
        wanted = oracle(*deepcopy(case.args), **deepcopy(dict(case.kwargs)))
        return compare(call.value, wanted, tolerances).note

    module, _, function = of.rpartition(".")
    first = cases_of(bench, family, draw=_FIRST_DRAW)[-1]
    with bench.subject(module, observed=True) as subject:
        if subject.imported.outcome is not Outcome.OBSERVED:
            return subject.imported
        call = subject.call(function, first)
        if call.outcome is not Outcome.OBSERVED:
            return call
        trace = call.trace or Trace(source="none", complete=False, problem="no observer answered")
        wrong = right(first, call)
        if wrong or not trace.framework_launches:
            return Watched(trace=trace, wrong=wrong)
        second = cases_of(bench, family, draw=_SECOND_DRAW)[-1]
        without = subject.call(function, second, withhold=True)
        if without.trace is not None and without.trace.launch_count:
            return Watched(trace=trace)  # some are none of numba's, and cannot be kept from running
        dependent = without.outcome is not Outcome.OBSERVED or bool(right(second, without))
        return Watched(trace=trace, right_without_kernels=not dependent)


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
    if not trace.complete:
        return ""
    if not trace.launch_count:
        return "no kernel was launched: the work was done on the CPU"
    if watched.right_without_kernels:
        return "the result is right even if no kernel runs: the work was done on the CPU"
    return ""


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
