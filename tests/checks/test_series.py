"""Who computes on the GPU only where somebody seems to look is met among the timed calls."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from grader.checks.calls import Oracle
from grader.checks.series import IDLE_LAUNCHES, LEAST, SeriesProof, contradiction, series_of
from grader.checks.watched import idle_device, unproven
from grader.contracts.call import Call
from grader.harness.server_spec import played_by
from grader.model.observation import Outcome
from grader.model.trace import Launch, Proven, Series, Trace, Traffic, Watched
from grader.subject.standins import NUMBA_SIMULATOR

PROGRAM = """
    import gc, random, sys, time
    from itertools import count
    import numpy as np
    from numba import cuda

    @cuda.jit
    def max_kernel(A, B, C):
        i, j = cuda.grid(2)
        if i < C.shape[0] and j < C.shape[1]:
            C[i, j] = max(A[i, j], B[i, j])

    def by_gpu(A, B):
        C = cuda.device_array_like(A)
        max_kernel[(1, 1), (8, 8)](cuda.to_device(A), cuda.to_device(B), C)
        return C.copy_to_host()

    kept = cuda.to_device(np.zeros((6, 6), np.int64))

    def by_cpu(A, B):
        max_kernel[(1, 1), (8, 8)](kept, kept, kept)
        return np.maximum(A, B)

    number = count()
"""
INPUTS = """
    from grader.api import case
    def matrices(rng): yield case("two matrices", *rng.integers(0, 10**6, size=(2, 6, 6)))
"""
ORACLE = "import numpy as np\ndef work(A, B): return np.maximum(A, B)\n"
ROUNDS = 5


@pytest.fixture
def measured(real_context):
    """What a series among `ROUNDS` timed calls shows of a program whose `work` has this body."""
    pytest.importorskip("greenlet")

    def measure(work: str) -> Series:
        code = PROGRAM + work
        context = real_context({"work.py": code}, {"inputs.py": INPUTS, "expected.py": ORACLE})
        context._lent = played_by(NUMBA_SIMULATOR)
        oracle = Oracle(context.expected("work"))
        with context.subject("work") as subject:
            assert subject.imported.outcome is Outcome.OBSERVED, subject.imported.note
            proof = SeriesProof(context, subject, "work", "matrices", oracle)
            for number in range(ROUNDS):
                proof.before()
                (case,) = context.draw("matrices", number)
                call = subject.call("work", case)
                assert call.outcome is Outcome.OBSERVED, call.note
                assert np.array_equal(call.value, oracle(*case.args))
                proof.after([call], counted=1)
            proof.finish()
            return proof.series

    return measure


HONEST = {
    "plain": "    def work(A, B): return by_gpu(A, B)\n",
    "a first launch that gets no inputs": """
    def work(A, B):
        C = cuda.device_array_like(A)
        zeros = cuda.to_device(np.zeros_like(A))
        max_kernel[(1, 1), (8, 8)](zeros, zeros, C)
        max_kernel[(1, 1), (8, 8)](cuda.to_device(A), cuda.to_device(B), C)
        return C.copy_to_host()
    """,
    "in two launches": """
    def work(A, B):
        a, b, C = cuda.to_device(A), cuda.to_device(B), cuda.device_array_like(A)
        for rows in (slice(0, 3), slice(3, 6)):
            max_kernel[(1, 1), (8, 8)](a[rows], b[rows], C[rows])
        return C.copy_to_host()
    """,
    "in two launches that get all": """
    def work(A, B):
        a, b, C = cuda.to_device(A), cuda.to_device(B), cuda.device_array_like(A)
        max_kernel[(1, 1), (8, 4)](a, b, C)
        max_kernel[(1, 1), (8, 8)](a, b, C)
        return C.copy_to_host()
    """,
    "honest where an observer stands": """
    def work(A, B):
        return by_gpu(A, B) if any("observer" in name for name in sys.modules) else by_cpu(A, B)
    """,
    "an argument is the result": """
    def work(A, B):
        max_kernel[(1, 1), (8, 8)](A, B, A)
        return A
    """,
}


@pytest.mark.parametrize("name", HONEST)
def test_who_always_computes_on_the_device_is_proven_in_every_exchange(measured, name):
    series = measured(HONEST[name])
    assert (series.proof, series.unproven) == (Proven.DEVICE, "")
    assert series.exchanges >= LEAST
    assert (series.calls, series.void, series.contradiction) == (ROUNDS, "", "")
    assert series.launches >= 1


def test_a_result_in_lists_has_to_come_from_the_device_as_well(measured):
    series = measured("    def work(A, B): return by_gpu(A, B).tolist()\n")
    assert 80 <= series.needed_to_host_bytes <= 90  # 36 integers of 20 bits


CHEATS = {
    "by the number of the call": """
    def work(A, B): return by_gpu(A, B) if next(number) < 3 else by_cpu(A, B)
    """,
    "in every timed call and some others": """
    def work(A, B): return by_gpu(A, B) if next(number) % 7 == 6 else by_cpu(A, B)
    """,
    "by what stands in the frames above": """
    def observed():
        frame = sys._getframe(1)
        while frame:
            for name, value in frame.f_locals.items():
                if name == "document" and type(value) is dict and value.get("proof"): return True
                if getattr(value, "_doing", "") or name in ("proof", "doing") and value: return True
            frame = frame.f_back
        return False
    def work(A, B): return by_gpu(A, B) if observed() else by_cpu(A, B)
    """,
    "by what the observer holds": """
    def observed():
        return any(one._doing for one in gc.get_objects() if type(one).__name__ == "InputExchange")
    def work(A, B): return by_gpu(A, B) if observed() else by_cpu(A, B)
    """,
    "by what the file system and the environment say": """
    import os
    seen = set()
    def observed():
        seen.add(repr([sorted(os.environ.items()), *map(sorted, map(os.listdir, ("/tmp", "/dev/shm")))]))
        return len(seen) > 1
    def work(A, B): return by_gpu(A, B) if observed() else by_cpu(A, B)
    """,
}


@pytest.mark.parametrize("name", CHEATS)
def test_who_computes_on_the_host_in_timed_calls_does_so_in_an_exchange(measured, name):
    assert measured(CHEATS[name]).proof in (Proven.HOST, Proven.UNCLEAR)


def test_a_launch_that_comes_first_to_see_what_becomes_of_it_shows_nothing(measured):
    series = measured("""
    def observed():
        return any(one._doing for one in gc.get_objects() if type(one).__name__ == "InputExchange")
    def work(A, B):
        result = by_cpu(A, B)
        return by_gpu(A, B) if observed() else result
    """)
    assert series.proof is Proven.UNCLEAR


def test_a_launch_that_comes_first_with_a_part_of_the_inputs_shows_little(measured):
    series = measured("""
    def observed():
        return any(one._doing for one in gc.get_objects() if type(one).__name__ == "InputExchange")
    def work(A, B):
        a, b = cuda.to_device(A[:1].copy()), cuda.to_device(B[:1].copy())
        max_kernel[(1, 1), (8, 8)](a, b, cuda.device_array_like(a))
        return by_gpu(A, B) if observed() else by_cpu(A, B)
    """)
    assert (series.proof, series.unproven) == (Proven.UNCLEAR, IDLE_LAUNCHES)


def test_who_asks_before_it_launches_leaves_two_accounts_that_differ(measured):
    series = measured("""
    def questions():
        return [one for one in gc.get_objects() if type(one).__name__ == "Questions"]
    def work(A, B):
        return by_gpu(A, B) if any(one.nonce and one.launch(0) for one in questions()) else by_cpu(A, B)
    """)
    assert "were announced" in series.contradiction


LAUNCH = Launch(kernel="k", grid=(1, 1, 1), block=(1, 1, 1), seconds=1e-3)
OBSERVED = Trace(
    source="cupti",
    launches=(LAUNCH,),
    launch_count=1,
    framework_launches=(LAUNCH,),
    copies={"host_to_device": Traffic(count=1, bytes=1000), "device_to_host": Traffic(count=1, bytes=500)},
)
TIMED = Series(
    calls=18,
    launches=1,
    kernels_s=1e-3,
    to_device_bytes=1000,
    to_host_bytes=500,
    exchanges=4,
    proof=Proven.DEVICE,
)


def of(**changed) -> Watched:
    return Watched(trace=OBSERVED, proof=Proven.DEVICE, series=replace(TIMED, **changed))


def test_timed_calls_like_the_observed_one_leave_no_doubt():
    assert (idle_device(of()), unproven(of())) == ("", None)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"proof": Proven.HOST}, "in a call among the timed ones the result follows what the CPU holds"),
        ({"launches": 0}, "a timed call launched no kernel"),
    ],
)
def test_what_is_certain_of_timed_calls_loses_the_item(changed, said):
    assert said in idle_device(of(**changed))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"proof": Proven.UNCLEAR, "unproven": "why"}, "among the timed calls: why"),
        ({"void": "no record"}, "timed calls: no record"),
        ({"calls": 0, "launches": 0}, "timed calls: no records"),
        ({"contradiction": "this and that"}, "timed calls: this and that"),
        (
            {"to_device_bytes": 0},
            "a timed call copied 0 bytes host to device, and the observed one copied 1,000",
        ),
        (
            {"to_host_bytes": 10},
            "a timed call copied 10 bytes device to host, and the observed one copied 500",
        ),
        ({"bus_to_device_bytes": 5}, "for a timed call the bus carried 5 bytes host to device"),
        ({"bus_to_host_bytes": 5}, "for a timed call the bus carried 5 bytes device to host"),
        ({"kernels_s": 1e-5}, "kernels ran for 1e-05 s in a timed call, for 0.001 s in an observed one"),
    ],
)
def test_what_is_less_than_in_the_observed_call_waits_for_a_person(changed, said):
    award = unproven(of(**changed))
    assert idle_device(of(**changed)) == ""
    assert award.undecided
    assert said in award.reason


NEEDS = {"needed_to_device_bytes": 900, "needed_to_host_bytes": 400}
COPIES = {"reference_to_device_bytes": 1000, "reference_to_host_bytes": 500}
NOTHING = {"to_device_bytes": 0, "to_host_bytes": 0}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (NEEDS | COPIES | NOTHING, "a timed call moved 0 bytes to the device, and what it must move is at "),
        (
            NEEDS | COPIES | NOTHING | {"bus_to_device_bytes": 5, "bus_to_host_bytes": 500},
            "moved 5 bytes to ",
        ),
        (
            NEEDS | COPIES | NOTHING | {"bus_to_device_bytes": 950, "bus_to_host_bytes": 5},
            "5 bytes to the host",
        ),
        # kernels that read memory of the host, by a bus that is known
        (NEEDS | COPIES | NOTHING | {"bus_to_device_bytes": 950, "bus_to_host_bytes": 450}, ""),
        # a task of which the reference copies a part alone, and records that show no copies at all
        (NEEDS | NOTHING | {"reference_to_device_bytes": 0}, ""),
        (COPIES | NOTHING, ""),
    ],
)
def test_what_knows_the_observed_call_must_move_its_inputs_and_its_result_all_the_same(changed, said):
    """The CPU works in the observed call and in the timed ones, and the GPU where inputs are noted."""
    award = unproven(replace(of(**changed), trace=replace(OBSERVED, copies={})))
    assert (award is not None) is bool(said)
    assert not award or (award.undecided and said in award.reason)


def test_of_kernels_that_are_not_numbas_only_no_launch_at_all_is_held_against_timed_calls():
    watched = replace(of(to_device_bytes=0, launches=1, void="no"), proof=None)
    assert (idle_device(watched), unproven(watched)) == ("", None)
    assert idle_device(replace(of(launches=0), proof=None))


def test_fewer_launches_than_in_the_observed_call_wait_for_a_person():
    watched = replace(of(), trace=replace(OBSERVED, launch_count=2))
    assert "a timed call launched 1 kernels, the observed one 2" in unproven(watched).reason


@pytest.mark.parametrize(
    ("asked", "launches", "contradicts"),
    [
        *((0, None, False), (3, None, False), (0, 0, False), (1, 1, False), (2, 2, False), (1, 3, False)),
        *((0, 1, True), (1, 0, True), (2, 1, True)),
    ],
)
def test_a_launch_is_announced_and_what_is_announced_is_launched(asked, launches, contradicts):
    by_numba = None if launches is None else (LAUNCH,) * launches
    trace = replace(OBSERVED, framework_launches=by_numba)
    call = Call(outcome=Outcome.OBSERVED, launches_asked=asked)
    assert bool(contradiction(call, trace)) == contradicts


class Of:
    """A proof that has shown something."""

    def __init__(self, **changed):
        self.series = replace(TIMED, **changed)


def test_of_several_measurements_the_last_one_counts_unless_the_host_worked_in_another():
    assert series_of([], []) is None
    assert series_of([Of(calls=1), Of(calls=2)], []).calls == 2
    assert series_of([Of(proof=Proven.HOST), Of(calls=2)], []).proof is Proven.HOST


@pytest.mark.parametrize(
    ("bus", "believed"), [((1200, 600), True), ((1200, None), False), ((1200, 20), False), ((20, 600), False)]
)
def test_the_bus_is_believed_where_it_shows_what_the_reference_copies(bus, believed):
    to_device, to_host = bus
    control = Of(bus_to_device_bytes=to_device, bus_to_host_bytes=to_host)
    series = series_of([Of(bus_to_device_bytes=7, bus_to_host_bytes=8)], [control])
    seen = (series.bus_to_device_bytes, series.bus_to_host_bytes)
    assert seen == ((7, 8) if believed else (None, None))


def test_what_the_reference_copies_is_the_least_of_its_measurements():
    controls = [Of(to_device_bytes=800), Of(to_host_bytes=300)]
    series = series_of([Of()], controls)
    assert (series.reference_to_device_bytes, series.reference_to_host_bytes) == (800, 300)


class Bus:
    """Counts that move on by what is put into `carries` between two looks, beyond the end of 32 bits."""

    seed = "5eed"
    simulated = True

    def __init__(self, *carries):
        self.count = [2**32 - 100, 2**32 - 10]
        self.carries = iter(carries)

    def bus_bytes(self):
        self.count = [
            (count + more) % 2**32 for count, more in zip(self.count, next(self.carries), strict=True)
        ]
        to_device, to_host = self.count
        return ((to_host, to_device),)


class Recorded:
    alive = True

    def records(self):
        return (OBSERVED, OBSERVED)


def test_the_bus_is_counted_for_each_call_of_the_burst_with_the_least():
    proof = SeriesProof(
        Bus((0, 0), (2000, 1000), (50, 50), (2400, 400)), Recorded(), "f", "numbers", None, exchanges=False
    )
    call = Call(outcome=Outcome.OBSERVED, launches_asked=1)
    for _ in range(2):
        proof.before()
        proof.after([call, call], counted=1)
    series = proof.series
    assert (series.bus_to_device_bytes, series.bus_to_host_bytes) == (1000, 200)
    assert (series.calls, series.launches, series.to_device_bytes, series.contradiction) == (4, 1, 1000, "")
