"""Inputs, oracles and reference of utils.py of cdp_hw1 agree, and tell right submissions from wrong ones."""

from __future__ import annotations

import copy
import importlib.util
import math
import runpy
import shutil
from collections import deque
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import yaml

from grader.api import UNUSED

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "assignments" / "cdp_hw1"
SUBMISSIONS = ROOT / "tests" / "submissions"
ARCHIVES = ROOT / "submissions"
REFERENCES = ROOT / "tests" / "references" / "cdp_hw1"
RUBRIC = yaml.safe_load((ROOT / "rubrics" / "cdp_hw1_utils.yaml").read_text())
ITEMS = {item["id"]: item for item in RUBRIC["items"]}

# These end, hang or flood the process that imports them; only a sandbox may run them.
HOSTILE = {
    "trains_at_import",
    *("chatty", "creeping_memory_hog", "deep_recursion", "endless_nesting", "evil_objects", "eve"),
    *("exits_in_a_call", "exits_politely", "forges_lines", "forges_verdict", "frank", "huge_result"),
    *("leaves_a_daemon", "memory_hog", "patches_libraries", "raises_system_exit", "snoops"),
    "swallows_signals",
}
# What intake makes of these archives is for its own tests.
PACKED = {"junk_files", "macos_zip", "misplaced_utils", "no_utils", "second_copy"}
ALL = {path.parent.name for path in SUBMISSIONS.glob("*/expected.yaml")}
# They harm the machine outside of a sandbox; their honest twins leave programs and closed streams behind.
ATTACKS = {name for name in ALL if name.startswith(("attack_", "honest_"))}


def load(name):
    path = FOLDER / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"cdp_hw1_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read(path):
    return yaml.load(path.read_text(), yaml.CSafeLoader)  # of 200 files when this is imported


def agrees(actual, expected):
    """Plain NumPy's opinion on one answer."""
    actual = list(actual) if isinstance(actual, deque) else actual  # as it crosses to the worker
    if expected is UNUSED:
        return True
    if isinstance(expected, list | tuple):
        return (
            isinstance(actual, list | tuple)
            and len(actual) == len(expected)
            and all(map(agrees, actual, expected))
        )
    if hasattr(expected, "low"):
        return uniform(np.asarray(actual), expected)
    if not isinstance(actual, np.ndarray | np.generic | list | tuple | float | int):
        return False
    actual, expected = np.asarray(actual), np.asarray(expected)
    coarse = {actual.dtype.name, expected.dtype.name} & {"float16", "float32"}
    rtol, atol = (1e-5, 1e-6) if coarse else (1e-9, 1e-12)
    return actual.shape == expected.shape and np.allclose(actual, expected, rtol=rtol, atol=atol)


def uniform(values, law):
    """Whether values look drawn from a uniform law: bounds, then Kolmogorov and Smirnov's distance."""
    slack = 1e-6 * law.high
    if values.shape != law.shape or values.min() < law.low - slack or values.max() > law.high + slack:
        return False
    share = (np.sort(values, axis=None) - law.low) / (law.high - law.low)
    steps = np.arange(values.size + 1) / values.size
    distance = max(np.abs(share - steps[1:]).max(), np.abs(share - steps[:-1]).max())
    return math.sqrt(values.size) * distance < 2.2


def earned(utils, item, seed=0):
    """Whether a function of `utils` agrees with one of the item's oracles over all inputs."""
    _, function = item["of"].split(".")
    cases = list(getattr(INPUTS, item["inputs"])(np.random.default_rng(seed)))
    oracles = [item.get("expected", function), *item.get("accept", [])]
    agreeing = dict.fromkeys(oracles, True)
    for case in cases:
        try:
            with np.errstate(all="ignore"):
                answers = [utils[function](*copy.deepcopy(case.args)) for _ in range(2)]
        except Exception:
            return False
        for oracle in oracles:
            agreeing[oracle] &= agrees(answers[0], getattr(EXPECTED, oracle)(*copy.deepcopy(case.args)))
        if item["check"] == "properties":
            matrices = [np.ravel(matrix).tobytes() for answer in answers for matrix in answer]
            agreeing[oracles[0]] &= len(set(matrices)) == len(matrices)
    return any(agreeing.values())


NAMES = {name for name in ALL if read(SUBMISSIONS / name / "expected.yaml").get("rubric") == "cdp_hw1_utils"}
INPUTS = load("inputs")
EXPECTED = load("expected")


@pytest.mark.parametrize("item", ITEMS)
def test_the_reference_earns_every_item_whatever_the_seed(item):
    np.random.seed(1)
    with np.errstate(all="ignore"):
        utils = runpy.run_path(str(FOLDER / "reference" / "utils.py"))
    assert all(earned(utils, ITEMS[item], seed) for seed in range(30))


@pytest.mark.parametrize("name", sorted(NAMES - HOSTILE - PACKED - ATTACKS))
def test_a_submission_earns_what_its_expected_yaml_says(name, tmp_path):
    np.random.seed(2)
    folder = SUBMISSIONS / name
    (archive,) = ARCHIVES.glob(f"{name}.*")
    shutil.unpack_archive(archive, tmp_path)
    (file,) = tmp_path.rglob("utils.py")
    try:
        utils = runpy.run_path(str(file))
    except (SyntaxError, ImportError):
        utils = {}
    points = {item: ITEMS[item]["points"] * earned(utils, ITEMS[item]) for item in ITEMS}
    assert points == read(folder / "expected.yaml")["earns"]


@pytest.mark.parametrize(
    "name", sorted(path.parent.parent.name for path in REFERENCES.glob("*/files/utils.py"))
)
def test_a_wrong_reference_fails_exactly_where_it_says(name):
    np.random.seed(3)
    utils = runpy.run_path(str(REFERENCES / name / "files" / "utils.py"))
    failing = [item for item in ITEMS if not earned(utils, ITEMS[item])]
    assert failing == read(REFERENCES / name / "expected.yaml")["fails"]


@pytest.mark.parametrize("family", sorted({item["inputs"] for item in ITEMS.values()}))
def test_a_family_draws_the_same_from_a_seed_and_something_else_from_another(family):
    def drawn(seed):
        return [repr((case.name, case.args)) for case in getattr(INPUTS, family)(np.random.default_rng(seed))]

    assert drawn(5) == drawn(5)
    # Two small draws may agree by chance; a family that ignores its generator agrees everywhere.
    assert all(any(one != other for other in rest) for one, *rest in zip(*map(drawn, range(8)), strict=True))


def test_the_cases_of_a_family_have_names_of_their_own():
    for item in ITEMS.values():
        names = [case.name for case in getattr(INPUTS, item["inputs"])(np.random.default_rng(0))]
        assert len(set(names)) == len(names)


def test_batches_meet_every_kind_of_remainder():
    for seed in range(50):
        remainders = set()
        for case in INPUTS.training_sets(np.random.default_rng(seed)):
            data, labels, size = case.args
            assert len(data) == len(labels) > 0
            remainders.add((len(data) % size, len(data) < size, size == 1))
        assert {(0, False, False), (0, False, True), (1, False, False)} < remainders
        assert any(rest > 1 and not small for rest, small, _ in remainders)
        assert any(small for _, small, _ in remainders)


def test_neighbouring_layers_differ_so_that_a_transposed_matrix_shows():
    for seed in range(50):
        for case in INPUTS.layer_sizes(np.random.default_rng(seed)):
            (sizes,) = case.args
            assert all(one != other for one, other in pairwise(sizes))


def test_far_from_zero_the_oracles_stay_finite_and_exact():
    with np.errstate(all="raise", under="ignore"):
        assert EXPECTED.sigmoid([-1000.0, 0.0, 1000.0]).tolist() == [0.0, 0.5, 1.0]
        assert EXPECTED.sigmoid_prime([-300.0, 0.0]).tolist() == pytest.approx(
            [math.exp(-300), 0.25], rel=1e-12
        )
    assert EXPECTED.sigmoid(-30.0) == pytest.approx(math.exp(-30), rel=1e-12)


def test_every_expected_yaml_names_every_item_of_its_rubric_and_adds_up():
    for name in ALL:
        expected = read(SUBMISSIONS / name / "expected.yaml")
        if "refused" in expected:
            continue
        rubric = read(ROOT / "rubrics" / f"{expected.get('rubric', expected['assignment'])}.yaml")
        assert list(expected["earns"]) == [item["id"] for item in rubric["items"]], name
        earned = [points for points in expected["earns"].values() if points != "pending"]
        assert expected["total"] == sum(earned), name
        assert expected["about"].endswith("."), name


def test_the_rubric_has_an_item_for_every_function_of_the_starter():
    starter = runpy.run_path(str(FOLDER / "starter" / "utils.py"))
    functions = {name for name, value in starter.items() if callable(value)} - {"xavier_initialization"}
    assert {item["of"] for item in ITEMS.values()} == {f"utils.{name}" for name in functions}
    assert sum(item["points"] for item in ITEMS.values()) == RUBRIC["points"] == 21


def test_hostile_and_packed_are_names_of_submissions():
    assert HOSTILE | PACKED <= NAMES
