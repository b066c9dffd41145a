"""Inputs, oracles and references of cdp_hw1's matrices agree, and tell right submissions from wrong ones."""

from __future__ import annotations

import ast
import copy
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from grader.subject.tools import elements

pytest.importorskip("numba")

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "assignments" / "cdp_hw1"
SUBMISSIONS = ROOT / "tests" / "submissions"
REFERENCES = ROOT / "tests" / "references" / "cdp_hw1"

ON_CPU = [
    ("max_functions", "max_cpu", "small_byte_matrices"),
    ("max_functions", "max_cpu", "byte_matrices"),
    ("max_functions", "max_numba", "small_byte_matrices"),
    ("max_functions", "max_numba", "byte_matrices"),
    ("matmul_functions", "matmul_transpose_trivial", "small_matrices"),
    ("matmul_functions", "matmul_transpose_trivial", "tenth_of_a_tall_matrix"),
    ("matmul_functions", "matmul_transpose_numba", "matrices_of_all_sizes"),
]

SIMULATED = """
import sys
import numpy as np
sys.path[:0] = sys.argv[1:]
from matmul_functions import matmul_kernel
from max_functions import max_kernel

rng = np.random.default_rng(0)
A, B = rng.integers(0, 256, (2, 6, 9))
C = np.full((6, 9), -1)
max_kernel[7, 10](A, B, C)  # a block and a thread too many
assert (C == np.where(A < B, B, A)).all(), C
X = rng.standard_normal((133, 18))  # beyond a tile of the result, and beyond a panel of its rows
P = np.full((133, 133), np.nan)
matmul_kernel[1, 1024](X, P)
assert np.allclose(P, X @ X.T, rtol=1e-12), P
"""


def load(path):
    spec = importlib.util.spec_from_file_location(f"loaded_{path.parent.parent.name}_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


INPUTS = load(FOLDER / "inputs.py")
EXPECTED = load(FOLDER / "expected.py")


def cases(family, seed=0):
    return list(getattr(INPUTS, family)(np.random.default_rng(seed)))


def agrees(function, family, seed=0):
    """Plain NumPy's opinion on all cases of a family."""
    oracle = getattr(EXPECTED, function.__name__)
    for case in cases(family, seed):
        answer = np.asarray(function(*copy.deepcopy(case.args)))
        wanted = oracle(*copy.deepcopy(case.args))
        if answer.shape != wanted.shape or not np.allclose(answer, wanted, rtol=1e-9, atol=1e-9):
            return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize(("file", "name", "family"), ON_CPU)
def test_the_reference_agrees_with_the_oracle(file, name, family):
    function = getattr(load(FOLDER / "reference" / f"{file}.py"), name)
    assert agrees(function, family, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["alice", "max_as_lists", "empty_kernel", "delay_in_max_cpu", "numpy_in_max_cpu"]
)
def test_max_cpu_of_these_submissions_gives_what_is_expected(name):
    assert agrees(load(SUBMISSIONS / name / "files" / "max_functions.py").max_cpu, "small_byte_matrices")


@pytest.mark.slow
def test_a_transposed_maximum_shows_in_a_matrix_that_is_not_square():
    module = load(SUBMISSIONS / "transposed_max" / "files" / "max_functions.py")
    assert not agrees(module.max_cpu, "small_byte_matrices")
    assert not agrees(module.max_numba, "small_byte_matrices")


@pytest.mark.slow
def test_the_matrix_product_of_alice_is_right_in_all_sizes():
    module = load(SUBMISSIONS / "alice" / "files" / "matmul_functions.py")
    assert agrees(module.matmul_transpose_trivial, "small_matrices")
    assert agrees(module.matmul_transpose_numba, "matrices_of_all_sizes")


def simulated(*folders):
    """What the simulator thinks of the kernels in the first of some folders that has them."""
    return subprocess.run(
        [sys.executable, "-c", SIMULATED, *map(str, folders)],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def test_the_kernels_of_the_reference_are_right_in_the_simulator():
    ran = simulated(FOLDER / "reference")
    assert ran.returncode == 0, ran.stderr


def test_a_kernel_that_forgets_the_rest_is_wrong_in_the_simulator():
    ran = simulated(REFERENCES / "kernel_forgets_the_rest" / "files", FOLDER / "reference")
    assert "nan" in ran.stderr.rpartition("AssertionError")[2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "failing"),
    [("maximum_adds", {"max_numba"}), ("product_the_other_way", {"matmul_transpose_trivial"})],
)
def test_a_wrong_reference_disagrees_with_the_oracle_where_it_is_wrong(name, failing):
    (file,) = (REFERENCES / name / "files").glob("*.py")
    module = load(file)
    families = {function: family for stem, function, family in ON_CPU if stem == file.stem}
    wrong = {
        function for function, family in families.items() if not agrees(getattr(module, function), family)
    }
    assert wrong == failing


@pytest.mark.parametrize("family", ["byte_matrices", "small_byte_matrices"])
def test_bytes_stay_within_the_range_that_is_promised_and_reach_both_ends(family):
    for seed in range(20):
        values = np.concatenate([np.ravel(matrix) for case in cases(family, seed) for matrix in case.args])
        assert values.dtype == np.int64
        assert (values.min(), values.max()) == (0, 255)


def test_matrices_to_be_compared_have_ties_and_shapes_that_are_not_square():
    for seed in range(20):
        shapes = set()
        for case in cases("small_byte_matrices", seed):
            A, B = case.args
            assert A.shape == B.shape
            assert (A == B).any(), case.name
            shapes.add(np.sign(A.shape[0] - A.shape[1]))
        assert {-1, 1} <= shapes


def test_large_inputs_have_the_sizes_that_the_hand_out_names():
    assert [argument.shape for argument in cases("byte_matrices")[0].args] == [(1000, 1000)] * 2
    assert cases("tall_matrices")[0].args[0].shape == (784, 128)
    assert cases("tenth_of_a_tall_matrix")[0].args[0].shape == (78, 128)


def test_some_small_product_has_more_elements_than_a_block_has_threads():
    assert any(len(case.args[0]) ** 2 > 1024 for case in cases("small_matrices"))


@pytest.mark.parametrize(
    "family", ["byte_matrices", "small_byte_matrices", "small_matrices", "tall_matrices"]
)
def test_a_family_draws_the_same_from_a_seed_and_something_else_from_another(family):
    def drawn(seed):
        return [b"".join(array.tobytes() for array in case.args) for case in cases(family, seed)]

    assert drawn(5) == drawn(5)
    assert drawn(5) != drawn(6)


def test_results_of_the_oracles_are_symmetric_and_no_input_is_changed():
    (case,) = cases("tenth_of_a_tall_matrix")
    (X,) = case.args
    before = X.copy()
    product = EXPECTED.matmul_transpose_trivial(X)
    assert np.array_equal(product, product.T)
    assert product[3, 5] == pytest.approx(sum(X[3, k] * X[5, k] for k in range(128)))
    assert np.array_equal(X, before)


@pytest.mark.parametrize("file", ["max_functions.py", "matmul_functions.py"])
def test_starter_and_reference_have_the_same_functions(file):
    def functions(folder):
        tree = ast.parse((FOLDER / folder / file).read_text())
        return {
            (node.name, *(argument.arg for argument in node.args.args))
            for node in tree.body
            if isinstance(node, ast.FunctionDef) and node.name not in ("compare", "seconds")
        }

    assert functions("starter") <= functions("reference"), "the reference may have helpers of its own"


def test_the_starter_s_own_comparison_notices_that_nothing_is_done(monkeypatch):
    monkeypatch.setattr(np.random, "randint", lambda *_: np.zeros((2, 2), np.int64))
    with pytest.raises(NotImplementedError, match="max_cpu is still to do"):
        load(FOLDER / "starter" / "max_functions.py").compare()


def test_the_comparison_stops_at_a_wrong_result(monkeypatch, capsys):
    module = load(FOLDER / "starter" / "max_functions.py")
    monkeypatch.setattr(np.random, "randint", lambda *_: np.ones((2, 2), np.int64))

    def max_cpu(A, B):
        return A - B

    module.max_cpu = max_cpu
    module.compare()
    assert capsys.readouterr().out == "max_cpu gives a wrong result\n"


@pytest.mark.parametrize(
    ("file", "name", "family", "compiled"),
    [
        ("max_functions", "max_cpu", "few_bytes", False),
        ("max_functions", "max_numba", "few_bytes", True),
        ("matmul_functions", "matmul_transpose_trivial", "few_numbers", False),
        ("matmul_functions", "matmul_transpose_numba", "few_numbers", True),
    ],
)
def test_the_loops_of_the_reference_give_the_result(monkeypatch, file, name, family, compiled):
    monkeypatch.chdir(FOLDER / "reference")
    for seed in range(10):
        few = cases(family, seed)
        answer = elements.main(f"{file}.py", name, [case.args for case in few], compiled)
        for case, value in zip(few, answer["values"], strict=True):
            assert np.allclose(value, getattr(EXPECTED, name)(*case.args), rtol=1e-12)


def test_a_few_elements_are_few_and_each_matrix_has_some_of_the_larger_ones():
    for seed in range(50):
        for case in cases("few_bytes", seed)[:2]:
            A, B = case.args
            assert max(A.shape) <= 8
            assert (A > B).any()
            assert (A < B).any()
