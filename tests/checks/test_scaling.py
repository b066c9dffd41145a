"""A call on several numbers of cores: judged only by the cores that are there."""

import os
from dataclasses import replace

import pytest

from grader.checks.scaling import Scaling
from grader.config.decode import decode
from grader.contracts.call import InputCase
from grader.errors import CourseError
from grader.harness.tolerance import Tolerance, Tolerances
from grader.model.observation import Fault, Observation, Outcome, Quantity

HERE = tuple(sorted(os.sched_getaffinity(0)))[:2]
OPTIONS = Scaling.Options(of="work.total", inputs="numbers", cores=(1, 2, 64), budget_s=60.0)

WORK = """
    import os
    import numpy as np
    def total(x): return float(x.sum())
    def told(): return [os.environ["NUMBA_NUM_THREADS"], os.environ["OMP_NUM_THREADS"]]
    def kept(): return sorted(os.sched_getaffinity(0))
"""
INPUTS = """
    from grader.api import case
    def numbers(rng): yield case("many numbers", rng.standard_normal(1000))
"""
NOTHING = InputCase(name="nothing", args=())


@pytest.fixture
def context_of(real_context):
    """A real context whose run has leased two cores: give it the submission's `work.py`."""
    if len(HERE) < 2:
        pytest.skip("one core cannot be compared with two")

    def make(code: str = WORK, reference: str = WORK):
        course = {
            "inputs.py": INPUTS,
            "expected.py": "def total(x): return float(x.sum())",
            "reference/work.py": reference,
        }
        context = real_context({"work.py": code}, course)
        context._children.cores = HERE
        return context

    return make


def award(observation, options=OPTIONS):
    return Scaling().award(options, observation, {})


@pytest.mark.parametrize(("rtol", "wrong"), [(1e-5, 0), (1e-9, 1)])
def test_results_may_differ_by_the_tolerance_of_the_item(context_of, rtol, wrong):
    near = WORK.replace("float(x.sum())", "float(x.sum()) * (1 + 1e-6)")
    options = replace(OPTIONS, tolerance=Tolerances(float64=Tolerance(rtol=rtol, atol=0.0)))
    assert len(Scaling().observe(options, context_of(near)).cases) == wrong


@pytest.mark.parametrize("whose", ["subject", "reference"])
@pytest.mark.parametrize("count", [1, 2])
def test_a_program_stays_on_the_first_cores_and_its_libraries_are_told(context_of, whose, count):
    with getattr(context_of(), whose)("work", cores=count) as subject:
        assert subject.call("told", NOTHING).value == [str(count)] * 2
        assert subject.call("kept", NOTHING).value == list(HERE[:count])


def test_a_context_without_leased_cores_has_one(context_of):
    context = context_of()
    assert context.cores == 2
    context._children.cores = ()
    assert context.cores == 1


def test_right_results_earn_and_cores_that_are_not_there_are_named(context_of):
    observation = Scaling().observe(OPTIONS, context_of())
    assert observation.outcome is Outcome.OBSERVED, observation.note
    assert (observation.facts["cores"], observation.facts["left_out"]) == ([1, 2], [64])
    samples = observation.facts["samples"]
    assert set(samples) == {"1", "2", "reference_1", "reference_2"}
    assert len(samples["2"]) == observation.quantities["rounds"].value >= OPTIONS.rounds
    assert {"seconds_1", "seconds_2", "factor_2"} <= set(observation.quantities)
    result = award(observation)
    assert (result.fraction, result.undecided) == (1.0, False)
    assert result.reason.startswith("right on 1, 2 cores; ")


def test_cores_that_are_asked_for_and_not_there_leave_it_to_be_tried_again_with_its_curve(context_of):
    asked = replace(OPTIONS, at_least={"64": 9.0})
    observation = Scaling().observe(asked, context_of())
    assert (observation.outcome, observation.fault) == (Outcome.NOT_OBSERVED, None)
    assert observation.note == "needs 64 cores for itself; this machine had 2"
    assert "seconds_2" in observation.quantities


def test_a_wrong_result_decides_whatever_cores_are_missing(context_of):
    context = context_of(WORK + "\n    def total(x): return 0.5\n")
    observation = Scaling().observe(replace(OPTIONS, at_least={"64": 9.0}), context)
    assert observation.outcome is Outcome.OBSERVED
    assert (award(observation).fraction, award(observation).undecided) == (0.0, False)


def test_what_is_right_on_one_core_and_wrong_on_two_earns_nothing_and_hears_of_races(context_of):
    code = WORK + '\n    def total(x): return float(x.sum()) * int(os.environ["NUMBA_NUM_THREADS"])\n'
    result = award(Scaling().observe(OPTIONS, context_of(code)))
    assert (result.fraction, result.undecided) == (0.0, False)
    assert result.reason.startswith("many numbers, on 2 cores: the result is wrong: ")
    assert "on 1 core it is right: do two threads write one place" in result.reason


def test_what_is_wrong_on_one_core_hears_nothing_of_races(context_of):
    result = award(Scaling().observe(OPTIONS, context_of(WORK + "\n    def total(x): return 0.5\n")))
    assert result.reason.startswith("many numbers, on 1 core: the result is wrong: ")
    assert "threads" not in result.reason


def test_a_crash_says_on_how_many_cores(context_of):
    code = WORK + '\n    def total(x): return float(x.sum()) / (2 - int(os.environ["NUMBA_NUM_THREADS"]))\n'
    observation = Scaling().observe(OPTIONS, context_of(code))
    assert observation.outcome is Outcome.CRASHED
    assert observation.note.startswith("on 2 cores: total(): ZeroDivisionError")


def test_a_submission_that_cannot_be_imported_is_the_students(context_of):
    observation = Scaling().observe(OPTIONS, context_of("raise ValueError('no')"))
    assert observation.outcome is Outcome.CRASHED


def test_a_reference_that_cannot_be_imported_is_the_courses(context_of):
    with pytest.raises(CourseError, match=r"reference: on 1 core: .*ValueError: no \(reference/\w+.py:1\)$"):
        Scaling().observe(OPTIONS, context_of(reference="raise ValueError('no')"))


def test_a_machine_without_even_the_fewest_cores_leaves_it_open(context_of):
    observation = Scaling().observe(replace(OPTIONS, cores=(4, 8)), context_of())
    assert (observation.outcome, observation.fault) == (Outcome.NOT_OBSERVED, None)
    assert observation.note == "needs 4 cores for itself; this machine had 2"


def test_a_machine_that_never_gets_quiet_leaves_it_open(context_of, monkeypatch):
    monkeypatch.setattr("grader.checks.rounds._waited", lambda call: "a loop had to wait")
    observation = Scaling().observe(replace(OPTIONS, budget_s=0.1), context_of())
    assert (observation.outcome, observation.fault) == (Outcome.NOT_OBSERVED, Fault.BUSY)
    assert observation.note.startswith("not timed: ")


def test_required_cores_are_named_before_any_round_where_none_are_left_to_compare(context_of, monkeypatch):
    def timed_rounds(*_, **__):
        raise AssertionError("a round was timed that can decide nothing")

    monkeypatch.setattr("grader.checks.rounds.timed_rounds", timed_rounds)
    context = context_of()
    context._children.cores = HERE[:1]
    options = replace(OPTIONS, cores=(1, 2, 4), at_least={"2": 1.5, "4": 2.5})
    observation = Scaling().observe(options, context)
    assert (observation.outcome, observation.fault) == (Outcome.NOT_OBSERVED, None)
    assert observation.note == "needs 4 cores for itself; this machine had 1"


def test_a_busy_machine_without_the_required_cores_is_told_as_one_without_them(context_of, monkeypatch):
    monkeypatch.setattr("grader.checks.rounds._waited", lambda call: "a loop had to wait")
    options = replace(OPTIONS, budget_s=0.1, at_least={"64": 9.0})
    observation = Scaling().observe(options, context_of())
    assert (observation.outcome, observation.fault) == (Outcome.NOT_OBSERVED, None)
    assert observation.note == "needs 64 cores for itself; this machine had 2"


def stored(own, reference=(8.0, 4.0, 2.0), cpu=None) -> Observation:
    """Seconds on 1, 2 and 4 cores; a list where the rounds differ."""
    counts = [1, 2, 4][: len(own)]
    sides = {str(count): s for count, s in zip(counts, own, strict=True)}
    sides |= {f"reference_{count}": s for count, s in zip(counts, reference, strict=False)}
    samples = {side: s if isinstance(s, list) else [s] * 9 for side, s in sides.items()}
    computing = cpu or [8.0] * len(own)
    return Observation(
        item="curve",
        outcome=Outcome.OBSERVED,
        facts={
            "cores": counts,
            "samples": samples,
            "cpu": samples | {str(count): [s] * 9 for count, s in zip(counts, computing, strict=True)},
        },
    )


@pytest.mark.parametrize(
    ("at_least", "observation", "fraction", "undecided", "said"),
    [
        ({}, stored((8.0, 8.0, 8.0)), 1.0, False, "1 times on 4"),
        ({"4": 3.0}, stored((8.0, 4.1, 2.2)), 1.0, False, "3.64 times on 4"),
        ({"4": 3.0}, stored((8.0, 5.0, 4.0)), 0.0, False, "on 4 cores 2 times faster than on 1"),
        ({"4": 3.0, "2": 1.8}, stored((8.0, 5.0, 2.0)), 0.0, False, "at least 1.8 are needed (the med"),
        (
            {"4": 3.0},
            stored((8.0, 5.0)),
            0.0,
            True,
            "needs 4 cores for itself; this machine had 2; right on 1, 2 cores",
        ),
        ({"2": 1.5}, stored((8.0, 5.0)), 1.0, False, "1.6 times faster on 2 than on 1"),
        ({"4": 3.0}, stored((8.0, 5.0, 4.0), (8.0, 5.0, 3.0)), 0.0, True, "this machine cannot decide"),
        ({"4": 3.0}, stored((8.0, 4.0, 2.0), (8.0, 5.0, 3.0)), 1.0, False, "4 times on 4"),
    ],
)
def test_the_verdict_on_stored_samples(at_least, observation, fraction, undecided, said):
    result = award(observation, replace(OPTIONS, cores=(1, 2, 4), at_least=at_least))
    assert (result.fraction, result.undecided, result.again) == (fraction, undecided, undecided)
    assert result.flags == ()
    assert said in result.reason


@pytest.mark.parametrize(
    "cpu",
    [(2.0, 2.0, 2.0), (8.0, 2.0, 2.0)],
    ids=["waits on one core", "computes more on one core"],
)
def test_what_is_slow_on_one_core_on_purpose_is_shown_to_a_person(cpu):
    observation = stored((8.0, 4.0, 2.0), cpu=list(cpu))
    result = award(observation, replace(OPTIONS, cores=(1, 2, 4), at_least={"4": 3.0}))
    assert (result.fraction, result.undecided, result.again) == (0.0, True, False)
    assert result.flags[0].startswith("uneven_work: on 1 core it takes up to 8 s")


def test_what_is_slow_on_one_core_in_some_rounds_is_shown_to_a_person():
    """Its median is not, and the interval of what was measured holds the threshold."""
    observation = stored(([2.0] * 5 + [8.0] * 4, 2.0, 2.0))
    samples, cpu = observation.facts["samples"], dict(observation.facts["cpu"])
    cpu |= {"1": samples["1"], "4": [2.0] * 9}
    observation = replace(observation, facts={**observation.facts, "cpu": cpu})
    result = award(observation, replace(OPTIONS, cores=(1, 2, 4), at_least={"4": 3.0}))
    assert (result.fraction, result.undecided, result.again) == (0.0, True, False)
    assert result.flags[0].startswith("uneven_work: on 1 core it takes up to 8 s")


def test_what_is_shown_to_a_person_gets_the_points_that_a_person_gives():
    shown = stored((8.0, 4.0, 2.0), cpu=[2.0] * 3)
    given = {"points_given": Quantity(value=3), "points_possible": Quantity(value=4)}
    result = award(replace(shown, quantities=given), replace(OPTIONS, cores=(1, 2, 4), at_least={"4": 3.0}))
    assert (result.fraction, result.undecided) == (0.75, False)
    assert Scaling.by_hand


def test_a_threshold_within_the_interval_gives_the_benefit_and_tells_a_person():
    observation = stored((8.0, 4.0, [2.0] * 4 + [2.6] + [3.2] * 4))
    result = award(observation, replace(OPTIONS, cores=(1, 2, 4), at_least={"4": 3.5}))
    assert result.fraction == 1.0
    assert result.flags[0].startswith("near_threshold: on 4 cores")


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"cores": [4, 2]}, "must grow"),
        ({"cores": [2, 2]}, "must grow"),
        ({"cores": []}, "must grow"),
        ({"cores": [0, 2]}, "must be a whole number > 0"),
        ({"at_least": {"3": 2.0}}, "at_least: 3 is no number of cores that is compared with 1"),
        ({"at_least": {"1": 2.0}}, "at_least: 1 is no number"),
        ({"rounds": 4}, "must be a whole number > 4"),
    ],
)
def test_keys_that_make_no_sense_are_refused(keys, said):
    options, problems = decode(Scaling.Options, {"of": "work.total", "inputs": "numbers", **keys})
    assert options is None
    assert said in str(problems[0])
