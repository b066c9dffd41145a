"""One call under observation is followed by one without kernels, and only what was seen is concluded."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from grader.bench.bench import Call, InputCase
from grader.bench.tolerance import Tolerance, Tolerances
from grader.checks.watched import WATCHED, Watched, idle_device, trace_quantities, watch, watched_of
from grader.config.codec import to_plain
from grader.errors import CourseError
from grader.model.observation import Outcome
from grader.model.trace import Launch, Trace, Traffic

LAUNCH = Launch(kernel="double_kernel", grid=(4, 1, 1), block=(8, 1, 1))
BY_NUMBA = Trace(source="cupti", launches=(LAUNCH,), launch_count=1, framework_launches=(LAUNCH,))
BY_OTHERS = Trace(source="cupti", launches=(LAUNCH,), launch_count=1)
RETURNED = Call(outcome=Outcome.OBSERVED)
CRASHED = Call(outcome=Outcome.CRASHED, note="double(): ValueError: no")


def double(x):
    return 2 * x


@dataclass
class ObservedSubject:
    """Answers with what `program` makes of a call: a value, or a Call of its own."""

    program: Callable[[Any, bool], Any]
    trace: Trace | None
    imported: Call = RETURNED
    calls: list[tuple[str, Any, bool]] = field(default_factory=list)
    out_of_reach: bool = False
    """Whether its kernels run even if they are withheld: they are not numba's."""

    def call(self, function: str, case: InputCase, *, withhold: bool = False) -> Call:
        (x,) = case.args
        self.calls.append((function, x, withhold))
        value = self.program(x, withhold)
        if isinstance(value, Call):
            return value
        trace = self.trace
        if trace is not None and withhold and not self.out_of_reach:
            trace = replace(trace, launches=(), launch_count=0)
        return Call(outcome=Outcome.OBSERVED, value=value, trace=trace)


@dataclass
class ObservedBench:
    """Every draw gives cases of its own."""

    subject_of: ObservedSubject
    cases: int = 1
    opened: list[tuple[str, bool]] = field(default_factory=list)

    def draw(self, family: str, number: int) -> tuple[InputCase, ...]:
        assert family == "numbers"
        return tuple(InputCase(name=f"case {i}", args=(number + i / 8,)) for i in range(self.cases))

    @contextmanager
    def subject(self, module: str, *, observed: bool = False) -> Iterator[ObservedSubject]:
        self.opened.append((module, observed))
        yield self.subject_of


def bench_of(program, trace=BY_NUMBA, *, cases=1, imported=RETURNED):
    return ObservedBench(ObservedSubject(program, trace, imported), cases)


def on_the_device(x, withhold):
    return -1.0 if withhold else 2 * x


def on_the_cpu(x, withhold):
    return 2 * x


def watching(bench, oracle=double, tolerances=None):
    return watch(bench, "work.double", "numbers", oracle, tolerances)


def test_the_file_is_imported_once_with_an_observer_beside_it():
    bench = bench_of(on_the_device)
    watching(bench)
    assert bench.opened == [("work", True)]


def test_a_second_call_without_kernels_has_inputs_of_its_own():
    bench = bench_of(on_the_device, cases=3)
    watching(bench)
    (function, first, withheld_first), (again, second, withheld_second) = bench.subject_of.calls
    assert (function, again) == ("double", "double")
    assert (withheld_first, withheld_second) == (False, True)
    assert first != second
    assert first % 1 == second % 1 == 2 / 8, "the last case of the family"


def test_what_no_round_of_timed_calls_reaches_is_drawn():
    bench = bench_of(on_the_device)
    watching(bench)
    assert min(x for _, x, _ in bench.subject_of.calls) > 10**6


def test_nothing_is_concluded_from_kernels_that_could_not_be_withheld():
    bench = bench_of(on_the_cpu)
    bench.subject_of.out_of_reach = True
    assert watching(bench).right_without_kernels is None


@pytest.mark.parametrize(
    ("program", "right_without_kernels"),
    [
        (on_the_device, False),
        (on_the_cpu, True),
        (lambda x, withhold: CRASHED if withhold else 2 * x, False),
    ],
)
def test_what_is_right_without_kernels_did_not_come_from_them(program, right_without_kernels):
    watched = watching(bench_of(program))
    assert watched == Watched(trace=BY_NUMBA, right_without_kernels=right_without_kernels)


def test_the_first_result_given_again_is_not_right_for_the_second_inputs():
    kept = []

    def keeps(x, withhold):
        kept.append(2 * x)
        return kept[0]

    assert watching(bench_of(keeps)).right_without_kernels is False


def test_a_wrong_result_is_said_and_nothing_is_tried_without_kernels():
    bench = bench_of(lambda x, withhold: 3 * x)
    watched = watching(bench)
    assert watched.wrong.startswith("got 3")
    assert watched.right_without_kernels is None
    assert len(bench.subject_of.calls) == 1


@pytest.mark.parametrize("launches", [None, ()])
def test_kernels_that_are_not_numbas_cannot_be_kept_from_running(launches):
    trace = Trace(source="cupti", launches=(LAUNCH,), launch_count=1, framework_launches=launches)
    bench = bench_of(on_the_cpu, trace)
    assert watching(bench) == Watched(trace=trace)
    assert len(bench.subject_of.calls) == 1


def test_a_call_that_does_not_return_is_what_came_of_it():
    assert watching(bench_of(lambda x, withhold: CRASHED)) is CRASHED


def test_a_file_that_cannot_be_imported_is_not_called():
    failed = Call(outcome=Outcome.TIMED_OUT, note="importing work.py: did not end")
    bench = bench_of(on_the_device, imported=failed)
    assert watching(bench) is failed
    assert bench.subject_of.calls == []


def test_without_an_observers_answer_the_record_is_not_complete():
    watched = watching(bench_of(on_the_device, None))
    assert (watched.trace.complete, watched.trace.problem) == (False, "no observer answered")


def test_an_oracle_that_changes_its_arguments_disturbs_nobody():
    class Vectors(ObservedBench):
        def draw(self, family, number):
            return (InputCase(name="ones", args=(np.full(3, float(number)),)),)

    def greedy(x):
        x *= 2
        return x

    bench = Vectors(ObservedSubject(on_the_device, BY_NUMBA))
    watched = watching(bench, greedy)
    assert (watched.wrong, watched.right_without_kernels) == ("", False)
    assert all(x[0] > 10**6 for _, x, _ in bench.subject_of.calls)
    assert len({x[0] for _, x, _ in bench.subject_of.calls}) == 2
    assert bench.subject_of.calls[1][1][0] - bench.subject_of.calls[0][1][0] == 1


def test_tolerances_reach_the_comparison():
    bench = bench_of(lambda x, withhold: 2.001 * x)
    assert watching(bench).wrong
    wide = Tolerances(float64=Tolerance(rtol=0.01, atol=0.0))
    assert watching(bench, tolerances=wide).wrong == ""


def test_a_family_without_cases_is_the_courses_fault():
    with pytest.raises(CourseError, match="gives no cases"):
        watching(bench_of(on_the_device, cases=0))


@pytest.mark.parametrize(
    ("watched", "said"),
    [
        (Watched(trace=BY_NUMBA, right_without_kernels=False), ""),
        (Watched(trace=BY_OTHERS), ""),
        (Watched(trace=BY_NUMBA, right_without_kernels=True), "right even if no kernel runs"),
        (Watched(trace=Trace(source="cupti")), "no kernel was launched"),
        (Watched(trace=Trace(source="none", complete=False, problem="no device")), ""),
        (Watched(trace=Trace(source="cupti", complete=False), right_without_kernels=True), ""),
    ],
)
def test_the_device_is_called_idle_only_on_a_complete_record(watched, said):
    idle = idle_device(watched)
    assert bool(idle) == bool(said)
    assert said in idle


def test_what_was_watched_comes_back_from_stored_evidence():
    trace = Trace(
        source="cupti",
        launches=(Launch(kernel="k", grid=(1, 1, 1), block=(32, 32, 1), shared_bytes=9, seconds=2e-6),),
        launch_count=1,
        framework_launches=(LAUNCH,),
        copies={"host_to_device": Traffic(count=2, bytes=16, seconds=1e-3)},
        allocations={"cuMemAlloc": Traffic(count=1, bytes=8)},
        frees={"cuMemFree": 1},
        peak_bytes=8,
        synchronisations=1,
        api={"cuLaunchKernelEx": 1},
        unseen=("stream",),
    )
    watched = Watched(trace=trace, wrong="at [0]: got 1, expected 2", right_without_kernels=False)
    facts = json.loads(json.dumps({WATCHED: to_plain(watched)}))
    assert watched_of(facts) == watched


def test_an_observation_without_observed_calls_holds_none():
    assert watched_of({"samples": {}}) is None


def test_durations_and_copies_of_a_trace_become_quantities():
    timed = Launch(kernel="k", grid=(1, 1, 1), block=(1, 1, 1), seconds=2e-6)
    trace = Trace(
        source="cupti",
        launches=(timed, timed, LAUNCH),
        launch_count=3,
        copies={
            "host_to_device": Traffic(count=2, bytes=16, seconds=1e-3),
            "device_to_host": Traffic(count=1, bytes=8),
        },
    )
    told = {name: (quantity.value, quantity.unit) for name, quantity in trace_quantities(trace)}
    assert told == {
        "launches": (3, "launches"),
        "kernels_s": (4e-6, "s"),
        "host_to_device_bytes": (16, "bytes"),
        "host_to_device_s": (1e-3, "s"),
        "device_to_host_bytes": (8, "bytes"),
    }


def test_a_record_that_is_void_gives_no_quantities():
    assert list(trace_quantities(Trace(source="cupti", complete=False, launch_count=3))) == []


@pytest.mark.parametrize("module", ["watched", "kernel_launch"])
def test_the_host_imports_no_numpy_for_the_judging_half(module):
    code = f"import sys, grader.checks.{module}; print('numpy' in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "False\n"
