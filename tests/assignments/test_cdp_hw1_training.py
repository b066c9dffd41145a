"""The network of cdp_hw1 learns from the stand-in's digits; who trains it never has the labels that count."""

from __future__ import annotations

import base64
import gzip
import hashlib
import pickle  # noqa: TID251 - MNIST is handed round as a pickle
import runpy
import shutil
import subprocess
import sys
import zipfile
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from grader.contracts.context import REFERENCE, SUBMISSION
from grader.coursecode import course_module
from grader.errors import CourseError
from grader.harness.item_context import ItemContext
from grader.harness.process_pool import ProcessPool
from grader.harness.servers import Servers
from grader.model.assignment import Limits
from grader.model.job import Job
from grader.model.observation import Case, Observation, Outcome, Quantity
from grader.model.submission import Submission
from grader.sandbox.bubblewrap import BubblewrapSandbox
from grader.sandbox.interpreter import interpreter

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "assignments" / "cdp_hw1"
UTILS = (FOLDER / "reference" / "utils.py").read_text()

checks = course_module(FOLDER / "checks.py")
data = course_module(FOLDER / "data.py")
training = course_module(FOLDER / "training.py")
Trains = checks.Trains
SMALL = (784, 16, 10)
"""Layers of a network that learns in a second or two most of what there is to learn."""


@pytest.fixture(scope="module")
def digits():
    return data.load()


@pytest.fixture
def kit(tmp_path):
    """What a student has: the starter's files and the reference's functions."""
    shutil.copytree(FOLDER / "starter", tmp_path, dirs_exist_ok=True)
    shutil.copy(FOLDER / "data.py", tmp_path)
    shutil.copytree(FOLDER / "data", tmp_path / "data")
    (tmp_path / "utils.py").write_text(UTILS)
    return tmp_path


@pytest.fixture
def context(tmp_path):
    """A context over a real sandbox for the files of a submission."""
    if missing := BubblewrapSandbox().available():
        pytest.skip(missing)
    tmp_path.chmod(0o755)
    opened = []

    def make(**files):
        workspace = tmp_path / "workspace"
        workspace.mkdir()
        names = tuple(f"{name}.py" for name in files)
        for name, text in zip(names, files.values(), strict=True):
            (workspace / name).write_text(text)
        job = Job(
            id="1",
            submission=Submission(student="s", assignment="a", archive="s.zip", digest="d", files=names),
            course=str(ROOT),
            assignment_folder=str(FOLDER),
            workspace=str(workspace),
            tasks=(),
            preloads={"utils": ("numpy", "numpy.random")},
            limits=Limits(call_wall_s=60.0),
            seed="5eed",
        )
        servers = Servers(
            (BubblewrapSandbox(),),
            python=interpreter().executable,
            site=interpreter().site,
            workspaces={SUBMISSION: workspace, REFERENCE: FOLDER / "reference"},
            limits=job.limits,
        )
        children = ProcessPool(servers, job.limits)
        opened.extend((children, servers))
        return ItemContext(job, "network.trains", children)

    yield make
    for resource in opened:
        resource.close()


def look(context, **options):
    options = Trains.Options(**options)
    observation = Trains().observe(options, context)
    earned = observation.outcome is Outcome.OBSERVED and Trains().award(options, observation, {}).fraction
    return observation, earned


@pytest.mark.slow
def test_the_stand_in_has_the_sizes_and_types_of_mnist(digits):
    assert [part.pictures.shape for part in digits] == [(50_000, 784), (10_000, 784), (10_000, 784)]
    for pictures, labels in digits:
        assert (pictures.dtype, labels.dtype) == (np.uint8, np.int64)
        assert pictures.max() == 255
        assert np.array_equal(np.unique(labels), np.arange(10))
        assert data.inputs(pictures[:2]).dtype == np.float32
        assert data.inputs(pictures).max() < 1


@pytest.mark.slow
def test_the_same_seed_gives_the_same_digits_and_another_one_others(digits):
    again, other = data.load(), data.load(seed=1)
    for part, same, different in zip(digits, again, other, strict=True):
        assert np.array_equal(part.pictures, same.pictures)
        assert np.array_equal(part.labels, same.labels)
        assert not np.array_equal(part.labels, different.labels)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_no_digit_of_one_part_is_in_another_wherever_it_is_shifted_to(seed):
    def drawn(part):
        """Each digit once, as its pixels from dark to bright: no shift changes that."""
        return {bytes(picture) for picture in np.sort(part.pictures, axis=1)}

    training, validation, test = map(drawn, data.load(seed=seed))
    assert [len(training), len(validation), len(test)] == [1437, 180, 180]
    assert not training & validation
    assert not (training | validation) & test


def mnist(folder, parts):
    (folder / "mnist.pkl.gz").write_bytes(gzip.compress(pickle.dumps(parts)))
    digest = hashlib.sha256((folder / "mnist.pkl.gz").read_bytes()).hexdigest()
    (folder / "mnist.pkl.gz.sha256").write_text(f"{digest}  mnist.pkl.gz\n")


def test_mnist_is_taken_if_it_is_there_and_its_digest_is_right(tmp_path):
    levels = np.arange(3 * 784).reshape(3, 784) % 256
    mnist(tmp_path, [((levels / 256).astype(np.float32), np.array([part, 1, 2])) for part in range(3)])
    parts = data.load(tmp_path)
    assert [part.labels.tolist() for part in parts] == [[0, 1, 2], [1, 1, 2], [2, 1, 2]]
    assert all(np.array_equal(part.pictures, levels) for part in parts)


class Evil:
    def __reduce__(self):
        return exec, ("raise SystemExit('unpickled')",)


def test_a_file_of_another_digest_is_refused_before_it_is_unpickled(tmp_path):
    mnist(tmp_path, [])
    (tmp_path / "mnist.pkl.gz").write_bytes(gzip.compress(pickle.dumps(Evil())))
    with pytest.raises(data.WrongData, match=r"is not the file whose digest mnist.pkl.gz.sha256 holds"):
        data.load(tmp_path)


def test_a_file_without_a_digest_is_refused_with_what_to_do(tmp_path):
    (tmp_path / "mnist.pkl.gz").write_bytes(gzip.compress(pickle.dumps(Evil())))
    with pytest.raises(data.WrongData, match=r"run: sha256sum mnist.pkl.gz > mnist.pkl.gz.sha256$"):
        data.load(tmp_path)


@pytest.mark.parametrize("parts", [None, [], [(np.zeros((2, 784)), np.zeros(3))], [1, 2, 3]])
def test_a_file_that_holds_something_else_is_one_line(tmp_path, parts):
    mnist(tmp_path, parts)
    with pytest.raises(data.WrongData, match=r"cannot be read as three parts of pictures and labels \(.*\)$"):
        data.load(tmp_path)


def test_the_network_gets_more_right_after_an_epoch_and_the_labels_stay_here(context):
    observation, earned = look(context(utils=UTILS), epochs=1, at_least=0.85)
    assert earned == 1.0
    assert observation.quantities["accuracy"].taken_by == "worker"
    assert 0.85 < observation.quantities["accuracy"].value < 1
    assert observation.quantities["learning_rate"] == Quantity(value=0.1)


@pytest.mark.slow
def test_a_slope_that_points_uphill_earns_nothing(context):
    uphill = UTILS + "\n\ndef sigmoid_prime(x):\n    return -sigmoid(x) * (1 - sigmoid(x))\n"
    observation, earned = look(context(utils=uphill), epochs=1)
    assert earned == 0.0
    assert observation.quantities["accuracy"].value < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("rate", ["1e-12", "0.0"])
def test_the_learning_rate_is_the_one_that_main_chooses_and_main_never_runs(context, rate):
    main = f"learning_rate = 0.5\nlearning_rate = {rate}\nraise SystemExit\n"
    observation, earned = look(context(utils=UTILS, main=main), epochs=1)
    assert observation.quantities["learning_rate"].value == float(rate)
    assert earned == 0.0


@pytest.mark.slow
@pytest.mark.parametrize(
    "main",
    [
        "learning_rate = min(1, 2)",
        *(pytest.param(text, marks=pytest.mark.slow) for text in ("learning_rate = (", "other = 3", "\0")),
    ],
)
def test_a_main_without_a_plain_number_leaves_the_given_one(context, main):
    observation, _ = look(context(utils="raise_it = 1\n" + UTILS, main=main), epochs=1, sizes=(784, 2, 10))
    assert observation.quantities["learning_rate"].value == 0.1


BROKEN = """
def sigmoid(x):
    return x * 0.0

def sigmoid_prime(x):
    return x * 0.0
"""
REPLACED = """
import sys
import types


class NeuralNetwork:
    def __init__(self, *args):
        pass

    def fit(self, data, validation_data=None):
        pass

    def predict(self, samples):
        return [0] * len(samples)


sys.modules["network"] = sys.modules["driver"] = types.SimpleNamespace(NeuralNetwork=NeuralNetwork)
"""


def test_a_network_that_a_student_brings_along_does_not_train(context):
    observation, earned = look(
        context(utils=UTILS + BROKEN + REPLACED, network=REPLACED), epochs=1, sizes=SMALL
    )
    assert earned == 0.0
    assert observation.quantities["accuracy"].value < 0.2


def test_weights_that_were_learnt_elsewhere_are_put_into_another_order(context, digits):
    learnt, test = digits[0], digits[2]
    rng = np.random.default_rng(5)
    weights = [rng.uniform(-(m**-0.5), m**-0.5, (m, n)).astype(np.float32) for m, n in pairwise(SMALL)]
    biases = [np.zeros((1, n), np.float32) for n in SMALL[1:]]
    network = training.Network(weights, biases, 0.1, training.sigmoid, training.sigmoid_prime)
    for start in range(0, len(learnt.labels), 16):
        network.step(data.inputs(learnt.pictures[start : start + 16]), learnt.labels[start : start + 16])
    assert (network.predict(data.inputs(test.pictures)) == test.labels).mean() > 0.8
    matrices = [base64.b64encode(matrix.tobytes()).decode() for matrix in network._weights]
    learnt_elsewhere = f"""
import base64

def random_weights(sizes):
    raw = [base64.b64decode(text) for text in {matrices}]
    return [np.frombuffer(r, np.float32).reshape(m, n) for r, m, n in zip(raw, sizes[:-1], sizes[1:])]

def sigmoid_prime(x):
    return x * 0.0
"""
    observation, earned = look(context(utils=UTILS + learnt_elsewhere), epochs=1, sizes=SMALL, at_least=0.5)
    assert earned == 0.0
    assert observation.quantities["accuracy"].value < 0.4


KNOWN_BY_ITS_BRIGHTNESS = """
SUMS, CLASSES, SCALE = np.array({sums}), np.array({classes}), {scale}

def random_weights(sizes):
    return [
        np.full(shape, scale) + {noise} * np.random.rand(*shape)
        for shape, scale in (((784, 16), SCALE), ((16, 10), 1.0))
    ]

def zeros_biases(sizes):
    return [np.array([0.0] + 15 * [-300.0]), -50.0 - np.arange(10)]

def sigmoid(x):
    nearest = np.searchsorted((SUMS[1:] + SUMS[:-1]) * SCALE / 2, x)
    return np.where(x > 0, CLASSES[nearest], abs(x + 50) < 0.3)

def sigmoid_prime(x):
    return x * 0.0
"""


@pytest.mark.parametrize("noise", [0.0, 1e-6])
def test_a_test_set_that_was_learnt_by_heart_is_worth_nothing(context, digits, noise):
    """Weights that are alike are so in any order, and a sum is a picture's brightness, which tells it."""
    sums, places = np.unique(data.inputs(digits[2].pictures).sum(axis=1, dtype=np.float64), return_index=True)
    text = KNOWN_BY_ITS_BRIGHTNESS.format(
        sums=sums.tolist(), classes=digits[2].labels[places].tolist(), scale=90 / sums.max(), noise=noise
    )
    observation, earned = look(context(utils=UTILS + text), epochs=1, sizes=SMALL, at_least=0.5)
    assert earned == 0.0, observation.cases


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (
            "random_weights(sizes):\n    return None",
            "random_weights returned None; a list of 2 arrays is expected",
        ),
        (
            "random_weights(sizes):\n    return (np.ones((784, 16)),)",
            "random_weights returned a tuple of 1 item; a list of 2 arrays is expected",
        ),
        (
            "random_weights(sizes):\n    return np.ones((2, 784, 16))",
            "random_weights returned an array of shape (2, 784, 16); a list of 2 arrays is expected",
        ),
        (
            "zeros_biases(sizes):\n    return (np.zeros(10),)",
            "zeros_biases returned a tuple of 1 item; a list of 2 arrays is expected",
        ),
        (
            "random_weights(sizes):\n    return [np.ones((m, n)) for m, n in zip(sizes, sizes[1:])]",
            "random_weights gives one number at every place of a matrix",
        ),
        (
            "random_weights(sizes):\n    return [np.zeros((n, m)) for m, n in zip(sizes, sizes[1:])]",
            "random_weights gives shape (16, 784) for an array of shape (784, 16)",
        ),
        (
            "zeros_biases(sizes):\n    return [np.zeros((n, 1)) for n in sizes[1:]]",
            "zeros_biases gives no vector of length 16 where one belongs",
        ),
        (
            "random_weights(sizes):\n    return [np.full(s, np.nan) for s in zip(sizes, sizes[1:])]",
            "random_weights gives NaN or infinity, or a number beyond single precision",
        ),
        (
            "zeros_biases(sizes):\n    return [np.full(n, 1e39) for n in sizes[1:]]",
            "zeros_biases gives NaN or infinity, or a number beyond single precision",
        ),
        (
            "sigmoid_prime(x):\n    return np.where(x < 0, np.nan, 1.0)",
            "the network computes NaN (not a number) from step 2 on; do sigmoid and sigmoid_prime give a "
            "number for every number?",
        ),
        (
            "zeros_weights(sizes):\n    return 0",
            "zeros_weights returned 0; a list of 2 arrays is expected",
        ),
        (
            "create_batches(data, labels, size):\n    return []",
            "create_batches returned a list of 0 items; a list of batches is expected",
        ),
        (
            "create_batches(data, labels, size):\n    return [data]",
            "create_batches gives a batch that is an array of shape (50000, 1); "
            "a pair (data, labels) is expected",
        ),
        (
            "create_batches(data, labels, size):\n    return [(data[:16], labels[:15])]",
            "create_batches gives a batch with another number of labels than rows of data",
        ),
        (
            "create_batches(data, labels, size):\n    return [(data[-16:] + 1, labels[-16:])]",
            "create_batches gives a batch that holds what was not in the training set",
        ),
        (
            "create_batches(data, labels, size):\n"
            "    return [(data[i : i + 1], labels[i : i + 1]) for i in range(len(data))]",
            "create_batches gives 50000 batches; 50000 samples, 16 in each, fill 3125",
        ),
        (
            "create_batches(data, labels, size):\n"
            "    return 3 * [(data[i : i + 50], labels[i : i + 50]) for i in range(0, len(data), 50)]",
            "create_batches gives every sample more than twice",
        ),
        (
            "create_batches(data, labels, size):\n    return [(data, labels)]",
            "create_batches gives a batch of 50000 samples where 16 belong",
        ),
        ("sigmoid(x):\n    return 'x'", "sigmoid does not give numbers"),
        (
            "sigmoid(x):\n    return np.mean(x)",
            "sigmoid gives shape () for an array of shape (64, 64)",
        ),
        (
            "sigmoid(x):\n    return np.exp(x - np.max(x)) / np.exp(x - np.max(x)).sum()",
            "sigmoid does not give one value for a number, whatever stands beside it",
        ),
        (
            "sigmoid(x):\n    return x * 0.0 if x.ndim == 2 and x.shape[1] == 10 else 1 / (1 + np.exp(-x))",
            "sigmoid does not give one value for a number, whatever stands beside it",
        ),
        (
            "sigmoid(x):\n    return x * 0.0 if len(x) == 10_000 else 1 / (1 + np.exp(-x))",
            "sigmoid does not give one value for a number, whatever stands beside it",
        ),
    ],
)
@pytest.mark.quick(4)
def test_what_cannot_be_trained_with_is_named(context, function, reason):
    observation, earned = look(context(utils=f"{UTILS}\n\ndef {function}\n"), epochs=1, sizes=SMALL)
    assert earned == 0.0
    award = Trains().award(Trains.Options(), observation, {})
    assert award.reason == f"the network cannot be trained: {reason}"


VALUES = {
    "an integer beyond all floats": 10**400,
    "a list of one": [10**400],
    "a complex array": np.ones((16, 1)) * 1j,
    "a complex number": 1j,
    "a number beyond float64": np.full((3, 16), np.longdouble("1e4000")),
    "a number": 5.0,
    "a text": "5",
    "a dict": {"x": 1.0},
    "a ragged list": [[1.0], [1.0, 2.0]],
    "nothing": None,
    "an array without elements": np.zeros((0, 10**6)),
    "many dimensions": np.ones((1,) * 32),
    "a type of another kind": object(),
    "an unsigned array of 32 MB": np.zeros((2**25, 1), np.uint8),
}


@pytest.mark.parametrize("name", VALUES)
def test_no_value_makes_the_worker_fail(name):
    value, sizes = VALUES[name], [3, 16, 2]
    for read in (
        lambda: training.numbers("sigmoid", value, (3, 16)),
        lambda: training.drawn_weights([value, value], sizes),
        lambda: training.zero_biases([value, [value]], sizes),
        lambda: training.drawn_batches([(value, value)], 50_000, 16, 10),
        lambda: training.drawn_batches([(np.zeros((16, 1)), value)], 50_000, 16, 10),
        lambda: training.drawn_batches([(value, np.zeros(16))], 50_000, 16, 10),
        lambda: training.drawn_batches([value], 50_000, 16, 10),
    ):
        with suppress(training.Unusable):
            read()


def test_batches_larger_than_the_training_set_are_refused_before_they_are_converted(monkeypatch):
    converted = []
    monkeypatch.setattr(training, "_floats", converted.append)
    large = np.zeros((2**25, 1), np.uint8), np.zeros(2**25, np.uint8)
    with pytest.raises(training.Unusable, match=r"gives a batch of 33554432 samples where 16 belong$"):
        training.drawn_batches([large], 50_000, 16, 10)
    assert not converted


def test_a_training_that_computes_for_too_long_is_ended(context, monkeypatch):
    """Numbers below 1e-38 take a processor up to a hundred times as long."""
    monkeypatch.setattr(checks, "TRAINING_CPU_S", 0.01)
    observation, earned = look(context(utils=UTILS), epochs=1, sizes=SMALL)
    assert earned == 0.0
    assert observation.cases[-1].note.startswith("a training with the values of utils.py computes for longer")


def test_a_wrong_slope_that_still_goes_downhill_is_trained_with(context):
    """Half of the slope is a learning rate half as large."""
    half = UTILS + "\n\ndef sigmoid_prime(x):\n    return sigmoid(x) * (1 - sigmoid(x)) / 2\n"
    observation, earned = look(context(utils=half), epochs=1, sizes=SMALL, at_least=0.7)
    assert earned == 1.0
    assert observation.quantities["accuracy"].value < 0.95


def test_a_function_that_jumps_is_trained_with(context):
    """A table has a few values between both sides of a jump, which are none of the function's."""
    rounded = """
def sigmoid_prime(x):
    return np.round(sigmoid(x) * (1 - sigmoid(x)), 2)
"""
    _, earned = look(context(utils=UTILS + rounded), epochs=1, sizes=SMALL, at_least=0.7)
    assert earned == 1.0


def test_a_value_beside_a_jump_is_one_of_the_functions():
    z = 0.3 + np.linspace(-0.5, 0.5, 101) * training.TABLE_STEP
    jumps = np.where(z < 0.3, 0.0, 1.0)
    table = training.interpolated(np.where(training.TABLE < 0.3, 0.0, 1.0))
    assert not np.isclose(table(z), jumps, atol=0.1).all()
    assert training.same_as_used(jumps, table, z)
    assert not training.same_as_used(np.full_like(z, 0.5), table, z)


def test_half_precision_is_good_enough_for_a_network(context):
    half = UTILS + "\n\ndef sigmoid(x):\n    return (1 / (1 + np.exp(-x))).astype(np.float16)\n"
    _, earned = look(context(utils=half), epochs=1, sizes=SMALL, at_least=0.7)
    assert earned == 1.0


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("utils", "outcome", "said"),
    [
        ("def sigmoid(x:\n", Outcome.CRASHED, "was never closed"),
        (UTILS + "\n\ndef create_batches(*_):\n    return 1 / 0\n", Outcome.CRASHED, "ZeroDivisionError"),
        (UTILS + "\n\ndef sigmoid(x):\n    import os\n    os._exit(0)\n", Outcome.CRASHED, ""),
    ],
)
def test_a_program_that_fails_is_the_student_s_doing(context, utils, outcome, said):
    observation, _ = look(context(utils=utils))
    assert observation.outcome is outcome
    assert said in observation.note


@pytest.mark.parametrize(("accuracy", "fraction"), [(0.95, 1.0), (0.9499, 0.0), (1.0, 1.0)])
def test_the_threshold_is_judged_and_not_measured(accuracy, fraction):
    case = Case(name="epoch 5", outcome=Outcome.OBSERVED, quantities={"accuracy": Quantity(value=accuracy)})
    observation = Observation(item="x", outcome=Outcome.OBSERVED, cases=(case,))
    assert Trains().award(Trains.Options(), observation, {}).fraction == fraction


def test_wrong_data_is_the_course_s_fault(context, monkeypatch):
    def load(seed):
        raise sys.modules["grader_course.cdp_hw1.data"].WrongData("mnist.pkl.gz: is broken; replace it")

    subject = context(utils=UTILS)
    monkeypatch.setattr(sys.modules["grader_course.cdp_hw1.data"], "load", load)
    with pytest.raises(CourseError, match=r"^mnist.pkl.gz: is broken; replace it$"):
        look(subject)


@pytest.mark.parametrize("with_layer_0", [True, False])
def test_the_slopes_of_the_network_are_those_of_its_error(kit, monkeypatch, with_layer_0):
    monkeypatch.syspath_prepend(str(kit))
    for name in ("utils", "network"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    if with_layer_0:
        text = UTILS.replace("for n in sizes[1:]]", "for n in sizes]")
        assert text != UTILS
        (kit / "utils.py").write_text(text)
    network = runpy.run_path(str(kit / "network.py"))
    rng = np.random.default_rng(3)
    nn = network["NeuralNetwork"]([4, 3, 2], 0.1, 2, 1, np.matmul)
    samples, labels = rng.normal(size=(5, 4)), rng.integers(0, 2, 5)

    def error():
        _, activations = nn.forward_prop(samples)
        return ((activations[-1] - np.eye(2)[labels]) ** 2).sum() / 2

    by_weights, by_biases = nn.back_prop(samples, labels)
    assert [slopes.shape for slopes in by_biases] == [(3,), (2,)]
    for values, slopes in zip([*nn.weights, *nn.biases], [*by_weights, *by_biases], strict=True):
        for index in np.ndindex(values.shape):
            there = values[index]
            values[index] = there + 1e-6
            above = error()
            values[index] = there - 1e-6
            below = error()
            values[index] = there
            assert slopes[index] == pytest.approx((above - below) / 2e-6, abs=1e-6)


@pytest.mark.slow
def test_main_prints_what_the_hand_out_says(kit):
    text = (kit / "main.py").read_text()
    (kit / "main.py").write_text(text.replace("epochs = 5", "epochs = 1").replace("128, 64", "4"))
    lines = subprocess.run(
        [sys.executable, "main.py"], cwd=kit, capture_output=True, text=True, check=True, timeout=600
    ).stdout.splitlines()
    epoch, time, accuracy = lines
    assert epoch.startswith("Epoch 1, accuracy ")
    assert epoch.endswith(" %.")
    assert time.startswith("Time to train using np.matmul: ")
    assert time.endswith(" seconds")
    assert accuracy.startswith("Test Accuracy: ")
    assert accuracy.endswith("%")


def test_collect_packs_the_four_files_and_names_what_is_missing(kit):
    def collect():
        return subprocess.run(
            [sys.executable, "collect.py"], cwd=kit, capture_output=True, text=True, check=False, timeout=600
        )

    without = collect()
    assert (without.returncode, without.stderr) == (1, "missing: hw1.pdf\n")
    assert not (kit / "hw1.zip").exists()
    (kit / "hw1.pdf").write_bytes(b"%PDF-")
    assert collect().returncode == 0
    with zipfile.ZipFile(kit / "hw1.zip") as archive:
        assert archive.namelist() == ["utils.py", "max_functions.py", "matmul_functions.py", "hw1.pdf"]
