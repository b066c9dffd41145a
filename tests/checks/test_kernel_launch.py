"""The rule is over all launches of a call, and nothing is decided on a record that cannot be believed."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import replace

import pytest

from grader.checks.kernel_launch import KernelLaunch
from grader.checks.watched import WATCHED, Watched
from grader.config.codec import to_plain
from grader.config.decode import decode
from grader.contracts.call import Call, InputCase
from grader.model.observation import Observation, Outcome
from grader.model.options import measuring
from grader.model.trace import Exchanged, Launch, Proven, Trace

KIND = KernelLaunch()
KEYS = {"of": "work.larger", "inputs": "numbers", "kernel": "max_kernel"}


def options(**keys):
    """As a rubric gives them."""
    found, problems = decode(KernelLaunch.Options, KEYS | {"blocks": 1000, "threads": 1000} | keys)
    assert problems == ()
    return found


def launched(kernel="max_kernel", blocks=(1000,), threads=(1000,)):
    grid, block = ((*sides, 1, 1)[:3] for sides in (blocks, threads))
    return Launch(kernel=kernel, grid=grid, block=block)


def trace_of(*launches, **more):
    """Both sources tell the same, unless `more` says otherwise."""
    told = {"launches": launches, "launch_count": len(launches), "framework_launches": launches}
    return Trace(source="cupti", **(told | more))


def award(*launches, trace=None, proof=Proven.DEVICE, wrong="", **keys):
    """What a stored observation of these launches earns."""
    watched = Watched(trace=trace or trace_of(*launches), wrong=wrong, proof=proof)
    facts = json.loads(json.dumps({WATCHED: to_plain(watched)}))
    observation = Observation(item="launch", outcome=Outcome.OBSERVED, facts=facts)
    return KIND.award(options(**keys), observation, {})


def verdict(*launches, **keys):
    found = award(*launches, **keys)
    assert not found.undecided
    return found.fraction, found.reason


def test_one_launch_in_the_shape_asked_for_earns_everything():
    assert verdict(launched()) == (1.0, "max_kernel with 1,000 blocks of 1,000 threads")


@pytest.mark.parametrize(
    ("blocks", "threads", "fraction"),
    [
        ((1000,), (1000,), 1.0),
        ((10, 100), (1000,), 1.0),
        ((1000,), (10, 10, 10), 1.0),
        ((1001,), (1000,), 0.0),
        ((1000,), (1024,), 0.0),
        ((2000,), (500,), 0.0),
    ],
)
def test_a_number_counts_in_whatever_dimensions(blocks, threads, fraction):
    assert verdict(launched(blocks=blocks, threads=threads))[0] == fraction


@pytest.mark.parametrize(
    ("asked", "threads", "fraction"),
    [
        ([32, 32], (32, 32), 1.0),
        ([32, 32, 1], (32, 32), 1.0),
        ([32, 32], (1024,), 0.0),
        ([32, 32], (16, 64), 0.0),
        ([1024], (1024,), 1.0),
        ([1024], (32, 32), 0.0),
    ],
)
def test_sides_are_asked_for_exactly(asked, threads, fraction):
    assert verdict(launched(threads=threads), threads=asked)[0] == fraction


@pytest.mark.parametrize(
    ("launch", "keys", "reason"),
    [
        (launched(blocks=(1001,)), {}, "max_kernel ran with 1,001 blocks; asked for 1,000 blocks"),
        (
            launched(threads=(16, 32)),
            {},
            "max_kernel ran with 512 threads (16 x 32) per block; asked for 1,000 threads",
        ),
        (
            launched(threads=(1024,)),
            {"threads": [32, 32]},
            "max_kernel ran with 1,024 threads per block; asked for 1,024 threads (32 x 32)",
        ),
        (launched(blocks=(2,)), {"blocks": 1}, "max_kernel ran with 2 blocks; asked for 1 block"),
    ],
)
def test_a_wrong_shape_is_told_beside_the_one_that_is_asked_for(launch, keys, reason):
    assert verdict(launch, **keys) == (0.0, reason)


def test_a_shape_that_is_not_asked_for_does_not_matter():
    assert verdict(launched(blocks=(7,)), blocks=None)[0] == 1.0
    assert verdict(launched(threads=(7,)), threads=None)[0] == 1.0


def test_every_launch_of_the_kernel_must_have_the_shape():
    wrong = launched(blocks=(500,))
    for launches in ((launched(), wrong), (wrong, launched())):
        assert verdict(*launches, count=2) == (
            0.0,
            "max_kernel ran with 500 blocks; asked for 1,000 blocks",
        )


@pytest.mark.parametrize(
    ("times", "count", "fraction", "reason"),
    [
        (2, 1, 0.0, "max_kernel was launched twice, and must be once"),
        (1, 3, 0.0, "max_kernel was launched once, and must be 3 times"),
        (3, 3, 1.0, "3 times max_kernel with 1,000 blocks of 1,000 threads"),
    ],
)
def test_it_is_launched_as_often_as_asked(times, count, fraction, reason):
    assert verdict(*[launched()] * times, count=count) == (fraction, reason)


def test_a_kernel_of_another_name_is_not_the_one_that_is_asked_for():
    assert verdict(launched("my_kernel")) == (
        0.0,
        "max_kernel was not launched (launched: my_kernel with 1,000 blocks of 1,000 threads); "
        "its kernel must have this name",
    )


def test_a_decoy_of_the_right_name_and_shape_does_not_hide_what_runs_beside_it():
    real = launched("larger_kernel", (977,), (1024,))
    for launches in ((launched(), real), (real, launched())):
        assert verdict(*launches) == (
            0.0,
            "beside it were launched larger_kernel with 977 blocks of 1,024 threads; "
            "nothing else is asked for",
        )


def test_other_kernels_may_be_allowed():
    fraction, reason = verdict(launched("fill", (5,), (64,)), launched(), others="allowed")
    assert fraction == 1.0
    assert reason == "fill with 5 blocks of 64 threads; max_kernel with 1,000 blocks of 1,000 threads"


@pytest.mark.parametrize(
    ("asked", "named", "fraction"),
    [
        ("max_*", "max_kernel", 1.0),
        ("*", "anything", 1.0),
        ("max_kernel?", "max_kernel2", 1.0),
        ("max_*", "matmul_kernel", 0.0),
        ("max_kernel", "Max_Kernel", 0.0),
    ],
)
def test_a_name_may_be_a_pattern(asked, named, fraction):
    assert verdict(launched(named), kernel=asked)[0] == fraction


def test_no_launch_at_all_is_work_of_the_cpu():
    assert verdict(proof=None) == (
        0.0,
        "no kernel was launched: the work was done on the CPU",
    )


def test_a_launch_as_asked_on_which_nothing_depends_earns_nothing():
    assert verdict(launched(), proof=Proven.HOST) == (
        0.0,
        "the result follows what the CPU holds, whatever lies on the GPU: the work was done on the CPU",
    )


def test_a_wrong_result_earns_nothing_whatever_was_launched():
    assert verdict(launched(), wrong="at [0, 0]: got 1, expected 2", proof=None) == (
        0.0,
        "the result of the observed call is wrong: at [0, 0]: got 1, expected 2",
    )


def test_more_launches_than_are_kept_are_still_too_many():
    kept = (launched(),) * 5
    trace = trace_of(*kept, launch_count=3000)
    assert verdict(trace=trace, count=5) == (0.0, "3000 kernels were launched; max_kernel must be, 5 times")


@pytest.mark.parametrize("seen", [(), (launched("other_kernel"),), (launched(blocks=(977,)),)])
def test_where_the_device_did_not_run_what_numba_says_a_person_is_told(seen):
    found = award(trace=trace_of(*seen, framework_launches=(launched(),)))
    assert (found.fraction, found.undecided, found.again) == (0.0, True, False)
    assert found.flags == (
        "sources_disagree: numba launched max_kernel[1000, 1000]; the device did not run it",
    )


def test_one_launch_on_the_device_does_not_account_for_two_of_numbas():
    found = award(trace=trace_of(launched(), framework_launches=(launched(), launched())))
    assert found.undecided
    assert found.flags


def test_sources_are_compared_by_the_product_of_the_sides():
    by_numba = launched(threads=(10, 100))
    assert not award(trace=trace_of(launched(), framework_launches=(by_numba,))).undecided


@pytest.mark.parametrize("by_numba", [None, ()])
def test_numba_need_not_tell_of_kernels_that_are_not_its_own(by_numba):
    found = award(trace=trace_of(launched(), framework_launches=by_numba), proof=None)
    assert (found.fraction, found.undecided, found.flags) == (1.0, False, ())


def test_a_record_that_was_cut_contradicts_nobody():
    trace = trace_of(launched(), launch_count=9, framework_launches=(launched(), launched(blocks=(2,))))
    assert not award(trace=trace).undecided


def test_a_record_that_is_not_complete_decides_nothing_whatever_else_it_says():
    void = trace_of(launched(), complete=False, problem="the observer missed 1 launch of its own")
    for keys in ({}, {"proof": Proven.HOST}, {"wrong": "got 1, expected 2"}):
        found = award(trace=void, **keys)
        assert (found.fraction, found.undecided, found.again, found.flags) == (0.0, True, True, ())
        assert found.reason.endswith("the observer missed 1 launch of its own")


def test_without_an_observer_numbas_word_alone_decides_nothing():
    word = Trace(source="none", complete=False, problem="no CUPTI", framework_launches=(launched(),))
    found = award(trace=word)
    assert (found.undecided, found.reason) == (True, "the launches could not be observed: no CUPTI")


def test_an_observation_of_nothing_earns_nothing():
    nothing = Observation(item="launch", outcome=Outcome.OBSERVED)
    assert KIND.award(options(), nothing, {}).fraction == 0.0


def test_only_keys_that_judge_leave_stored_evidence_fresh():
    assert set(measuring(options())) == {"of", "inputs", "simulated_inputs", "expected", "tolerance"}


class LaunchContext:
    """A program that launches one kernel and is right where kernels run; it notes what is asked of it."""

    item = "launch"
    seed = "c0ffee"

    def __init__(self, *, simulated=False, ends=None):
        self.simulated = simulated
        self.asked = set()
        self._ends = ends

    def draw(self, family, number):
        self.asked.add(family)
        return (InputCase(name="a number", args=(number,)),)

    def expected(self, oracle):
        self.asked.add(oracle)
        return lambda x: x + 1

    @contextmanager
    def subject(self, module, *, observed=False):
        self.imported = Call(outcome=Outcome.OBSERVED)
        self.noted = None
        yield self

    def call(self, function, case, *, proof=""):
        if self._ends is not None:
            return self._ends
        (x,) = case.args
        trace = trace_of(
            launched(), exchange=Exchanged(arrays=1, written=True) if proof == "exchange" else None
        )
        self.noted = x if proof == "note" else self.noted
        return Call(
            outcome=Outcome.OBSERVED, value=(self.noted if proof == "exchange" else x) + 1, trace=trace
        )


def test_what_is_observed_is_enough_to_judge_months_later():
    observation = KIND.observe(options(), LaunchContext())
    assert (observation.outcome, observation.item, observation.seed) == (
        Outcome.OBSERVED,
        "launch",
        "c0ffee",
    )
    assert observation.quantities["launches"].value == 1
    later = replace(observation, facts=json.loads(json.dumps(dict(observation.facts))))
    assert KIND.award(options(), later, {}).fraction == 1.0
    assert KIND.award(options(threads=512), later, {}).fraction == 0.0


@pytest.mark.parametrize(
    ("keys", "simulated", "asked"),
    [
        ({}, False, {"numbers", "larger"}),
        ({"simulated_inputs": "few"}, False, {"numbers", "larger"}),
        ({"simulated_inputs": "few"}, True, {"few", "larger"}),
        ({"expected": "greater"}, False, {"numbers", "greater"}),
    ],
)
def test_a_simulator_gets_inputs_of_its_own_and_an_oracle_may_have_another_name(keys, simulated, asked):
    context = LaunchContext(simulated=simulated)
    KIND.observe(options(**keys), context)
    assert context.asked == asked


def test_a_call_that_does_not_return_is_the_observation():
    ends = Call(outcome=Outcome.CRASHED, note="larger(): IndexError", traceback="line 7")
    observation = KIND.observe(options(), LaunchContext(ends=ends))
    assert (observation.outcome, observation.note) == (Outcome.CRASHED, "larger(): IndexError")
    assert observation.facts == {"tracebacks": {"work.larger": "line 7"}, "no_result": True}
