"""The rubrics of dlsys_a2 ask for what the course asks for, and nobody learns by saying so."""

from __future__ import annotations

import runpy
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grader.checks.watched import WATCHED
from grader.config.codec import to_plain
from grader.config.rubric import load_rubric
from grader.contracts.context import REFERENCE, SUBMISSION
from grader.coursecode import course_module
from grader.harness.compare import compare
from grader.harness.item_context import ItemContext
from grader.harness.process_pool import ProcessPool
from grader.harness.servers import Servers
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
    assert {item.id: item.points for item in MAIN.items} == {"build": 0, **POINTS, "outside": 0, **TRAINING}
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
FAMILIES = {"inputs": "exchanged_network", "networks": "drawn_networks"}
LAUNCHED = Trace(source="cupti", launches=(KERNEL,), launch_count=1)


def award(*, trace=None, observed="", wrong="", shares=(0.5, 0.95, 0.7), compared=True):
    def seen(name, **more):
        return Case(name=name, outcome=Outcome.OBSERVED, **more)

    observation = Observation(
        item="i",
        outcome=Outcome.OBSERVED,
        cases=(
            seen("a network", agrees={"training": not wrong}, note=wrong),
            seen("50000 pictures"),
            *(seen("an epoch", quantities={"accuracy": Quantity(value=share)}) for share in shares),
            seen("a batch", agrees={"parameters": True} if compared else {}),
        ),
        facts={} if trace is None else {WATCHED: to_plain(Watched(trace=trace, wrong=observed))},
    )
    return checks.Learns().award(checks.Learns.Options(**FAMILIES), observation, {})


@pytest.mark.parametrize("trace", [None, LAUNCHED])
def test_right_steps_and_enough_right_answers_after_the_best_epoch_earn_it(trace):
    earned = award(trace=trace)
    assert earned.fraction == 1
    assert earned.reason == "95.00% of the other pictures are right"


@pytest.mark.parametrize(
    ("measured", "reason"),
    [
        ({"wrong": "off by 1"}, "a network: off by 1"),
        ({"shares": (0.5, 0.9, 0.8)}, "90.00% of the other pictures are right; 93% are asked for"),
        ({"shares": ()}, "0.00% of the other pictures are right; 93% are asked for"),
        ({"compared": False}, "no batch of the training could be computed again"),
        ({"trace": replace(LAUNCHED, launch_count=0)}, "no kernel was launched"),
        ({"trace": LAUNCHED, "observed": "off by 1"}, "the result of the observed call is wrong: off by 1"),
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
def context(tmp_path):
    """A context over a real sandbox for the reference with something appended to its graph."""
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
            course_files=FOLDER / "given",
            limits=job.limits,
        )
        children = ProcessPool(servers, job.limits)
        opened.extend((children, servers))
        return ItemContext(job, "mlp.numpy", children)

    yield make
    for resource in opened:
        resource.close()


def look(context, **options):
    options = checks.Learns.Options(**FAMILIES, **options)
    observation = checks.Learns().observe(options, context)
    earned = None
    if observation.outcome is Outcome.OBSERVED:
        earned = checks.Learns().award(options, observation, {})
    return observation, earned


class Oracles:
    """A context that has oracles and nothing else."""

    @staticmethod
    def expected(name):
        return getattr(expected, name)


NOT_FINITE = "not finite"


@pytest.mark.parametrize(
    ("steps", "agrees"),
    [
        pytest.param(["epoch", "batch"], True, id="a right step"),
        pytest.param(["epoch", f"batch {NOT_FINITE}"], False, id="a step from finite parameters to NaN"),
        pytest.param([f"epoch {NOT_FINITE}", f"batch {NOT_FINITE}", f"epoch {NOT_FINITE}"], True, id="lost"),
        pytest.param([f"epoch {NOT_FINITE}", "epoch"], False, id="an epoch from NaN to finite parameters"),
        pytest.param([f"epoch {NOT_FINITE}", "batch"], False, id="a step from NaN to finite parameters"),
    ],
)
def test_parameters_that_are_not_finite_stay_so_and_come_from_nowhere(steps, agrees):
    rng = np.random.default_rng(2)
    pictures = rng.integers(0, 256, (1000, 784)).astype(np.uint8) * (rng.random((1000, 784)) < 0.2)
    labels = rng.integers(10, size=1000)
    learning = checks._Learning(Oracles, pictures, labels)
    parameters = [rng.normal(scale=0.02, size=shape).astype(np.float32) for shape in checks.SHAPES]
    seen = Case(name="a case", outcome=Outcome.OBSERVED)
    for step in steps:
        if step.startswith("batch"):
            look = lambda case, value: learning.batch([pictures, labels], case, value)  # noqa: E731
            parameters = [a.astype(np.float32) for a in expected.batch(parameters, pictures, labels)]
        else:
            look = lambda case, value: learning.epoch([pictures, labels], case, value)  # noqa: E731
        returned = [np.full_like(a, np.nan) for a in parameters] if NOT_FINITE in step else parameters
        seen = look(replace(seen, agrees={}), (0.5, returned))
    assert all(seen.agrees.values()) == agrees, seen.note


def drawn_step():
    """Parameters, pictures and labels of a step."""
    rng = np.random.default_rng(3)
    pictures = rng.integers(0, 256, (1000, 784)).astype(np.uint8) * (rng.random((1000, 784)) < 0.2)
    parameters = [rng.normal(scale=0.1, size=shape).astype(np.float32) for shape in checks.SHAPES]
    return parameters, pictures, rng.integers(10, size=1000)


def test_parameters_from_which_the_next_step_goes_too_far_count_for_nothing():
    """Two neurons without a say have slopes beyond single precision."""
    parameters, *samples = drawn_step()
    learning = checks._Learning(Oracles, *samples)
    seen = Case(name="an epoch", outcome=Outcome.OBSERVED)
    assert "accuracy" in learning.epoch(samples, seen, (0.5, parameters)).quantities
    w1, w2, w3, b1, b2, _ = parameters
    w1[:, 255], w2[255], b1[255] = 0, 0, 1e6
    w2[:, 99], w3[99], b2[99], w3[99, 0] = 0, 0, 1e-37, 1e37
    counted = learning.epoch(samples, seen, (0.5, parameters))
    assert not counted.quantities
    assert not counted.agrees
    assert not learning.batch(samples, seen, (0.5, parameters)).agrees


@pytest.mark.parametrize(("share", "agrees"), [(1.0, True), (0.0, False), (0.9, False)])
def test_a_step_from_drawn_parameters_is_the_whole_step(share, agrees):
    parameters, *samples = drawn_step()
    after = expected.batch(parameters, *samples)
    taken = [
        (before + share * (there - before)).astype(np.float32)
        for before, there in zip(parameters, after, strict=True)
    ]
    seen = checks._stepped(after, Case(name="a step", outcome=Outcome.OBSERVED), (0.5, taken))
    assert seen.agrees == {"step": agrees}


@pytest.mark.slow
def test_the_reference_learns_and_its_steps_are_those_of_float64(context):
    observation, earned = look(context(), epochs=2, at_least=0.6)
    assert earned.fraction == 1, earned.reason
    names = [case.name for case in observation.cases]
    assert [name.split(" of ")[0] for name in names[:3]] == 3 * ["a network"]
    assert names[3:7] == [
        "a step from drawn parameters",
        "50000 pictures",
        "epoch 1",
        "a batch after epoch 1",
    ]
    compared = [case for case in observation.cases if case.agrees]
    assert len(compared) >= 4
    last = next(case for case in observation.cases if case.name == "epoch 2")
    assert last.quantities["loss"].taken_by == "subject"
    assert last.quantities["accuracy"].taken_by == "worker"


IDLE = """
def run(self, feed_dict, convert_to_numpy_ret_vals=False):
    return [np.full(1, 0.1), *(np.zeros(1) for _ in self.eval_node_list[1:])]

Executor.run = run
print("validation set accuracy=1.0")
"""


def test_who_learns_nothing_may_print_what_he_likes(context):
    observation, earned = look(context(IDLE), epochs=2)
    assert earned.fraction == 0
    assert all(c.quantities["accuracy"].value < 0.2 for c in observation.cases if "accuracy" in c.quantities)
    assert "accuracy=1.0" in observation.output


REPLACED = """
def gradients(output_node, node_list):
    return node_list  # wrong: no gradients at all


import sys
import types


class Network:
    \"\"\"The course's network without a graph.\"\"\"

    def __init__(self, sizes, ctx=None):
        rng = np.random.RandomState(123)
        self.W = [rng.normal(scale=0.1, size=s).astype(np.float32) for s in zip(sizes[:-1], sizes[1:])]
        self.b = [rng.normal(scale=0.1, size=s).astype(np.float32) for s in sizes[1:]]
        self.parameters = [*self.W, *self.b]

    def learn(self, x, y):
        losses, rate = [], sys.modules["mnist_dlsys"].LEARNING_RATE
        for k in range(1000, len(x) + 1, 1000):
            layers = [x[k - 1000 : k]]
            for n, (W, b) in enumerate(zip(self.W, self.b)):
                layers.append((np.maximum(layers[-1], 0) if n else layers[-1]) @ W + b)
            p = np.exp(layers[-1] - layers[-1].max(axis=1, keepdims=True))
            p /= p.sum(axis=1, keepdims=True)
            slope = p - np.eye(10, dtype=np.float32)[y[k - 1000 : k]]
            losses.append(float(-np.log(p[np.arange(1000), y[k - 1000 : k]] + 1e-12).mean()))
            for n in reversed(range(3)):
                below = np.maximum(layers[n], 0) if n else layers[n]
                step = rate * below.T @ slope, rate * slope.sum(axis=0)
                slope = (slope @ self.W[n].T) * (layers[n] > 0)
                self.W[n] -= step[0]
                self.b[n] -= step[1]
        return sum(losses) / len(losses)

    def predict(self, x):
        for n, (W, b) in enumerate(zip(self.W, self.b)):
            x = (np.maximum(x, 0) if n else x) @ W + b
        return np.argmax(x, axis=1)


sys.modules["mnist_dlsys"] = types.SimpleNamespace(Network=Network, MODELS={"mlp": (784, 256, 100, 10)})
"""


def test_a_network_in_the_place_of_the_course_s_does_not_learn_for_a_wrong_executor(context):
    observation, earned = look(context(REPLACED), epochs=2, at_least=0.5)
    assert earned.fraction == 0
    assert earned.reason.startswith("a network of ")
    # its training of the course's own network is right
    assert all(case.agrees.get("parameters", True) for case in observation.cases)


LARGER_STEPS = """
_run = Executor.run

def run(self, feed_dict, convert_to_numpy_ret_vals=False):
    loss, *slopes = _run(self, feed_dict, convert_to_numpy_ret_vals)
    of_the_course = bool(slopes) and slopes[0].shape == (784, 256)
    return [loss, *(slope * 1.2 if of_the_course else slope for slope in slopes)]

Executor.run = run
"""


@pytest.mark.slow
def test_a_step_of_the_course_s_network_that_is_another_one_loses_it(context):
    _, earned = look(context(LARGER_STEPS), epochs=2)
    assert earned.fraction == 0
    assert earned.reason.startswith("a step from drawn parameters: the parameters afterwards: item ")


def test_a_training_that_raises_is_told_with_its_words(context):
    raising = "def gradients(*_):\n    raise ValueError('not today')\n"
    observation, _ = look(context(raising))
    assert observation.outcome is Outcome.CRASHED
    assert "not today" in observation.note
    assert observation.cases == ()


def test_the_hand_out_names_the_limits_that_a_call_has():
    """Programs that leak handles end by a limit of the GPU's memory, and nobody was told of it."""
    limits = plugins.assignments["dlsys_a2"].limits
    text = " ".join((FOLDER / "handout.md").read_text(encoding="utf-8").split())
    assert f"A call may take {limits.call_wall_s:g} seconds" in text
    assert f"hold {limits.gpu_memory_mb:,} MiB of the GPU's memory when one returns" in text
    assert "cublasDestroy" in text
