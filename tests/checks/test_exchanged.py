"""Where an operation in CUDA C++ was done is judged by its result, and by what was copied."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest

from grader.checks import exchanged
from grader.checks.exchanged import (
    LAUNCHES,
    REST,
    RUN,
    SHARE,
    _beside,
    _hidden,
    _turns,
    judged,
    watch_exchange,
)
from grader.checks.watched import off_the_device
from grader.contracts.call import Call, InputCase
from grader.model.observation import Outcome
from grader.model.trace import Launch, Proven, Trace, Traffic, Watched

INPUTS, RESULT = 64_000, 32_000
KERNEL = Launch(kernel="k", grid=(1, 1, 1), block=(1, 1, 1))
PLAIN = {"cudaLaunchKernel": 1, "cuMemcpyDtoD": 2, "cuMemcpyDtoH": 1, "cudaMalloc": 1, "cudaFree": 1}
DIFFERS = "differs in 1 of 10 elements"


def trace(*, to_host=0, from_host=0, api=(), before=(), launches=1, **more):
    copies = {
        "device_to_host": Traffic(count=1, bytes=RESULT + to_host),
        "host_to_device": Traffic(count=1, bytes=from_host),
        "device_to_device": Traffic(count=2, bytes=INPUTS),
    }
    return Trace(
        source="cupti",
        launches=(KERNEL,) * min(launches, 1),
        launch_count=launches,
        copies=copies,
        api={**PLAIN, **dict.fromkeys(api, 1)},
        api_before={"cudaMalloc": 9, **dict.fromkeys(before, 1)},
        **more,
    )


def judge(not_placed="", not_loaded=DIFFERS, **of_trace):
    return judged(trace(**of_trace), not_placed, not_loaded, INPUTS, RESULT)


@pytest.mark.parametrize(
    "of_trace",
    [
        {},
        {"to_host": INPUTS // SHARE, "from_host": RESULT // SHARE},
        {"api": ["cudaStreamCreateWithFlags", "cudaEventRecord", "cudaMallocAsync", "cudaDeviceSynchronize"]},
        {"api": ["cudaMemcpyToSymbol", "cuLaunchKernelEx", "cudaFuncSetAttribute", "cudaMemsetAsync"]},
        {"before": ["cuModuleLoadData", "cuGetExportTable", "cudaStreamCreate"]},
        {"launches": 0, "api": ["cudaMemset"]},
        {"launches": LAUNCHES},
    ],
    ids=str,
)
def test_work_on_the_gpu_is_proven(of_trace):
    proof, why = judge(**of_trace)
    assert (proof, why) == (Proven.DEVICE, "")
    seen = Watched(trace=trace(**of_trace), proof=proof)
    assert off_the_device(seen) is None


@pytest.mark.parametrize(
    ("of_trace", "why"),
    [
        ({"to_host": INPUTS // SHARE + 1}, "1,001 bytes were copied from the GPU to the host"),
        ({"from_host": RESULT // SHARE + 1}, "501 bytes were copied from the host to the GPU"),
        ({"api": ["cudaHostAlloc"]}, "cudaHostAlloc gives kernels memory of the host"),
        ({"api": ["cudaMallocManaged"]}, "cudaMallocManaged gives"),
        ({"before": ["cuMemHostRegister"]}, "cuMemHostRegister gives"),
        ({"api": ["cuIpcGetMemHandle"]}, "cuIpcGetMemHandle gives"),
        ({"not_placed": DIFFERS, "not_loaded": ""}, "the result follows what the CPU holds"),
    ],
    ids=str,
)
def test_work_on_the_host_is_final(of_trace, why):
    differs = {key: of_trace.pop(key) for key in ("not_placed", "not_loaded") if key in of_trace}
    proof, reason = judge(**differs, **of_trace)
    assert proof is Proven.HOST
    assert reason.startswith(why)
    award = off_the_device(Watched(trace=trace(**of_trace), proof=proof, unproven=reason))
    assert (award.fraction, award.undecided) == (0, False)
    assert award.reason == f"{reason}: the work was done on the CPU"


@pytest.mark.parametrize(
    ("of_trace", "why"),
    [
        ({"api": ["cuGraphLaunch"]}, "it called cuGraphLaunch"),
        ({"api": ["cudaMemcpyNobodyKnows", "cuModuleLoadData"]}, "it called cuModuleLoadData"),
        ({"launches": LAUNCHES + 1}, "it launched 65 kernels"),
        ({"before": ["cudaMemPoolCreate"]}, "it called cudaMemPoolCreate"),
        ({"unrecorded": 3}, "3 calls of CUDA are missing"),
        ({"unseen": ("api_before",)}, "cupti does not tell which memory kernels reach"),
    ],
    ids=str,
)
def test_what_the_records_do_not_tell_is_left_to_a_person(of_trace, why):
    proof, reason = judge(**of_trace)
    assert (proof, reason.startswith(why)) == (Proven.UNCLEAR, True)


def test_a_result_that_is_right_for_neither_is_wrong_and_not_a_proof():
    assert judge(not_placed=DIFFERS)[0] is Proven.DEVICE
    award = off_the_device(Watched(trace=trace(), proof=Proven.DEVICE, wrong=DIFFERS))
    assert (award.fraction, award.reason) == (0, f"called again with new inputs: {DIFFERS}")


def test_without_a_record_nothing_is_decided():
    seen = Watched(trace=Trace(source="none", complete=False, problem="no cupti"), proof=Proven.DEVICE)
    award = off_the_device(seen)
    assert (award.undecided, award.again) == (True, True)


class Counting:
    """A GPU that counts, and a driver whose calls send what is given, and receive half of it."""

    def __init__(self, runs, rests, *, counts=True, outcome=Outcome.OBSERVED):
        self.left = {RUN: list(runs), REST: list(rests)}
        self.sent = 2**32 - 1000
        self.counts = counts
        self.outcome = outcome

    def bus_bytes(self):
        return ((self.sent % 2**32, self.sent // 2 % 2**32),) if self.counts else None

    def call(self, function, case):
        self.sent += self.left[function].pop(0)
        return Call(outcome=self.outcome)


@pytest.mark.parametrize(
    ("gpu", "beside"),
    [
        (Counting([1_030_000] * 3, [30_000, 20_000, 10_000]), (1_000_000, 500_000)),
        (Counting([30_000, 900_000, 20_000], [30_000, 20_000, 10_000]), (0, 0)),
        (Counting([1_030_000] * 3, [30_000, 2_000_000, 10_000]), (0, 0)),
        (Counting([1_030_000] * 3, [30_000] * 3, counts=False), (0, 0)),
    ],
    ids=["hidden copies", "once by somebody else", "others use the GPU", "no counter"],
)
def test_what_the_gpu_sends_for_the_operation_alone_is_told_by_turns(gpu, beside):
    nothing = InputCase(name="nothing", args=())
    assert _beside(_turns(gpu, gpu, nothing)) == beside


@pytest.mark.parametrize("outcome", [Outcome.CRASHED, Outcome.TIMED_OUT])
def test_who_ends_while_turns_are_taken_has_ended(outcome):
    gpu = Counting([9] * 3, [9] * 3, outcome=outcome)
    assert [turn.call.outcome for turn in _turns(gpu, gpu, InputCase(name="nothing", args=()))] == [outcome]


class Exchanging(Counting):
    """A context with a GPU on which a driver is called, whose calls of `run` and `rest` give what is said."""

    def __init__(self, *, values=(1, 1, 1, 1), to_host=(0, 0, 0, 0), rests=(0, 0, 0), bus=100):
        super().__init__([bus] * 3, [100] * 3)
        self.of_runs = list(zip(values, to_host, strict=True))
        self.of_rests = list(rests)

    @contextmanager
    def subject(self, driver, *, observed):
        assert (driver, observed) == ("kernels", True)
        yield self

    imported = Call(outcome=Outcome.OBSERVED)

    def call(self, function, case):
        if function in {RUN, REST} and self.of_runs and len(self.of_runs) < 4:
            self.sent += self.left[function].pop(0)
        value, moved = 1, 0
        if function == RUN:
            value, moved = self.of_runs.pop(0)
        elif function == REST:
            moved = self.of_rests.pop(0)
        value = np.full(8000, value, np.float32)
        return Call(outcome=Outcome.OBSERVED, value=value, trace=trace(to_host=moved))


@pytest.mark.parametrize(
    ("context", "proof", "why"),
    [
        (Exchanging(), Proven.DEVICE, ""),
        (Exchanging(to_host=(0, 0, 9000, 0)), Proven.HOST, "9,000 bytes were copied"),
        (Exchanging(rests=(0, 0, 9000)), Proven.HOST, "9,000 bytes were copied"),
        (Exchanging(values=(2, 1, 1, 1)), Proven.HOST, "the result follows what the CPU holds"),
        (Exchanging(values=(1, 1, 2, 1)), Proven.HOST, "the result follows what the CPU holds"),
    ],
)
def test_every_turn_must_be_work_of_the_gpu(context, proof, why):
    ones, twos = (np.full(8000, number, np.float32) for number in (1, 2))
    case = InputCase(name="a case", args=("relu", np.zeros(16_000, np.float32)))
    watched = watch_exchange(context, "kernels", case, case, (ones, twos))
    assert (watched.proof, watched.wrong) == (proof, "")
    assert watched.unproven.startswith(why)


def test_an_operation_that_does_its_work_once_only_is_wrong():
    case = InputCase(name="a case", args=("relu", np.zeros(16_000, np.float32)))
    ones, twos = (np.full(8000, number, np.float32) for number in (1, 2))
    watched = watch_exchange(Exchanging(values=(1, 1, 1, 5)), "kernels", case, case, (ones, twos))
    assert watched.proof is Proven.DEVICE
    assert watched.wrong


@pytest.mark.parametrize(
    ("moved", "launches", "why"),
    [
        ((8_000_000 // 8, 0), 9, ""),
        (
            (8_000_000 // 8 + 1, 0),
            9,
            "1,000,001 bytes of which no record tells went from the GPU to the host",
        ),
        ((0, 2**17), 0, ""),
        ((0, 2**17 + 1), 0, "131,073 bytes of which no record tells went from the host to the GPU"),
        ((0, 135_736), 42, ""),
        ((0, 2**17 + 64 * 2**11), 64, ""),
        ((0, 400_000), 1000, "400,000 bytes of which no record tells went from the host to the GPU"),
    ],
)
def test_what_moves_over_the_bus_beside_the_records_is_no_work_of_the_gpu(moved, launches, why):
    assert _hidden(moved, 8_000_000, 400, launches=launches) == why


def test_rest_is_watched_as_long_as_run(monkeypatch):
    now, waits = [0.0], []

    class Slow(Counting):
        def call(self, function, case):
            now[0] += 0.5 if function == RUN else 0.1
            return super().call(function, case)

    monkeypatch.setattr(exchanged.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(exchanged.time, "sleep", waits.append)
    gpu = Slow([9] * 3, [9] * 3)
    assert len(_turns(gpu, gpu, InputCase(name="nothing", args=()))) == 6
    assert waits == pytest.approx([0.4] * 3)


def test_what_shows_without_a_record_is_final_without_one():
    seen = Watched(
        trace=Trace(source="cupti", complete=False, problem="0 of 2"), proof=Proven.HOST, unproven="9 bytes"
    )
    assert off_the_device(seen).undecided is False
