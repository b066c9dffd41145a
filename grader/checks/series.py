"""Exchanges among timed calls: in bursts that a program cannot tell from those whose time counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median_low
from typing import TYPE_CHECKING

import numpy as np

from grader.checks.calls import cases_of
from grader.checks.plausible import fewest_bytes, fewest_result_bytes
from grader.checks.watched import DRAWS, LEAST_SHARE, alike, records_any_call, where_made
from grader.cuda.traffic import Counts, moved_between
from grader.model.observation import Outcome
from grader.model.trace import Proven, Series, Trace, Traffic

if TYPE_CHECKING:
    from grader.checks.calls import Oracle
    from grader.contracts.call import Call, InputCase
    from grader.contracts.context import CheckContext, Proof, Subject

LEAST, MOST = 4, 6
"""So many exchanges are made beside one measurement. A program that lets the CPU compute in every other
timed call, which a median needs, passes four of them once in 16 times; then its records are left."""
SHARE = 1 / 3
"""The probability that the next burst is an exchange's, whatever the ones before were."""
WHERE_COUNTED = 0.75
"""The probability that an exchange takes a place of a call that counts in other bursts, and not just any."""
FROM_THE_FIRST = 0.5
"""The probability that of several launches that get inputs already the first one gets other ones."""
IDLE_LAUNCHES = "what its later launches get makes no difference"
FIRST_CALLS = 3
"""So long are bursts as far as nothing was timed yet."""
_FIRST_DRAW = 2_000_000
"""Numbers of draws that no timed call reaches."""


class SeriesProof:
    """Exchanges inputs in calls among the timed ones of one function, and gathers the records of all of them.

    Whether the next burst is one of these is drawn anew each time, and so is the place of the exchange in it;
    at the launch, and not before, the program's own observer is told. What went before says nothing.
    """

    def __init__(
        self,
        context: CheckContext,
        subject: Subject,
        function: str,
        family: str,
        oracle: Oracle,
        *,
        exchanges: bool = True,
    ) -> None:
        """Without `exchanges` only records are gathered: of the reference, and of kernels past numba."""
        self._recorded = records_any_call(context)
        self._context = context
        self._subject = subject
        self._function = function
        self._family = family
        self._oracle = oracle
        self._rng = np.random.default_rng([int(context.seed, 16), _FIRST_DRAW])
        self._draws = _FIRST_DRAW
        self._noted: InputCase | None = None
        self._carrying = 0
        """How many launches of the noted call got inputs."""
        self._shown: list[tuple[Proven, str]] = []
        self._traces: list[Trace] = []
        self._void = ""
        self._contradiction = ""
        self._seconds: list[float] = []
        self._needed = 0, 0
        self._counts: Counts | None = None
        self._buses: list[tuple[int, int] | None] = []
        """What the bus carried for each call of a burst, to the device and from it."""
        self._burst_calls = self._counted_calls = FIRST_CALLS
        subject.records()  # of the items before
        self._off = not exchanges

    def before(self) -> None:
        """Perhaps make exchanges, before calls that count."""
        while not self._off and len(self._shown) < MOST and self._rng.random() < SHARE:
            self._burst()
        self._counts = self._context.bus_bytes()

    def after(self, calls: Sequence[Call], *, counted: int) -> None:
        """Take the records of the calls since then, of which so many count, the last ones."""
        self._buses.append(_carried(self._counts, self._context.bus_bytes(), len(calls)))
        records = self._subject.records()
        self._burst_calls, self._counted_calls = len(calls), counted
        traces = records[-len(calls) :]
        self._seconds += [call.wall_s for call in calls]
        if len(traces) != len(calls):
            self._void = f"{len(calls)} calls, and records of {len(traces)}"
        for call, trace in zip(calls, traces, strict=False):
            self._void = self._void or (trace.problem if self._recorded else "")
            self._contradiction = self._contradiction or contradiction(call, trace)
            self._traces.append(trace)

    def finish(self) -> None:
        """Make the exchanges that are missing: the program does not know that nothing is timed any more."""
        while not self._off and len(self._shown) < LEAST:
            self._burst()

    @property
    def series(self) -> Series:
        """Return the series of all records."""
        order = (Proven.HOST, Proven.UNCLEAR, Proven.DEVICE)
        worst = min(self._shown, key=lambda entry: order.index(entry[0]), default=(None, ""))
        traces = self._traces
        seconds = [_kernels_s(trace) for trace in traces]
        values = [entry for entry in seconds if entry is not None]
        return Series(
            calls=len(self._seconds),
            launches=min(map(self._launches, traces), default=0),
            kernels_s=median_low(values) if values and len(values) == len(seconds) else None,
            to_device_bytes=min((_bytes(trace, "host_to_device") for trace in traces), default=0),
            to_host_bytes=min((_bytes(trace, "device_to_host") for trace in traces), default=0),
            bus_to_device_bytes=self._bus(0),
            bus_to_host_bytes=self._bus(1),
            needed_to_device_bytes=self._needed[0],
            needed_to_host_bytes=self._needed[1],
            call_s=median_low(self._seconds) if self._seconds else None,
            void=self._void,
            contradiction=self._contradiction,
            exchanges=len(self._shown),
            proof=worst[0],
            unproven=worst[1],
        )

    def _bus(self, direction: int) -> int | None:
        """The least of a burst; None where that is not known of all."""
        values = [bus[direction] for bus in self._buses if bus is not None]
        return min(values) if values and len(values) == len(self._buses) else None

    def _launches(self, trace: Trace) -> int:
        """Without CUPTI, by numba's own account."""
        return trace.launch_count if self._recorded else len(trace.framework_launches or ())

    def _burst(self) -> None:
        """Some calls as they are, and one whose kernels are noted or get what was noted."""
        plain = [self._draw() for _ in range(self._place())]
        if self._noted is None:
            case: InputCase | None = self._draw()
        else:
            case = alike(self._context, self._family, self._noted, self._next(DRAWS))
        if case is None:
            self._off = True
            return
        proof: Proof = "note" if self._noted is None else "exchange"
        skip = self._skip()
        call = self._subject.burst(self._function, [*plain, case], proof=proof, skip=skip).calls[-1]
        if self._noted is None:
            self._note(case, call)
        elif skip and call.outcome is Outcome.OBSERVED:
            # what comes of other inputs in some launches is neither result, unless these did no work
            idle = not self._wrong(case, call)
            self._shown.append((Proven.UNCLEAR, IDLE_LAUNCHES) if idle else (Proven.DEVICE, ""))
        else:
            self._shown.append(where_made(call, self._wrong(self._noted, call), self._wrong(case, call)))
        self._off = not self._subject.alive

    def _note(self, case: InputCase, call: Call) -> None:
        """Take a right call for the one whose inputs others get, with what it had to copy."""
        if call.outcome is Outcome.OBSERVED:
            expected = self._oracle(*case.args, **case.kwargs)
            if not self._oracle.compared(call.value, expected).note:
                self._noted = case
                exchange = call.trace and call.trace.exchange
                self._carrying = len(exchange.carrying) if exchange else 0
                inputs = (*case.args, *case.kwargs.values())
                self._needed = int(fewest_bytes(inputs)), int(fewest_result_bytes(call.value, expected))
                return
        self._shown.append((Proven.UNCLEAR, call.note or "a call that is not timed is wrong"))

    def _place(self) -> int:
        """How many calls come before an exchange in its burst; those that count come last in other bursts."""
        among = self._counted_calls if self._rng.random() < WHERE_COUNTED else self._burst_calls
        return self._burst_calls - 1 - int(self._rng.integers(among))

    def _skip(self) -> int:
        """How many launches keep their inputs: where several get some, each is the first one at times.

        A first launch with some inputs may only be there to see what becomes of it.
        """
        if self._noted is None or self._carrying < 2 or self._rng.random() < FROM_THE_FIRST:
            return 0
        return int(self._rng.integers(1, self._carrying))

    def _next(self, count: int = 1) -> int:
        self._draws += count
        return self._draws - count

    def _draw(self) -> InputCase:
        return cases_of(self._context, self._family, draw=self._next())[-1]

    def _wrong(self, case: InputCase, call: Call) -> str:
        return self._oracle.compared(call.value, self._oracle(*case.args, **case.kwargs)).note


def series_of(proofs: Sequence[SeriesProof], controls: Sequence[SeriesProof]) -> Series | None:
    """Return the last series, or an earlier one in which the CPU did the work; None without any.

    `controls` are of the reference beside them: a bus whose count does not show their copies tells nothing,
    and nobody has to copy more than they do.
    """
    every = [proof.series for proof in proofs]
    if not every:
        return None
    chosen = next((entry for entry in every if entry.proof is Proven.HOST), every[-1])
    references = [control.series for control in controls]
    chosen = replace(
        chosen,
        reference_to_device_bytes=min((entry.to_device_bytes for entry in references), default=0),
        reference_to_host_bytes=min((entry.to_host_bytes for entry in references), default=0),
    )
    if all(map(_counts_copies, references)):
        return chosen
    return replace(chosen, bus_to_device_bytes=None, bus_to_host_bytes=None)


def _carried(before: Counts | None, after: Counts | None, calls: int) -> tuple[int, int] | None:
    """Return the bytes on the bus of one device for each call, to it and from it."""
    moved = moved_between(before, after)
    if moved is None or len(after or ()) != 1:
        return None
    sent, received = moved
    return received // calls, sent // calls


def _counts_copies(series: Series) -> bool:
    """Whether the driver's count of what the bus carried shows the copies of a program that is ours."""
    pairs = (
        (series.bus_to_device_bytes, series.to_device_bytes),
        (series.bus_to_host_bytes, series.to_host_bytes),
    )
    return all(bus is not None and bus >= LEAST_SHARE * copied > 0 for bus, copied in pairs)


def contradiction(call: Call, trace: Trace) -> str:
    """Return how a timed call's record contradicts the launches counted outside; empty if it does not."""
    by_numba = trace.framework_launches
    if by_numba is None:
        return ""
    if bool(by_numba) != bool(call.launches_asked):
        return f"numba's account has {len(by_numba)} launches, and {call.launches_asked} were announced"
    if call.launches_asked > len(by_numba):
        return f"{call.launches_asked} launches were announced, and numba made {len(by_numba)}"
    return ""


def _kernels_s(trace: Trace) -> float | None:
    seconds = [launch.seconds for launch in trace.launches]
    return None if None in seconds else sum(entry for entry in seconds if entry is not None)


def _bytes(trace: Trace, direction: str) -> int:
    return trace.copies.get(direction, Traffic(count=0, bytes=0)).bytes
