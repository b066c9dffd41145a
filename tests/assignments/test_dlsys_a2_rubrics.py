"""The rubrics of dlsys_a2 ask for what the course asks for, and nobody learns by saying so."""

from __future__ import annotations

import runpy
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grader.bench.bench import REFERENCE, SUBMISSION
from grader.bench.children import Children
from grader.bench.compare import compare
from grader.bench.servers import Servers
from grader.bench.workbench import Workbench
from grader.checks.watched import WATCHED
from grader.config.codec import to_plain
from grader.config.rubric import load_rubric
from grader.coursecode import course_module
from grader.model.assignment import Limits
from grader.model.job import Job
from grader.model.observation import Case, Observation, Outcome, Quantity
from grader.model.submission import Submission
from grader.model.trace import Launch, Trace, Watched
from grader.plugins import Plugins
from grader.sandbox.bubblewrap import BubblewrapSandbox
from grader.sandbox.interpreter import interpreter

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "assignments" / "dlsys_a2"
TABLES = runpy.run_path(str(Path(__file__).with_name("test_dlsys_a2.py")))
"""Which driver goes with which family, and drivers over kernels that NumPy computes."""

TWELVE = (
    "array_set",
    "broadcast_to",
    "reduce_sum_axis_zero",
    "matrix_elementwise_add",
    "matrix_elementwise_add_by_const",
    "matrix_elementwise_multiply",
    "matrix_elementwise_multiply_by_const",
    "matrix_multiply",
    "relu",
    "relu_gradient",
    "softmax",
    "softmax_cross_entropy",
)
POINTS = {**dict.fromkeys(TWELVE, 1), "matrix_multiply": 2, "softmax_cross_entropy": 0}
TRAINING = {"mlp.numpy": 1, "mlp.gpu.learns": 1, "mlp.gpu.faster": 0.5, "mlp.gpu.allocations": 0.5}

checks = course_module(FOLDER / "checks.py")
expected = course_module(FOLDER / "expected.py")
inputs = course_module(FOLDER / "inputs.py")
plugins = Plugins(ROOT)


def rubric(name):
    path = ROOT / "rubrics" / f"{name}.yaml"
    return load_rubric(path, kinds=plugins.checks, assignments=plugins.assignment_folders)


MAIN, STRICT, TESTS = map(rubric, ("dlsys_a2", "dlsys_a2_strict", "dlsys_a2_tests"))
COMPARED = [
    pytest.param(item, family, id=f"{of.name}: {item.id}, {family}")
    for of in (MAIN, STRICT)
    for item in of.items
    if item.check == "matches_reference"
    for family in dict.fromkeys((item.options.inputs, item.options.simulated_inputs or item.options.inputs))
]


def test_the_points_are_those_of_the_hand_out():
    assert {item.id: item.points for item in MAIN.items} == {"build": 0, **POINTS, **TRAINING}
    (_, tests) = TESTS.items
    assert {name.removeprefix("test_"): weight for name, weight in tests.options.tests.items()} == POINTS
    assert tests.points == sum(POINTS.values()) == 12


def test_the_strict_rubric_looks_at_every_operation_again_and_gives_nothing_for_the_example():
    assert [item.id for item in STRICT.items][:13] == ["build", *TWELVE]
    free = {"build", "softmax_cross_entropy", "sanitizer"}
    assert {item.id for item in STRICT.items if not item.points} == free


@pytest.mark.parametrize("of", [MAIN, STRICT, TESTS], ids=lambda of: of.name)
def test_what_needs_a_gpu_needs_the_library_and_nothing_shares_a_process(of):
    assert [item.id for item in of.items if bool(item.devices) != ("build" in item.needs)] == []
    assert [item.id for item in of.items if item.group] == []


@pytest.mark.parametrize("of", [MAIN, STRICT], ids=lambda of: of.name)
def test_every_operation_and_every_graph_can_be_simulated(of):
    items = [item for item in of.items if item.check == "matches_reference" and item.devices]
    assert [item.id for item in items if not item.options.simulated_inputs] == []


@pytest.fixture(scope="module")
def drivers():
    with TABLES["marked"](FOLDER / "reference") as drivers:
        drivers.base._LIB._loaded = TABLES["Library"]()
        yield drivers


@pytest.mark.parametrize(("item", "family"), COMPARED)
def test_an_item_is_earned_where_the_kernels_are_right(drivers, item, family):
    module, function = item.options.of.split(".")
    called = getattr(getattr(drivers, module), function)
    oracle = getattr(expected, item.options.expected or function)
    for case in getattr(inputs, family)(np.random.default_rng(5)):
        wanted = oracle(*case.args, **case.kwargs)
        compared = compare(called(*case.args, **case.kwargs), wanted, item.options.tolerance)
        assert (case.name, compared.note) == (case.name, "")


@pytest.mark.parametrize("seed", range(40))
def test_the_mean_of_losses_of_both_signs_may_come_out_near_zero(seed):
    """The tolerance of the course's test is missed by a right kernel in one of twenty draws."""
    (item,) = (item for item in MAIN.items if item.id == "softmax_cross_entropy")
    (case,) = inputs.softmax_cross_entropy(np.random.default_rng(seed))
    logits, labels = case.args
    rounded = -(labels * np.log(expected.softmax(logits).astype(np.float32))).sum(axis=1).mean()
    wanted = expected.softmax_cross_entropy(*case.args)
    assert compare(np.array([rounded]), wanted, item.options.tolerance).agrees


@pytest.mark.slow
def test_the_longest_training_in_single_precision_is_like_the_one_in_double(drivers):
    """The item about allocations trains for up to 16 epochs, and the roundings of these must not show."""
    (case,) = inputs.two_batches(np.random.default_rng(2))
    wanted = expected.on_gpu(*case.args, epochs=16)
    assert compare(drivers.training.on_gpu(*case.args, epochs=16), wanted).agrees
    assert compare(drivers.training.on_numpy(*case.args, epochs=16), wanted).agrees
    wrong = expected.on_gpu(*case.args, epochs=15)
    assert not compare(drivers.training.on_gpu(*case.args, epochs=16)[1:], wrong).agrees


# The kind `learns`.

KERNEL = Launch(kernel="k", grid=(1, 1, 1), block=(1, 1, 1))
LAUNCHED = Trace(source="cupti", launches=(KERNEL,), launch_count=1)


def award(*, trace=None, short="", losses=(0.5, 0.05, 0.3), shares=(0.5, 0.95, 0.7), note=""):
    def seen(name, **more):
        return Case(name=name, outcome=Outcome.OBSERVED, **more)

    epochs = [
        seen("an epoch", quantities={"loss": Quantity(value=loss), "accuracy": Quantity(value=share)})
        for loss, share in zip(losses, shares, strict=True)
    ]
    observation = Observation(
        item="i",
        outcome=Outcome.OBSERVED,
        cases=(
            seen("5000 pictures", agrees={"losses": not short}, note=short),
            seen("50000 pictures"),
            *((seen("an epoch", note=note),) if note else epochs),
        ),
        facts={} if trace is None else {WATCHED: to_plain(Watched(trace=trace))},
    )
    options = checks.Learns.Options(inputs="few_batches")
    return checks.Learns().award(options, observation, {})


@pytest.mark.parametrize("trace", [None, LAUNCHED])
def test_losses_that_fall_and_enough_right_answers_after_the_best_epoch_earn_it(trace):
    earned = award(trace=trace)
    assert earned.fraction == 1
    assert earned.reason == "the loss falls from 0.5 to 0.05; 95.00% of the other pictures are right"


@pytest.mark.parametrize(
    ("measured", "reason"),
    [
        ({"short": "off by 1"}, "the losses of a short training in small steps: off by 1"),
        ({"losses": (0.5, 0.2, 0.3)}, "the loss goes from 0.5 to 0.2; 0.1 is asked for"),
        ({"losses": (0.5, float("nan"), 0.3)}, "the loss goes from 0.5 to 0.3"),
        ({"losses": (0.5, None, None)}, "the loss goes from 0.5 to nan"),
        ({"losses": (float("nan"), 0.1, 0.1)}, "the loss goes from nan to 0.1"),
        ({"shares": (0.5, 0.9, 0.8)}, "90.00% of the other pictures are right; 93% are asked for"),
        ({"note": "no answer"}, "no answer"),
        ({"trace": replace(LAUNCHED, launch_count=0)}, "no kernel was launched"),
    ],
)
def test_what_is_not_as_it_must_be_loses_it(measured, reason):
    earned = award(**measured)
    assert (earned.fraction, earned.undecided) == (0, False)
    assert earned.reason.startswith(reason)


def test_a_training_on_a_gpu_that_could_not_be_observed_decides_nothing():
    earned = award(trace=replace(LAUNCHED, complete=False, problem="no cupti"))
    assert (earned.undecided, earned.again) == (True, True)
    assert earned.reason == "it could not be seen whether the GPU does the work: no cupti"


@pytest.fixture
def bench(tmp_path):
    """A bench over a real sandbox for the reference with something appended to its graph."""
    if missing := BubblewrapSandbox().available():
        pytest.skip(missing)
    tmp_path.chmod(0o755)
    opened = []

    def make(appended=""):
        workspace = shutil.copytree(FOLDER / "reference", tmp_path / "workspace")
        with (workspace / "python/dlsys/autodiff.py").open("a") as file:
            file.write(appended)
        job = Job(
            id="1",
            submission=Submission(student="s", assignment="a", archive="s.zip", digest="d", files=()),
            course=str(ROOT),
            assignment_folder=str(FOLDER),
            workspace=str(workspace),
            tasks=(),
            preloads={"training": ("numpy", "numpy.random", "ctypes")},
            limits=Limits(call_wall_s=60.0, memory_mb=4096),
            seed="5eed",
        )
        servers = Servers(
            (BubblewrapSandbox(),),
            python=interpreter().executable,
            site=interpreter().site,
            workspaces={SUBMISSION: workspace, REFERENCE: FOLDER / "reference"},
            given=FOLDER / "given",
            limits=job.limits,
        )
        children = Children(servers, job.limits)
        opened.extend((children, servers))
        return Workbench(job, "mlp.numpy", children)

    yield make
    for resource in opened:
        resource.close()


def look(bench, **options):
    options = checks.Learns.Options(inputs="few_batches", **options)
    observation = checks.Learns().observe(options, bench)
    earned = None
    if observation.outcome is Outcome.OBSERVED:
        earned = checks.Learns().award(options, observation, {})
    return observation, earned


@pytest.mark.slow
def test_the_reference_learns_and_its_short_training_is_that_of_float64(bench):
    observation, earned = look(bench(), epochs=2, fall_to=0.8, at_least=0.6)
    assert earned.fraction == 1, earned.reason
    names = [case.name for case in observation.cases]
    assert names == ["5000 pictures", "50000 pictures", "epoch 1", "epoch 2"]
    assert observation.cases[0].agrees == {"losses": True}
    assert observation.cases[3].quantities["loss"].taken_by == "subject"
    assert observation.cases[-1].quantities["accuracy"].taken_by == "examiner"


IDLE = """
def run(self, feed_dict, convert_to_numpy_ret_vals=False):
    if len(self.eval_node_list) == 1:
        return [np.zeros((1000, 10))]
    return [np.full(1, 0.1), *(np.zeros(1) for _ in self.eval_node_list[1:])]

Executor.run = run
print("validation set accuracy=1.0")
"""


@pytest.mark.slow
def test_who_learns_nothing_may_print_what_he_likes(bench):
    observation, earned = look(bench(IDLE), epochs=2)
    assert earned.fraction == 0
    assert observation.cases[-1].quantities["accuracy"].value < 0.2
    assert "accuracy=1.0" in observation.output


@pytest.mark.slow
def test_answers_that_are_no_classes_are_none(bench):
    _, earned = look(bench(IDLE.replace("(1000, 10)", "(10, 10)")), epochs=2)
    assert "the network does not give one class for each of 10000 pictures" in earned.reason


def test_a_training_that_raises_is_told_with_its_words(bench):
    raising = "def gradients(*_):\n    raise ValueError('not today')\n"
    observation, _ = look(bench(raising))
    assert observation.outcome is Outcome.CRASHED
    assert "not today" in observation.note
    assert observation.cases == ()
