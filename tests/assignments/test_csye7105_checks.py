"""The kinds of csye7105_hw4 decide on what was seen, name mistakes, and leave open what they cannot tell."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from grader.config.decode import decode
from grader.contracts.call import Call, InputCase
from grader.coursecode import course_module
from grader.errors import CourseError
from grader.model.assignment import Limits
from grader.model.observation import Fault, Observation, Outcome, Quantity
from grader.model.trace import Launch, Trace
from tests.assignments.busy import QuietUnlessCalled

FOLDER = Path(__file__).resolve().parents[2] / "assignments" / "csye7105_hw4"

written_for = course_module(FOLDER / "written_for.py")
known_mistakes = course_module(FOLDER / "known_mistakes.py")
device_speedup = course_module(FOLDER / "device_speedup.py")
printed_times = course_module(FOLDER / "printed_times.py")
values = course_module(FOLDER / "values.py")


def options(kind, **keys):
    """As a rubric gives them."""
    found, problems = decode(kind.Options, keys)
    assert problems == ()
    return found


def stored(observation):
    """An observation as evidence keeps it."""
    return Observation(
        item=observation.item,
        outcome=observation.outcome,
        cases=observation.cases,
        quantities=observation.quantities,
        facts=json.loads(json.dumps(observation.facts)),
        output=observation.output,
    )


@dataclass
class CheckContext:
    """Programs as functions of this process: `call(function, case)` gives what came of a call."""

    call: object = None
    reference_call: object = None
    files: dict = field(default_factory=dict)
    oracles: dict = field(default_factory=dict)
    imported: Call = field(default_factory=lambda: Call(outcome=Outcome.OBSERVED))
    output: str = ""
    disturbance: str = ""
    item: str = "part2"
    seed: str = "5eed"
    simulated: bool = False
    limits: Limits = field(default_factory=Limits)

    def missing(self, file):
        return Observation(item=self.item, outcome=Outcome.REFUSED, note=f"{file} was not handed in")

    def read(self, file, at_most):
        if file not in self.files:
            raise FileNotFoundError(file)
        return self.files[file].encode()

    def inputs(self, family):
        return self.draw(family, 0)

    def draw(self, family, number):
        return (InputCase(name=f"{family} {number}", args=("matrix_power.py", 48, np.ones(48))),)

    def expected(self, name):
        return self.oracles[name]

    @property
    def quiet(self):
        return SimpleNamespace(begin=lambda *, anew=False: None, end=lambda: self.disturbance, untold=False)

    @contextmanager
    def _child(self, call):
        def again(case):
            return Call(outcome=Outcome.OBSERVED, wall_s=0.0, cpu_s=0.0)

        yield SimpleNamespace(imported=self.imported, call=call, again=again, output=self.output, alive=True)

    def subject(self, module, *, observed=False):
        return self._child(self.call)

    def reference(self, module):
        return self._child(self.reference_call or self.call)


# Which library it is written for.


def frameworks(source):
    kind = written_for.WrittenFor()
    keys = options(kind, file="matrix_power.py")
    observation = kind.observe(keys, CheckContext(files={"matrix_power.py": source}))
    return kind.award(keys, stored(observation), {})


def test_what_is_written_in_tensorflow_is_left_to_a_person_who_is_told_so():
    found = frameworks("import tensorflow.compat.v1 as tf\n")
    assert (found.undecided, found.again) == (True, False)
    assert "matrix_power.py is written for TensorFlow" in found.reason
    assert "a person looks" in found.reason


@pytest.mark.parametrize("source", ["import torch", "import torch, tensorflow", "x = 1", "not Python", ""])
def test_everything_else_is_run(source):
    assert frameworks(source).fraction == 1.0


def test_of_a_file_that_is_not_there_nothing_is_said_but_that():
    kind = written_for.WrittenFor()
    keys = options(kind, file="matrix_power.py")
    observation = kind.observe(keys, CheckContext())
    assert (observation.outcome, observation.note) == (Outcome.REFUSED, "matrix_power.py was not handed in")


def test_what_runs_a_file_that_is_not_there_needs_no_gpu_to_be_lost():
    (assignment,) = course_module(FOLDER / "assignment.py").grader_assignments()
    assert assignment.requires["program"] == assignment.requires["powers"] == ("matrix_power.py",)


# Known mistakes.


def mistaken(answer):
    kind = known_mistakes.KnownMistakes()
    keys = options(
        kind,
        of="powers.f",
        inputs="numbers",
        expected="right",
        mistakes=["element_wise", "one_more"],
    )
    oracles = {"right": lambda *_: 10.0, "element_wise": lambda *_: 20.0, "one_more": lambda *_: 30.0}

    def call(function, case):
        return Call(outcome=Outcome.OBSERVED, value=answer)

    observation = kind.observe(keys, CheckContext(call, oracles=oracles))
    assert observation.outcome is Outcome.OBSERVED
    return kind.award(keys, stored(observation), {})


def test_a_right_result_earns_everything():
    assert mistaken(10.0).fraction == 1.0


@pytest.mark.parametrize(("answer", "name"), [(20.0, "element_wise"), (30.0, "one_more")])
def test_a_known_mistake_is_called_by_its_name_with_a_hint_of_its_own(answer, name):
    found = mistaken(answer)
    assert (found.fraction, found.reason, found.hint) == (0.0, values.MISTAKES[name], values.HINTS[name])


def test_an_unknown_mistake_is_told_by_its_first_difference():
    found = mistaken(40.0)
    assert (found.fraction, found.hint) == (0.0, "")
    assert "got 40" in found.reason
    assert "expected 10" in found.reason


def test_a_mistake_without_a_sentence_is_refused():
    _, problems = decode(
        known_mistakes.KnownMistakes.Options, {"of": "a.f", "inputs": "x", "mistakes": ["typo"]}
    )
    assert "there is no sentence for it" in str(problems[0])


# Two GPUs over one.

SPEEDUP = {
    "of": "powers.on_two",
    "over": "powers.on_one",
    "inputs": "matrices",
    "expected": "at_full_size",
    "at_least": 1.5,
}


def timed(one_s, two_s, *, reference=(0.328, 0.165), value=1.0, disturbance=""):
    """What comes of calls that take so many seconds on one GPU and on two."""
    kind = device_speedup.DeviceSpeedup()
    keys = options(kind, **SPEEDUP, budget_s=0.5)

    def calls(seconds, value):
        took = dict(zip(("on_one", "on_two"), seconds, strict=True))
        return lambda function, case: Call(
            outcome=Outcome.OBSERVED, value=value, wall_s=took[function], cpu_s=took[function]
        )

    context = CheckContext(
        calls((one_s, two_s), value),
        calls(reference, 1.0),
        oracles={"at_full_size": lambda *_: 1.0},
        disturbance=disturbance,
    )
    return kind, keys, kind.observe(keys, context)


def judged(*seconds, **keys):
    kind, keys, observation = timed(*seconds, **keys)
    assert observation.outcome is Outcome.OBSERVED
    return kind.award(keys, stored(observation), {})


def test_two_gpus_that_halve_the_time_earn_everything():
    found = judged(0.328, 0.165)
    assert (found.fraction, found.flags) == (1.0, ())
    assert found.reason == "two GPUs take 50% of the time of one: 1.99 times faster"


def test_a_slower_way_to_multiply_costs_nothing_where_two_gpus_halve_it():
    assert judged(0.738, 0.371).fraction == 1.0


def test_one_gpu_after_the_other_earns_nothing():
    found = judged(0.328, 0.328)
    assert found.fraction == 0.0
    assert found.reason.endswith("1 times faster; at least 1.5 are needed")


def test_a_machine_on_which_the_reference_gains_too_little_decides_nothing():
    found = judged(0.328, 0.328, reference=(0.328, 0.25))
    assert (found.undecided, found.again) == (True, True)
    assert "the reference itself is only 1.31 times faster on two GPUs" in found.reason


def test_whoever_gains_more_than_two_gpus_can_give_is_shown_to_a_person():
    found = judged(0.656, 0.165)
    assert (found.undecided, found.again) == (True, False)
    assert found.flags == ("slow_on_one: gains 3.98, where the reference gains 1.99",)


def test_who_gains_so_much_in_some_rounds_only_and_nothing_in_others_is_shown_to_a_person():
    """The interval over all rounds holds what is asked for, and its low end nothing that is too good."""
    kind, keys, observation = timed(0.328, 0.328)
    samples = observation.facts["samples"]
    count = len(samples["of"])
    uneven = {**samples, "over": [0.328] + [1.3] * (count - 1)}
    found = kind.award(keys, replace(observation, facts={**observation.facts, "samples": uneven}), {})
    assert (found.fraction, found.undecided, found.again) == (0.0, True, False)
    assert found.flags[0].startswith("slow_on_one: ")


def test_a_single_round_that_is_too_good_costs_nothing():
    kind, keys, observation = timed(0.328, 0.165)
    samples = observation.facts["samples"]
    uneven = {**samples, "over": [1.3, *samples["over"][1:]]}
    found = kind.award(keys, replace(observation, facts={**observation.facts, "samples": uneven}), {})
    assert (found.fraction, found.flags) == (1.0, ())


def test_the_result_of_every_timed_call_is_compared():
    found = judged(0.328, 0.165, value=2.0)
    assert found.fraction == 0.0
    assert found.reason.startswith("the result of a timed call is wrong: ")


@pytest.mark.parametrize("left_alone", [True, False])
def test_who_is_never_timed_quietly_where_the_reference_is_has_disturbed_its_rounds(monkeypatch, left_alone):
    monkeypatch.setattr(
        CheckContext, "quiet", QuietUnlessCalled(monkeypatch, CheckContext, "subject", left_alone)
    )
    _, _, observation = timed(0.328, 0.165)
    if left_alone:
        assert observation.outcome is Outcome.REFUSED
        assert observation.note.startswith("cannot be timed: 3 times of 3 the cores were busy")
    else:
        assert (observation.outcome, observation.fault) == (Outcome.NOT_OBSERVED, Fault.BUSY)


def test_a_machine_that_is_never_quiet_leaves_it_open():
    _, _, observation = timed(0.328, 0.165, disturbance="others compute on its GPUs")
    assert (observation.outcome, observation.fault) == (Outcome.NOT_OBSERVED, Fault.BUSY)
    assert "others compute on its GPUs" in observation.note


# A program and the times that it prints.


def gemm(device, asked, began, seconds):
    return Launch(
        kernel="gemm",
        grid=(1,) * 3,
        block=(1,) * 3,
        device=device,
        asked_s=asked,
        began_s=began,
        seconds=seconds,
    )


ON_ONE = [gemm(0, 1.001, 1.002, 0.16), gemm(0, 1.001, 1.162, 0.16)]
ON_TWO = [gemm(0, 2.001, 2.002, 0.16), gemm(1, 2.001, 2.003, 0.16)]
READINGS = [["time", 100.0, 1.0], ["time", 100.328, 1.328], ["time", 101.0, 2.0], ["time", 101.165, 2.165]]
OUTPUT = "1 GPU: 0.328 s\n2 GPUs: 0.165 s\n"


def rows(matrix):
    probe = np.ones(48)
    power = np.linalg.matrix_power
    return np.stack([*(power(matrix, n) @ probe for n in (1, 9, 10, 11)), matrix**10 @ probe])


def program(
    launches=(*ON_ONE, *ON_TWO),
    *,
    output=OUTPUT,
    readings=READINGS,
    source="import torch",
    kept=None,
    trace=None,
    wall_s=3.0,
    **keys,
):
    """What a program earns that did and printed this."""
    power = np.linalg.matrix_power
    A, B = (np.random.default_rng(seed).uniform(size=(48, 48)) for seed in (1, 2))
    matrices = [A, B, power(A, 10) + power(B, 10)] if kept is None else kept(A, B)
    launches = tuple(launches)
    told = trace or Trace(source="cupti", launches=launches, launch_count=len(launches))

    def call(function, case):
        if function == "powers":
            return Call(
                outcome=Outcome.OBSERVED, value=[{"device": "cuda:0", "rows": rows(one)} for one in matrices]
            )
        return Call(outcome=Outcome.OBSERVED, value={"readings": readings}, trace=told, wall_s=wall_s)

    kind = printed_times.PrintedTimes()
    found = options(kind, of="program.run", inputs="programs", **keys)
    context = CheckContext(call, files={"matrix_power.py": source}, output=output)
    return kind.award(found, stored(kind.observe(found, context)), {})


UNREADABLE_ROWS = [
    None,
    7,
    [7],
    [{"rows": "x"}],
    [{"rows": np.zeros(5)}],
    [{"rows": np.zeros((5, 3))}, {"rows": np.zeros((5, 4))}],
    [{"rows": np.array([["a"]] * 5)}],
]
UNREADABLE_READINGS = [
    7,
    {},
    {"readings": 7},
    {"readings": [7, ["x"], ["time", "x", 1.0], ["time", 1e999, 0.0]]},
]


@pytest.mark.parametrize(
    ("rows", "readings"),
    [
        *((rows, {"readings": READINGS}) for rows in UNREADABLE_ROWS),
        *(([], readings) for readings in UNREADABLE_READINGS),
    ],
    ids=str,
)
def test_what_the_program_makes_of_the_driver_s_words_earns_nothing_and_breaks_nothing(rows, readings):
    def call(function, case):
        if function == "powers":
            return Call(outcome=Outcome.OBSERVED, value=rows)
        trace = Trace(source="cupti", launches=(*ON_ONE, *ON_TWO), launch_count=len((*ON_ONE, *ON_TWO)))
        return Call(outcome=Outcome.OBSERVED, value=readings, trace=trace, wall_s=3.0)

    kind = printed_times.PrintedTimes()
    keys = options(kind, of="program.run", inputs="programs")
    context = CheckContext(call, files={"matrix_power.py": "import torch"}, output=OUTPUT)
    observation = kind.observe(keys, context)
    assert observation.facts["sum"] != "right"
    assert kind.award(keys, stored(observation), {}).fraction < 1


def test_a_right_sum_and_two_times_of_what_the_gpus_did_earn_everything():
    found = program()
    assert (found.fraction, found.reason, found.hint) == (1.0, "3 of 3 requirements are met", "")


@pytest.mark.parametrize(
    ("keys", "met", "name", "reason"),
    [
        ({"kept": lambda A, B: [A, B, A**10 + B**10]}, 2, "element_wise", "not the power of the matrix"),
        (
            {"launches": [gemm(0, 1.001, 1.3, 0.3), *ON_TWO]},
            2,
            "unsynchronised",
            "the time for 1 GPU: the clock was stopped 0.272 s before the GPUs were done",
        ),
        (
            {"launches": [*ON_ONE, gemm(0, 2.001, 2.002, 0.08), gemm(0, 2.001, 2.082, 0.08)]},
            2,
            "one_device",
            "the time for 2 GPUs: only cuda:0 worked in that time",
        ),
        (
            {"launches": [gemm(0, 1.29, 1.29, 0.03), *ON_TWO]},
            2,
            "early",
            "the clock was started 0.29 s before the first product",
        ),
        (
            {"launches": [gemm(0, 1.0, 1.0, 0.03), *ON_TWO]},
            2,
            "late",
            "the clock was stopped 0.298 s after the last product",
        ),
    ],
)
def test_each_mistake_costs_its_share_and_has_a_name_and_a_hint(keys, met, name, reason):
    found = program(**keys)
    assert found.fraction == pytest.approx(met / 3)
    assert reason in found.reason
    assert found.hint == values.HINTS[name]


def test_a_time_that_is_not_printed_is_missed():
    found = program(output="2 GPUs: 0.165 s")
    assert found.fraction == pytest.approx(2 / 3)
    assert "the time for 1 GPU is not printed" in found.reason


def test_a_time_that_is_longer_than_the_whole_program_is_invented():
    found = program(output="1 GPU: 9.5 s\n2 GPUs: 0.165 s")
    assert "printed as 9.5 s, and the whole program took 3 s" in found.reason
    assert found.fraction == pytest.approx(2 / 3)


def test_a_time_of_which_nobody_read_the_clock_is_left_to_a_person():
    found = program(readings=[])
    assert found.undecided
    assert "the time for 1 GPU, 0.328 s, is not the difference of any two readings of a clock" in found.reason


def test_a_sum_that_nobody_kept_is_left_to_a_person():
    found = program(kept=lambda A, B: [A, B])
    assert found.undecided
    assert "is not among the matrices" in found.reason


def test_a_program_that_launches_nothing_has_no_times_on_gpus():
    found = program(launches=())
    assert found.fraction == pytest.approx(1 / 3)
    assert "the time for 1 GPU: no kernel was launched on any GPU" in found.reason


def test_an_incomplete_record_decides_nothing():
    found = program(trace=Trace(source="cupti", complete=False, problem="a canary is missing"))
    assert (found.undecided, found.again) == (True, True)
    assert found.reason.endswith("could not be observed: a canary is missing")


def test_where_no_times_of_kernels_are_told_printed_ones_are_open():
    launch = gemm(0, None, None, None)
    found = program(trace=Trace(source="simulator", launches=(launch,), launch_count=1))
    assert found.undecided
    assert "simulator does not tell all their times" in found.reason


@pytest.mark.parametrize(
    "source",
    ["import torch.multiprocessing as mp", "from multiprocessing import Process", "import mpi4py.MPI"],
)
def test_a_program_of_several_processes_is_left_to_a_person(source):
    found = program(source=source)
    assert (found.undecided, found.again) == (True, False)
    assert "several processes" in found.reason


def test_all_or_nothing_can_be_asked_for():
    assert program(output="2 GPUs: 0.165 s", credit="all").fraction == 0.0


def test_a_program_that_ends_in_an_error_is_the_outcome():
    kind = printed_times.PrintedTimes()
    crash = Call(outcome=Outcome.CRASHED, note="run() raised NameError", traceback="matrix_power.py")
    keys = options(kind, of="program.run", inputs="programs")
    observation = kind.observe(keys, CheckContext(lambda function, case: crash, output="half"))
    assert (observation.outcome, observation.note) == (Outcome.CRASHED, "run() raised NameError")
    assert observation.output == "half"


def test_a_driver_that_cannot_be_imported_is_the_course_s_fault():
    kind = printed_times.PrintedTimes()
    keys = options(kind, of="program.run", inputs="programs")
    with pytest.raises(CourseError, match="given: no torch"):
        kind.observe(keys, CheckContext(imported=Call(outcome=Outcome.CRASHED, note="no torch")))


@pytest.mark.parametrize(
    "kind",
    [
        written_for.WrittenFor,
        known_mistakes.KnownMistakes,
        device_speedup.DeviceSpeedup,
        printed_times.PrintedTimes,
    ],
)
def test_points_by_hand_stand_above_what_was_seen(kind):
    given = {name: Quantity(value=4) for name in ("points_given", "points_possible")}
    seen = Observation(item="part2", outcome=Outcome.OBSERVED, quantities=given)
    assert kind().award(None, seen, {}).fraction == 1.0
