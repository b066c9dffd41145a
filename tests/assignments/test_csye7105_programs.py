"""The course's drivers run submissions of csye7105_hw4 on the CPU, which takes the place of every GPU."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from grader.coursecode import course_module
from grader.harness.compare import compare
from grader.harness.tolerance import Tolerance, Tolerances

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "assignments" / "csye7105_hw4"
GIVEN = FOLDER / "given"

expected = course_module(FOLDER / "expected.py")
inputs = course_module(FOLDER / "inputs.py")
timeline = course_module(FOLDER / "timeline.py")
values = course_module(FOLDER / "values.py")


def on_cpu(file: Path) -> str:
    """A file of a submission, with the CPU in the place of every GPU."""
    text = re.sub(r'"cuda:\d"|f"cuda:\{number\}"', '"cpu"', file.read_text(encoding="utf-8"))
    return text.replace("torch.cuda.synchronize", "str").replace("torch.cuda.device_count()", "1")


def submission(name: str) -> Path:
    return FOLDER / "reference" if name == "reference" else ROOT / "tests" / "submissions" / name / "files"


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Import one of the course's drivers beside a file of a submission."""
    ours = {"split", "powers", "resnet", "pt_modelparallelism", "matrix_power"}

    def forget():
        for name in [*sys.modules]:
            if name.partition(".")[0] in ours or name.startswith("torchvision"):
                del sys.modules[name]

    def load(driver, file):
        (tmp_path / file.name).write_text(on_cpu(file), encoding="utf-8")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.syspath_prepend(GIVEN)
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        forget()
        return importlib.import_module(driver)

    yield load
    forget()


def small_matrices():
    for case in inputs.small_matrices(np.random.default_rng(1)):
        A, B, n, devices = case.args
        yield A, B, n, ["cpu"] * len(devices)


@pytest.mark.parametrize("name", ["reference", "csye_nora", "csye_in_turn"])
def test_small_powers_are_added(load, name):
    powers = load("powers", submission(name) / "matrix_power.py")
    near = Tolerances(float32=Tolerance(rtol=1e-4, atol=1e-4))
    for case in small_matrices():
        assert compare(powers.on_devices(*case), expected.power_sum(*case), near).note == ""


@pytest.mark.parametrize(
    ("name", "mistake"), [("csye_element_wise", "element_wise"), ("csye_one_more", "one_more")]
)
def test_wrong_powers_are_those_of_a_known_mistake(load, name, mistake):
    powers = load("powers", submission(name) / "matrix_power.py")
    near = Tolerances(float32=Tolerance(rtol=1e-4, atol=1e-4))
    answers = [(powers.on_devices(*case), case) for case in small_matrices()]
    assert all(compare(value, getattr(expected, mistake)(*case), near).agrees for value, case in answers)
    assert not all(compare(value, expected.power_sum(*case), near).agrees for value, case in answers)


def test_large_matrices_are_made_where_they_belong_and_their_powers_are_told_by_few_numbers(load):
    powers = load("powers", submission("csye_nora") / "matrix_power.py")
    left, right, probes = inputs._large(np.random.default_rng(2), 600)
    value = powers.at_full_size(left, right, probes, ["cpu", "cpu"])
    assert (value.dtype, value.shape) == (np.float16, (600, 8))
    assert compare(value, expected.at_full_size(left, right, probes)).note == ""


def test_what_is_no_tensor_comes_back_as_it_is(load, tmp_path):
    (tmp_path / "other").mkdir()
    file = tmp_path / "other" / "matrix_power.py"
    file.write_text("def power_sum(A, B, n, devices): return None\n")
    powers = load("powers", file)
    left, right, probes = inputs._large(np.random.default_rng(2), 30)
    assert powers.at_full_size(left, right, probes, ["cpu", "cpu"]) is None


RUN = """
import json, sys
sys.path.insert(0, sys.argv[1])
import numpy as np, program
probe = np.linspace(0.5, 1.5, 48) / 48
told = program.run("matrix_power.py", 48, probe)
told["kept"] = [{**one, "rows": one["rows"].tolist()} for one in program.powers("matrix_power.py", 48, probe)]
sys.stderr.write(json.dumps(told))
"""


def run_program(folder: Path, source: str):
    """What a program printed, and what the driver tells of it."""
    (folder / "matrix_power.py").write_text(source, encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-B", "-c", RUN, str(GIVEN)], cwd=folder, capture_output=True, text=True, check=True
    )
    return ran.stdout, json.loads(ran.stderr)


@pytest.mark.parametrize(
    ("name", "total"),
    [
        ("reference", "right"),
        ("csye_nora", "right"),
        ("csye_element_wise", "element_wise"),
        ("csye_one_more", "one_more"),
        ("csye_clock_early", "right"),
        ("csye_invented", "right"),
    ],
)
def test_the_matrices_of_a_program_tell_what_it_computed(tmp_path, name, total):
    _, told = run_program(tmp_path, on_cpu(submission(name) / "matrix_power.py"))
    assert values.summed([np.array(one["rows"]) for one in told["kept"]]) == total


def test_a_printed_time_is_found_among_what_the_program_read_from_its_clock(tmp_path):
    output, told = run_program(tmp_path, on_cpu(submission("csye_nora") / "matrix_power.py"))
    for gpus in (1, 2):
        time = timeline.printed(output, gpus)
        assert list(timeline.windows_of(time, told["readings"]))
    output, told = run_program(tmp_path, on_cpu(submission("csye_invented") / "matrix_power.py"))
    assert not list(timeline.windows_of(timeline.printed(output, 1), told["readings"]))


def test_matrices_in_lists_are_found_and_a_clean_exit_is_one(tmp_path):
    source = """
import sys, torch
def main():
    both = [torch.rand(10000, 10_000), torch.rand(int(1e4), 10000)]
    total = sum(torch.linalg.matrix_power(one, 10) for one in both)
    sys.exit(0)
main()
"""
    _, told = run_program(tmp_path, source)
    assert values.summed([np.array(one["rows"]) for one in told["kept"]]) == "right"


def pictures(seed=1):
    (case,) = inputs.small_pictures(np.random.default_rng(seed))
    return case.args


NEAR = {
    "outputs": Tolerances(float32=Tolerance(rtol=1e-3, atol=1e-3)),
    "learn": Tolerances(float32=Tolerance(rtol=1e-2, atol=1e-3)),
}
"""As the rubric has them."""


def step(load, name):
    """What the driver tells of a submission's network, and the arguments of the oracles."""
    split = load("split", submission(name) / "pt_modelparallelism.py")
    args = pictures()
    split.build()
    return split.step(*args), args


def agrees(told, oracle, args):
    """Compare the keys that the oracle gives, as `placement` does."""
    wanted = getattr(expected, oracle)(*args)
    return compare({key: told[key] for key in wanted}, wanted, NEAR[oracle])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["reference", "csye_nora", "csye_by_order"])
def test_a_split_network_says_and_learns_what_the_unsplit_one_does(load, name):
    told, args = step(load, name)
    assert agrees(told, "outputs", args).note == ""
    assert agrees(told, "learn", args).note == ""
    assert told["losses"][0] > told["losses"][1]


@pytest.mark.slow
def test_a_gradient_that_is_cut_shows_in_what_the_first_stages_learn(load):
    told, args = step(load, "csye_cut_gradient")
    assert agrees(told, "outputs", args).agrees
    still = {stage for stage, size in told["changed"].items() if size == 0}
    assert still == {"conv1", "bn1", "layer1", "layer2"}
    assert not agrees(told, "learn", args).agrees


@pytest.mark.slow
def test_a_layer_that_is_left_out_shows_in_the_outputs(load):
    told, args = step(load, "csye_no_maxpool")
    assert not agrees(told, "outputs", args).agrees


@pytest.mark.slow
def test_the_device_of_every_parameter_and_of_what_every_layer_puts_out_is_told(load):
    told, _ = step(load, "csye_by_order")
    parts = told["parts"]
    parameters = {name for name in parts if not name.startswith("output of ")}
    assert len(parameters) == 161
    assert {"conv1.weight", "layer3.5.bn3.bias", "fc.bias"} <= parameters
    assert len(parts) > 161 + 120
    assert set(parts.values()) == {"cpu"}


@pytest.mark.slow
def test_a_network_of_other_layers_is_told_so(load, tmp_path):
    (tmp_path / "other").mkdir()
    file = tmp_path / "other" / "pt_modelparallelism.py"
    file.write_text("import torch\ndef ModelParallelResNet50(): return torch.nn.Linear(3, 3)\n")
    split = load("split", file)
    with pytest.raises(TypeError, match="has not the parameters of the unsplit network"):
        split.build()


@pytest.mark.slow
def test_weights_follow_from_a_number(load):
    load("split", submission("csye_by_order") / "pt_modelparallelism.py")
    resnet = sys.modules["resnet"]
    first, again, other = (resnet.drawn_weights(seed) for seed in (7, 7, 8))
    assert list(first) == [name for name, _ in resnet.resnet50().named_parameters()]
    assert sum(one.numel() for one in first.values()) == 25_557_032
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["fc.weight"], other["fc.weight"])


def test_students_get_the_network_that_they_are_marked_with():
    files = [folder / "resnet.py" for folder in (FOLDER / "starter", GIVEN)]
    assert files[0].read_bytes() == files[1].read_bytes()
