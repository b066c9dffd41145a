"""The kinds of using_gpus hold a harness's times against a clock and kernels, and leave open the rest."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from grader.config.decode import decode
from grader.contracts.call import Call, InputCase
from grader.coursecode import course_module
from grader.errors import CourseError
from grader.model.observation import Outcome
from grader.model.trace import DeviceWork, Trace
from tests.assignments.busy import QuietUnlessCalled

FOLDER = Path(__file__).resolve().parents[2] / "assignments" / "using_gpus"

minibatch_times = course_module(FOLDER / "minibatch_times.py")
holds_kernels = course_module(FOLDER / "holds_kernels.py")
claims = course_module(FOLDER / "claims.py")
matches_on_cpu = course_module(FOLDER / "matches_on_cpu.py")

TOOK_S = 0.1
"""What a mini-batch takes by the clock outside."""
EACH = "FCN on 1 thread: the harness says"


def options(kind, **keys):
    """As a rubric gives them."""
    found, problems = decode(kind.Options, {"of": "harness.ask", "inputs": "networks", **keys})
    assert problems == ()
    return found


def stored(observation):
    """An observation as evidence keeps it."""
    return replace(observation, facts=json.loads(json.dumps(observation.facts)))


def returned(value, **keys):
    return Call(outcome=Outcome.OBSERVED, value=value, **keys)


@dataclass
class CheckContext:
    """A harness that says `says` in its rounds, the last of them for ever, and a clock that is right."""

    says: list = field(default_factory=lambda: [TOOK_S])
    steps: int = 11
    disturbance: str | None = ""
    cores: int = 1
    devices: int = 0
    networks: tuple = ("FCN",)
    trace: Trace | None = None
    call: Call | None = None
    imported: Call = field(default_factory=lambda: returned(None))
    reference_call: Call | None = None
    asked: list = field(default_factory=list)
    item: str = "timing"
    seed: str = "5eed"

    def inputs(self, family):
        return tuple(InputCase(name=name, args=(name, "reduced", 16)) for name in self.networks)

    @property
    def quiet(self):
        return SimpleNamespace(begin=lambda *, anew=False: None, end=lambda: self.disturbance)

    @contextmanager
    def subject(self, module, *, observed=False, cores=None):
        yield SimpleNamespace(imported=self.imported, call=self.ask, output="", alive=True)

    @contextmanager
    def reference(self, module, *, cores=None):
        def again(case):
            return returned(None, wall_s=0.0)

        yield SimpleNamespace(imported=returned(None), call=self.ours, again=again, alive=True)

    def ask(self, function, case):
        self.asked.append(case.args[-2:])
        if self.call is not None:
            return self.call
        said = self.says[min(len(self.asked), len(self.says)) - 1]
        return returned({"seconds": said, "steps": self.steps}, trace=self.trace)

    def ours(self, function, case):
        if self.reference_call is not None:
            return self.reference_call
        return returned(None, wall_s=TOOK_S * case.args[0] if function == "run" else 5.0)


def timed(context, **keys):
    """What came of it, as stored and judged."""
    kind = minibatch_times.MinibatchTimes()
    asked = options(kind, **keys)
    observation = stored(kind.observe(asked, context))
    return observation, kind.award(asked, observation, {})


@pytest.fixture(autouse=True)
def torch_is_there(monkeypatch):
    for module in (minibatch_times, matches_on_cpu):
        monkeypatch.setattr(module, "find_spec", lambda name: name == "torch")


# Against a clock outside


def test_times_that_agree_earn_everything():
    context = CheckContext(says=[0.09, 0.1, 0.11, 0.1, 0.12, 0.1])
    observation, award = timed(context)
    assert (award.fraction, award.flags) == (1.0, ())
    (cell,) = observation.facts["times_beside"]
    assert (cell["row"], cell["threads"], cell["quiet"]) == ("FCN", 1, [True] * 6)
    assert cell["claimed"] == [0.09, 0.1, 0.11, 0.1, 0.12, 0.1]
    assert cell["clock"] == pytest.approx([TOOK_S] * 6)


@pytest.mark.parametrize("says", [TOOK_S * 10, TOOK_S / 11])
def test_a_sum_in_the_place_of_a_mean_and_a_mean_divided_twice_are_wrong(says):
    _, award = timed(CheckContext(says=[says]))
    assert award.fraction == 0.0
    assert award.reason == f"{EACH} {says:.3g} s, the clock outside 0.1 s"


def test_a_person_is_told_where_the_limit_lies_within_the_interval(monkeypatch):
    monkeypatch.setattr(minibatch_times, "MOST_ROUNDS", 8)
    observation, award = timed(CheckContext(says=[0.14, 0.16] * 20))
    assert len(observation.facts["times_beside"][0]["clock"]) == 8  # it had tried on
    assert award.fraction == 1.0
    assert award.flags == (f"near_threshold: {EACH} 0.15 s, the clock outside 0.1 s",)


def test_on_a_noisy_machine_what_is_wrong_stays_open_and_what_no_noise_explains_does_not(monkeypatch):
    monkeypatch.setattr(minibatch_times, "MOST_ROUNDS", 8)
    _, open_ = timed(CheckContext(says=[TOOK_S * 2], disturbance="other programs ran on the cores"))
    assert open_.undecided
    assert "and the machine was not quiet" in open_.reason
    _, lost = timed(CheckContext(says=[TOOK_S * 5], disturbance="other programs ran on the cores"))
    assert (lost.fraction, lost.undecided) == (0.0, False)
    _, earned = timed(CheckContext(disturbance="other programs ran on the cores"))
    assert earned.fraction == 1.0


@pytest.mark.parametrize("left_alone", [True, False])
def test_a_harness_beside_which_it_is_never_quiet_is_wrong_where_the_clock_alone_is(monkeypatch, left_alone):
    monkeypatch.setattr(minibatch_times, "MOST_ROUNDS", 8)
    monkeypatch.setattr(
        CheckContext, "quiet", QuietUnlessCalled(monkeypatch, CheckContext, "subject", left_alone)
    )
    _, award = timed(CheckContext(says=[TOOK_S * 2]))
    if left_alone:
        assert (award.fraction, award.undecided) == (0.0, False)
        assert award.reason.endswith(minibatch_times.BY_ITSELF)
    else:
        assert award.undecided


def test_who_is_right_beside_noise_or_cannot_be_told_to_make_it_is_not_blamed(monkeypatch):
    monkeypatch.setattr(minibatch_times, "MOST_ROUNDS", 8)
    monkeypatch.setattr(
        CheckContext, "quiet", QuietUnlessCalled(monkeypatch, CheckContext, "subject", left_alone=True)
    )
    _, right = timed(CheckContext())
    assert right.fraction == 1.0
    monkeypatch.undo()
    monkeypatch.setattr(minibatch_times, "find_spec", lambda name: name == "torch")
    monkeypatch.setattr(minibatch_times, "MOST_ROUNDS", 8)
    _, untold = timed(CheckContext(says=[TOOK_S * 2], disturbance=None))
    assert untold.undecided


def test_rounds_of_which_it_cannot_be_told_are_quiet_if_a_later_one_says_so():
    answers = iter([None, None, "", None, None, "", ""])
    context = CheckContext()
    harness_quiet = SimpleNamespace(begin=lambda *, anew=False: None, end=lambda: next(answers))
    type(context).quiet, kept = property(lambda self: harness_quiet), type(context).quiet
    try:
        observation, _ = timed(context)
    finally:
        type(context).quiet = kept
    assert observation.facts["times_beside"][0]["quiet"] == [True] * 6


def test_a_disturbed_round_is_not_counted_among_quiet_ones(monkeypatch):
    cell = {"row": "FCN", "threads": 1, "steps": 5, "clock": [0.1] * 7}
    cell |= {"claimed": [0.1] * 6 + [9.0], "quiet": [True] * 6 + [False]}
    asked = options(minibatch_times.MinibatchTimes)
    requirement, near = minibatch_times._judge(cell, asked)
    assert (requirement.met, near) == (True, "")


@pytest.mark.parametrize("says", [None, "0.1", float("nan"), float("inf"), 0, -0.1, True, [0.1]])
def test_what_is_no_time_is_wrong(says):
    _, award = timed(CheckContext(says=[says]))
    assert award.fraction == 0.0
    assert award.reason == "FCN on 1 thread: the harness gives no number of seconds above 0"


def test_who_trains_nothing_measures_nothing():
    _, award = timed(CheckContext(steps=0))
    assert award.reason == "FCN on 1 thread: no mini-batch was trained while it was timed"


def test_every_network_is_timed_on_every_number_of_threads_that_there_are_cores_for_and_on_the_gpu():
    context = CheckContext(cores=5, devices=1, networks=("FCN", "LSTM"))
    observation, award = timed(context)
    seen = [(cell["row"], cell["threads"]) for cell in observation.facts["times_beside"]]
    assert seen == [(name, threads) for name in ("FCN", "LSTM") for threads in (1, 2, 4, None)]
    assert observation.facts["left_out"] == [8]
    assert list(dict.fromkeys(context.asked)) == [("cpu", 1), ("cpu", 2), ("cpu", 4), ("cuda:0", 4)]
    assert award.reason == "8 of 8 requirements are met"


def test_with_one_point_a_cell_the_right_ones_count():
    context = CheckContext(networks=("FCN", "LSTM"), says=[TOOK_S] * 6 + [TOOK_S * 4])
    _, award = timed(context, credit="per_case")
    assert award.fraction == 0.5
    assert "LSTM on 1 thread" in award.reason
    assert "FCN" not in award.reason


def test_a_harness_that_crashes_is_the_students_doing():
    crashed = Call(outcome=Outcome.CRASHED, note="NotImplementedError", traceback="timing.py, line 5")
    for context in (CheckContext(call=crashed), CheckContext(imported=crashed)):
        kind = minibatch_times.MinibatchTimes()
        observation = kind.observe(options(kind), context)
        assert (observation.outcome, observation.note) == (Outcome.CRASHED, crashed.note)
        assert observation.facts["tracebacks"] == {"harness.ask": crashed.traceback}


@pytest.mark.parametrize("value", [None, 3, [], {}, {"seconds": 0.1}, {"seconds": 0.1, "steps": "many"}])
def test_what_no_driver_of_ours_returns_earns_nothing_and_is_no_bug_of_ours(value):
    _, award = timed(CheckContext(call=returned(value)))
    assert (award.fraction, award.undecided) == (0.0, False)
    assert (held(CheckContext(call=returned(value, trace=trace()))).fraction) == 0.0


def test_a_clock_of_ours_that_fails_is_the_courses_doing():
    kind = minibatch_times.MinibatchTimes()
    failed = Call(outcome=Outcome.OUT_OF_MEMORY, note="too much")
    with pytest.raises(CourseError, match="given: prepare: too much"):
        kind.observe(options(kind), CheckContext(reference_call=failed))


@pytest.mark.parametrize("kind", [minibatch_times.MinibatchTimes, matches_on_cpu.MatchesOnCpu])
def test_without_torch_the_item_waits_and_nobody_is_to_blame(monkeypatch, kind):
    for module in (minibatch_times, matches_on_cpu):
        monkeypatch.setattr(module, "find_spec", lambda name: None)
    observation = kind().observe(options(kind), CheckContext())
    assert (observation.outcome, observation.fault) == (Outcome.NOT_OBSERVED, None)
    assert observation.note == "torch is not installed on this machine"


# Against kernels


def trace(seconds=1.1, kernels=400, **keys):
    works = (DeviceWork(device=0, kernels=kernels, seconds=seconds),) if kernels else ()
    return Trace(**{"source": "cupti", "launch_count": kernels, "devices": works, **keys})


def held(context):
    kind = holds_kernels.HoldsKernels()
    observation = stored(kind.observe(options(kind), context))
    return kind.award(options(kind), observation, {})


def test_a_mini_batch_that_holds_its_kernels_is_right():
    assert held(CheckContext(says=[0.101], trace=trace())).fraction == 1.0


def test_a_clock_that_does_not_wait_is_caught():
    award = held(CheckContext(says=[0.004], trace=trace()))
    assert award.fraction == 0.0
    assert award.reason == (
        "the harness says 0.004 s, and the kernels of a mini-batch ran for 0.1 s: "
        "the clock was read before the GPU was done"
    )
    assert "torch.cuda.synchronize" in award.hint


def test_who_trains_nothing_on_the_gpu_earns_nothing():
    for context in (CheckContext(trace=trace(kernels=0)), CheckContext(steps=0, trace=trace())):
        award = held(context)
        assert (award.fraction, award.undecided) == (0.0, False)
        assert award.reason == "no mini-batch was trained on the GPU"
    assert (
        held(CheckContext(says=["0.1"], trace=trace())).reason
        == "the harness gives no number of seconds above 0"
    )


@pytest.mark.parametrize(
    "seen",
    [
        None,
        trace(complete=False, problem="CUPTI is not there"),
        trace(seconds=None),
    ],
)
def test_what_nobody_saw_stays_open(seen):
    award = held(CheckContext(trace=seen))
    assert (award.undecided, award.again) == (True, True)


@pytest.mark.parametrize(
    ("seconds", "steps"),
    [(10**400, 10**400), (-(10**400), -1), (16**9999, 2**63), (float("inf"), True), ("0.1", 1.0), (1j, None)],
    ids=["400 digits", "negative", "12,000 digits", "infinite", "text", "complex"],
)
def test_a_claim_that_no_time_and_no_count_can_be_is_none(seconds, steps):
    """Integers of any length come back from a program; no float holds these, and no evidence file."""
    assert claims.claimed({"seconds": seconds, "steps": steps}) == (None, 0)
