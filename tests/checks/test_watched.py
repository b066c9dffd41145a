"""Of three observed calls the last one's kernels get other inputs; only what was seen is concluded."""

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

import grader.checks.watched
from grader.checks.watched import (
    WATCHED,
    Watched,
    idle_device,
    trace_quantities,
    unproven,
    watch,
    watched_of,
)
from grader.config.codec import to_plain
from grader.contracts.call import Call, InputCase
from grader.errors import CourseError
from grader.harness.course_forks import AfterCalls, apart
from grader.harness.tolerance import Tolerance, Tolerances
from grader.model.observation import Outcome
from grader.model.trace import Exchanged, Launch, Proven, Trace, Traffic

LAUNCH = Launch(kernel="double_kernel", grid=(4, 1, 1), block=(8, 1, 1))
BY_NUMBA = Trace(source="cupti", launches=(LAUNCH,), launch_count=1, framework_launches=(LAUNCH,))
BY_OTHERS = Trace(source="cupti", launches=(LAUNCH,), launch_count=1)
RETURNED = Call(outcome=Outcome.OBSERVED)
CRASHED = Call(outcome=Outcome.CRASHED, note="double(): ValueError: no")


def double(x):
    return 2 * x


EXCHANGED = Exchanged(arrays=1, written=True)


@dataclass
class ObservedSubject:
    """Answers with what `program` makes of the inputs of the host and of the device: a value, or a Call."""

    program: Callable[[Any, Any], Any]
    trace: Trace | None
    imported: Call = RETURNED
    shown: Exchanged | None = EXCHANGED
    calls: list[tuple[str, Any, str]] = field(default_factory=list)

    def call(self, function: str, case: InputCase, *, proof: str = "") -> Call:
        (x,) = case.args
        self.calls.append((function, x, proof))
        value = self.program(x, self.calls[0][1] if proof == "exchange" else x)
        if isinstance(value, Call):
            return value
        trace = self.trace
        if trace is not None and proof == "exchange":
            trace = replace(trace, exchange=self.shown)
        return Call(outcome=Outcome.OBSERVED, value=value, trace=trace)


@dataclass
class ObservedContext:
    """Every draw gives cases of its own."""

    subject_of: ObservedSubject
    cases: int = 1
    simulated: bool = False
    opened: list[tuple[str, bool]] = field(default_factory=list)

    def draw(self, family: str, number: int) -> tuple[InputCase, ...]:
        assert family == "numbers"
        return tuple(InputCase(name=f"case {i}", args=(number + i / 8,)) for i in range(self.cases))

    @contextmanager
    def subject(self, module: str, *, observed: bool = False) -> Iterator[ObservedSubject]:
        self.opened.append((module, observed))
        yield self.subject_of


def context_of(program, trace=BY_NUMBA, *, cases=1, imported=RETURNED):
    return ObservedContext(ObservedSubject(program, trace, imported), cases)


def on_the_device(host, device):
    return 2 * device


def on_the_cpu(host, device):
    return 2 * host


def watching(context, oracle=double, tolerances=None):
    return watch(context, "work.double", "numbers", oracle, tolerances)


@pytest.mark.parametrize("by_cupti", [True, False])
def test_calls_are_watched_in_a_child_as_timed_ones_have_if_these_can_be_recorded(monkeypatch, by_cupti):
    monkeypatch.setattr(grader.checks.watched, "find_spec", lambda name: object() if by_cupti else None)
    context = context_of(on_the_device)
    watching(context)
    assert context.opened == [("work", not by_cupti)]


def test_every_call_has_inputs_of_its_own():
    context = context_of(on_the_device, cases=3)
    watching(context)
    functions, inputs, proofs = zip(*context.subject_of.calls, strict=True)
    assert functions == ("double",) * 3
    assert proofs == ("note", "", "exchange")
    assert len(set(inputs)) == 3
    assert {x % 1 for x in inputs} == {2 / 8}, "the last case of the family"
    assert min(inputs) > 10**6, "what no round of timed calls reaches"


def test_a_simulator_needs_no_call_between_the_two():
    context = context_of(on_the_device)
    context.simulated = True
    assert watching(context).proof is Proven.DEVICE
    assert [proof for _, _, proof in context.subject_of.calls] == ["note", "exchange"]


def by_turns(host, device):
    return on_the_cpu(host, device) if host == device else CRASHED


def same_for_all(host, device):
    return 7.0


@pytest.mark.parametrize(
    ("program", "shown", "proof", "why"),
    [
        (on_the_device, EXCHANGED, Proven.DEVICE, ""),
        (on_the_cpu, EXCHANGED, Proven.HOST, ""),
        (on_the_cpu, Exchanged(arrays=0), Proven.HOST, ""),
        (by_turns, EXCHANGED, Proven.UNCLEAR, CRASHED.note),
        (lambda host, device: host + device, EXCHANGED, Proven.UNCLEAR, "it is right for neither inputs"),
        (on_the_device, Exchanged(arrays=0, written=True), Proven.UNCLEAR, "no argument of a kernel"),
        (on_the_device, Exchanged(arrays=1), Proven.UNCLEAR, "no kernel wrote what was returned"),
        (on_the_device, Exchanged(arrays=1, problem="differs"), Proven.UNCLEAR, "differs"),
        (on_the_cpu, Exchanged(arrays=0, problem="differs"), Proven.UNCLEAR, "differs"),
        (on_the_device, None, Proven.UNCLEAR, "nothing was exchanged"),
    ],
)
def test_where_a_result_was_made_shows_in_whose_inputs_it_is_right_for(program, shown, proof, why):
    context = context_of(program)
    context.subject_of.shown = shown
    watched = watching(context)
    assert (watched.trace, watched.wrong, watched.proof) == (BY_NUMBA, "", proof)
    assert watched.unproven.startswith(why)
    assert bool(watched.unproven) == (proof is Proven.UNCLEAR)


class Shaped(ObservedContext):
    """Each draw has vectors of another length, but for the hundredth after the noted one."""

    def draw(self, family, number):
        again = 1_000_003 + self.cases
        length = 1_000_001 if number == again else number
        return (InputCase(name="ones", args=(np.full(length % 1000, float(number)),)),)


def test_the_exchanged_inputs_have_the_shapes_of_the_noted_ones():
    context = Shaped(ObservedSubject(on_the_device, BY_NUMBA), cases=40)
    assert watching(context).proof is Proven.DEVICE
    noted, _, exchanged = (x for _, x, _ in context.subject_of.calls)
    assert noted.shape == exchanged.shape
    assert noted[0] != exchanged[0]


def test_nothing_is_exchanged_where_no_draw_has_the_shapes():
    context = Shaped(ObservedSubject(on_the_device, BY_NUMBA), cases=400)
    assert watching(context) == Watched(trace=BY_NUMBA)
    assert len(context.subject_of.calls) == 2


def test_nothing_is_concluded_where_both_inputs_have_one_result():
    watched = watching(context_of(same_for_all), lambda x: 7.0)
    assert (watched.proof, watched.unproven) == (Proven.UNCLEAR, "the results for both inputs are the same")


def test_the_first_result_given_again_is_not_right_for_the_second_inputs():
    kept = []

    def keeps(host, device):
        kept.append(2 * host)
        return kept[0]

    watched = watching(context_of(keeps))
    assert watched.wrong
    assert watched.proof is None


def test_a_wrong_result_is_said_and_nothing_is_exchanged():
    context = context_of(lambda host, device: 3 * host)
    watched = watching(context)
    assert watched.wrong.startswith("got 3")
    assert watched.proof is None
    assert len(context.subject_of.calls) == 1


def test_kernels_that_are_not_numbas_get_their_own_inputs():
    context = context_of(on_the_cpu, BY_OTHERS)
    assert watching(context) == Watched(trace=BY_OTHERS)
    assert len(context.subject_of.calls) == 1


def test_kernels_that_are_hidden_from_numba_prove_nothing():
    trace = replace(BY_OTHERS, framework_launches=())
    watched = watching(context_of(on_the_cpu, trace))
    assert (watched.proof, watched.unproven) == (Proven.UNCLEAR, "its kernels were not launched by numba")


def test_no_launch_at_all_is_clear():
    trace = Trace(source="cupti", framework_launches=())
    assert watching(context_of(on_the_cpu, trace)) == Watched(trace=trace)


@pytest.mark.parametrize("proof", [None, *Proven])
def test_only_what_is_not_clear_waits_for_a_person(proof):
    award = unproven(Watched(trace=BY_NUMBA, proof=proof, unproven="why"))
    if proof is not Proven.UNCLEAR:
        assert award is None
    else:
        assert (award.fraction, award.undecided, award.again) == (0.0, True, False)
        assert award.reason == "a person looks: it is not clear that the GPU does the work (why)"
        assert award.flags == ("unproven: why",)


def test_a_call_that_does_not_return_is_what_came_of_it():
    assert watching(context_of(lambda host, device: CRASHED)) is CRASHED


def test_a_file_that_cannot_be_imported_is_not_called():
    failed = Call(outcome=Outcome.TIMED_OUT, note="importing work.py: did not end")
    context = context_of(on_the_device, imported=failed)
    assert watching(context) is failed
    assert context.subject_of.calls == []


def test_without_an_observers_answer_the_record_is_not_complete():
    watched = watching(context_of(on_the_device, None))
    assert (watched.trace.complete, watched.trace.problem) == (False, "no observer answered")


def test_an_oracle_that_changes_its_arguments_disturbs_nobody():
    class Vectors(ObservedContext):
        def draw(self, family, number):
            return (InputCase(name="ones", args=(np.full(3, float(number)),)),)

    def greedy(x):
        x *= 2
        return x

    context = Vectors(ObservedSubject(on_the_device, BY_NUMBA))
    watched = watching(context, apart(greedy, "expected.py:1: greedy", AfterCalls()))
    assert (watched.wrong, watched.proof) == ("", Proven.DEVICE)
    assert all(x[0] > 10**6 for _, x, _ in context.subject_of.calls)
    assert len({x[0] for _, x, _ in context.subject_of.calls}) == 3
    assert context.subject_of.calls[1][1][0] - context.subject_of.calls[0][1][0] == 1


def test_tolerances_reach_the_comparison():
    context = context_of(lambda host, device: 2.001 * device)
    assert watching(context).wrong
    wide = Tolerances(float64=Tolerance(rtol=0.01, atol=0.0))
    assert watching(context, tolerances=wide).wrong == ""


def test_a_family_without_cases_is_the_courses_fault():
    with pytest.raises(CourseError, match="gives no cases"):
        watching(context_of(on_the_device, cases=0))


@pytest.mark.parametrize(
    ("watched", "said"),
    [
        (Watched(trace=BY_NUMBA, proof=Proven.DEVICE), ""),
        (Watched(trace=BY_OTHERS), ""),
        (Watched(trace=BY_NUMBA, proof=Proven.HOST), "the result follows what the CPU holds"),
        (Watched(trace=Trace(source="cupti")), "no kernel was launched"),
        (Watched(trace=Trace(source="none", complete=False, problem="no device")), ""),
        (Watched(trace=Trace(source="cupti", complete=False), proof=Proven.HOST), ""),
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
    watched = Watched(trace=trace, wrong="at [0]: got 1, expected 2", proof=Proven.DEVICE)
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
