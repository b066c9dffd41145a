"""A ratio beyond what the reference, or the bus to a GPU, makes possible waits for a person."""

from dataclasses import replace

import numpy as np
import pytest

from grader.checks.plausible import CROSSING, IDENTITY, crossing, fewest_bytes, fewest_result_bytes
from grader.checks.speedup import Speedup
from grader.contracts.call import InputCase
from grader.model.observation import Observation, Outcome, Quantity

OPTIONS = Speedup.Options(of="work.fast", over="work.slow", inputs="numbers", at_least=5.0)
ROUNDS = 8
BUS = {"bytes": 2e6, "bytes_per_s": 63e9}
PACKED_S = BUS["bytes"] / BUS["bytes_per_s"]


def stored(fast_s, *, reference_s=0.01, slow_s=1.0, bus=None, identity_s=(0.0005,) * ROUNDS):
    seconds = {"of": fast_s, "over": slow_s, "reference_of": reference_s, "reference_over": 1.0}
    samples = {name: [value] * ROUNDS for name, value in seconds.items()}
    facts = {"samples": samples, "cpu": samples, IDENTITY: list(identity_s)}
    facts |= {CROSSING: bus} if bus else {}
    return Observation(item="speed", outcome=Outcome.OBSERVED, facts=facts)


def award(observation, options=OPTIONS):
    return Speedup().award(options, observation, {})


@pytest.mark.parametrize("fast_s", [0.01, 0.1, 0.01 / 3, 0.01 / 30, 0.01 / 49])
def test_who_is_some_times_faster_than_the_reference_earns_and_nobody_is_asked(fast_s):
    assert (award(stored(fast_s)).fraction, award(stored(fast_s)).flags) == (1.0, ())


@pytest.mark.parametrize("fast_s", [0.01 / 51, 1e-7])
def test_who_is_fifty_times_faster_than_the_reference_waits_for_a_person(fast_s):
    judged = award(stored(fast_s))
    assert (judged.fraction, judged.undecided, judged.again) == (0.0, True, False)
    assert judged.reason.startswith("a person looks first: ")
    assert judged.reason.endswith(
        "at most and the reference's 0.01 s in the same rounds; more than 50 times as fast is not believed"
    )
    assert judged.flags[0].startswith("implausible: ")


def test_what_the_clock_cannot_tell_is_held_against_nobody():
    """A call of 40 µs, and handing over a result takes 0.5 ms or 0.8 ms: half of them seem to take none."""
    noisy = [0.0005, 0.0008] * (ROUNDS // 2)
    assert award(stored(1e-7, reference_s=0.001, identity_s=noisy)).fraction == 1.0
    assert award(stored(1e-7, reference_s=0.1, identity_s=noisy)).undecided


def test_a_program_that_is_slow_in_some_rounds_waits_all_the_same():
    observation = stored(1e-7)
    samples = observation.facts["samples"]
    uneven = {**samples, "of": [1e-7] * 6 + [0.02] * 2}
    assert award(replace(observation, facts={**observation.facts, "samples": uneven})).undecided


def test_evidence_of_an_earlier_version_is_judged_as_it_was():
    observation = stored(1e-7)
    facts = {name: fact for name, fact in observation.facts.items() if name != IDENTITY}
    assert award(replace(observation, facts=facts)).fraction == 1.0


def test_how_much_is_believed_is_the_rubrics():
    assert award(stored(0.001), replace(OPTIONS, plausible=9.0)).undecided
    assert not award(stored(1e-7), replace(OPTIONS, plausible=1e9)).undecided


def test_what_is_too_slow_is_lost_and_not_open():
    judged = award(stored(1e-7, slow_s=1e-8))
    assert (judged.fraction, judged.undecided) == (0.0, False)


def test_a_person_gives_the_points_or_does_not():
    for points in (0, 3):
        quantities = {"points_given": Quantity(value=points), "points_possible": Quantity(value=4)}
        judged = award(replace(stored(1e-7), quantities=quantities))
        assert (judged.fraction, judged.undecided) == (points / 4, False)
    assert Speedup.by_hand


def test_a_call_that_is_faster_than_the_bus_waits_for_a_person():
    judged = award(stored(0.9 * PACKED_S, reference_s=0.0005, bus=BUS))
    assert (judged.fraction, judged.undecided, judged.again) == (0.0, True, False)
    assert judged.reason.endswith(
        "a call takes 2.9e-05 s at most, and to copy its 2,000,000 bytes to or from the GPU takes 3.2e-05 s "
        "at 63 GB/s"
    )
    assert not award(stored(1.1 * PACKED_S, reference_s=0.0005, bus=BUS)).undecided
    assert not award(stored(0.9 * PACKED_S, reference_s=0.0005)).undecided, "the bus is not known"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.array([0, 255] * 500), 1000),
        (np.array([0, 255] * 500, dtype=np.uint8), 1000),
        (np.array([1000, 1001] * 500), 125),
        (np.array([-(2**62), 2**62]), 16),
        (np.zeros((10, 10)), 200),
        (np.zeros((10, 10), np.complex64), 400),
        (np.array([True, False] * 4), 1),
        ([np.zeros(10), {"a": np.zeros(10)}, 3.0, "text", None], 40),
        (np.zeros(0), 0),
        (7, 0),
    ],
)
def test_bytes_are_counted_as_tightly_as_a_program_might_pack_them(value, expected):
    assert fewest_bytes(value) == pytest.approx(expected, rel=0.02)


WHOLE = np.arange(0, 12_000, 1000).reshape(3, 4)  # 14 bits each


@pytest.mark.parametrize(
    ("returned", "expected", "fewest"),
    [
        (WHOLE, WHOLE, 21),
        (WHOLE.tolist(), WHOLE, 21),
        ([list(map(np.int64, row)) for row in WHOLE], WHOLE, 21),
        (list(WHOLE), WHOLE, 21),
        (WHOLE.astype(float), WHOLE, 21),
        (WHOLE, WHOLE.astype(float), 21),  # whoever computes in integers may copy integers
        (WHOLE[:, :1].tolist(), WHOLE[:, :1], 4.9),
        ((WHOLE.tolist(), 3, "text"), (WHOLE, 3, "text"), 21),
        ({"a": WHOLE.tolist()}, {"a": WHOLE}, 21),
        (np.int64(3), 3, 0),
    ],
)
def test_a_result_takes_the_same_bytes_in_whatever_form_it_is_returned(returned, expected, fewest):
    assert fewest_result_bytes(returned, expected) == pytest.approx(fewest, abs=0.1)


def test_the_direction_that_carries_more_counts():
    case = InputCase(name="pair", args=(np.array([0, 255] * 500),), kwargs={"B": np.array([0, 255] * 500)})
    assert crossing(case, np.array([0, 255] * 500), 63e9) == {"bytes": 2000, "bytes_per_s": 63e9}
    assert crossing(case, np.zeros(5000), 63e9)["bytes"] == 10_000
