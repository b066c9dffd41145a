"""Our own profile of a program of the course, from what an observer recorded."""

from __future__ import annotations

import json
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from grader.checks.profile import ProfileKind, kernels_of
from grader.contracts.call import Call
from grader.errors import CourseError
from grader.model.observation import Observation, Outcome
from grader.model.trace import Launch, Trace

MACHINE = {"gpu": "NVIDIA H200", "torch": "2.11.0"}
LAUNCHES = tuple(
    Launch(kernel=kernel, grid=(1, 1, 1), block=(1, 1, 1), seconds=seconds)
    for kernel, seconds in (("relu", 0.25), ("gemm", 0.5), ("relu", 0.5))
)
TRACE = Trace(source="cupti", launches=LAUNCHES, launch_count=3)


def context(*, trace=TRACE, value=MACHINE, outcome=Outcome.OBSERVED, devices=1):
    call = Call(outcome=outcome, value=value, wall_s=2.0, trace=trace, note="it raised")

    @contextmanager
    def subject(module, *, observed):
        assert (module, observed) == ("profiled", True)
        imported = Call(outcome=Outcome.OBSERVED)
        yield SimpleNamespace(imported=imported, call=lambda function, case: call, output="")

    return SimpleNamespace(item="profile", seed="00", devices=devices, subject=subject)


def observe(**keys):
    return ProfileKind().observe(ProfileKind.Options(of="profiled.run"), context(**keys))


def award(observation):
    stored = Observation(
        item=observation.item, outcome=observation.outcome, facts=json.loads(json.dumps(observation.facts))
    )
    return ProfileKind().award(ProfileKind.Options(of="profiled.run"), stored, {})


def test_kernels_are_added_up_by_name_the_longest_first():
    assert kernels_of(TRACE) == [("relu", 0.75, 2), ("gemm", 0.5, 1)]


def test_a_whole_record_is_a_profile():
    observation = observe()
    assert observation.facts["kernels"] == [["relu", 0.75, 2], ["gemm", 0.5, 1]]
    assert award(observation).fraction == 1.0


def test_it_is_drawn_with_shares_and_running_sums():
    (drawing,) = ProfileKind().show(ProfileKind.Options(of="profiled.run"), observe())
    assert [row[3:] for row in drawing.rows] == [("60.00%", "60.00%"), ("40.00%", "100.00%")]


@pytest.mark.parametrize(
    "trace",
    [
        None,
        Trace(source="none", complete=False, problem="cupti cannot be imported"),
        Trace(source="cupti"),
        Trace(source="cupti", launches=LAUNCHES, launch_count=4),
        Trace(
            source="cupti", launches=(Launch(kernel="gemm", grid=(1, 1, 1), block=(1, 1, 1)),), launch_count=1
        ),
    ],
)
def test_a_record_with_a_hole_is_no_profile_and_the_next_run_tries_again(trace):
    open_award = award(observe(trace=trace))
    assert (open_award.undecided, open_award.again) == (True, True)


@pytest.mark.parametrize("keys", [{"outcome": Outcome.CRASHED}, {"value": None}, {"value": {"gpu": 1}}])
def test_a_driver_that_fails_is_the_fault_of_the_course(keys):
    with pytest.raises(CourseError):
        observe(**keys)
