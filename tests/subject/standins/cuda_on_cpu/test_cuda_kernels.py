"""Kernels that are right are right in every order, and those with a race are not."""

import math
import re
from pathlib import Path

import pytest

KERNELS = Path(__file__).parent / "kernels"

ORDERS = [("forward", 0), ("reversed", 0), ("shuffled", 1), ("shuffled", 2)]
WARPS = [496, 1520, 0, 2, 4, 16, 1, 0, 32, 34, 36, 16, 0, 1]
EXPECTED = {
    "matmul": [0],
    "reduction": [44850] * 3,
    "softmax_rows": [pytest.approx(1, abs=1e-5)] * 5,
    "reversed": [*range(49, -1, -1)],
    "warp_functions": WARPS,
    "votes_of_a_block": [4, 1, 1],
    "symbols": [1, 2, 3, 4, 1, 2, 3, 4, 70],
    "returns_before_a_barrier": [4.5],
    "a_lock": [64],
    "arguments_by_value": [1, 2, 6, 0.5],
    "launched_by_a_macro": [-1, 3],
    "shared_memory_of_the_file": [i // 4 for i in range(32)],
    "rows_with_a_pitch": [5, 0, 1],
}


def test_every_function_of_the_right_kernels_is_called():
    assert set(re.findall(r"^ENTRY\((\w+)\)", (KERNELS / "right.cu").read_text(), re.MULTILINE)) == set(
        EXPECTED
    )


@pytest.mark.quick(5)
@pytest.mark.parametrize("function", EXPECTED)
def test_a_right_kernel_gives_the_same_in_every_order(run, function):
    for order, seed in ORDERS:
        done = run("right", function, order, seed)
        assert (done.status, done.out[: len(EXPECTED[function])]) == (0, EXPECTED[function]), order
        assert not [fault for fault in done.reported if fault["fatal"]]


def test_threads_that_return_before_a_barrier_are_noted_and_not_waited_for(run):
    fault = run("right", "returns_before_a_barrier").fault
    assert (fault["fault"], fault["fatal"], fault["kernel"]) == ("ended_before_barrier", False, "mean")


def test_a_missing_barrier_shows_when_orders_differ(run):
    results = {repr(run("wrong", "missing_barrier", order, seed).out[0]) for order, seed in ORDERS}
    assert "2016.0" in results
    assert len(results) > 1


@pytest.mark.parametrize("function", ["missing_atomic", "missing_atomic_between_blocks"])
def test_a_missing_atomic_operation_loses_what_other_threads_add(run, function):
    assert run("wrong", function, "forward").out[0] == 128
    assert run("wrong", function, "shuffled", 1).out[0] < 128


def test_a_seed_gives_the_same_order_again(run):
    first, again, other = (run("wrong", "missing_atomic", "shuffled", seed).out[0] for seed in (3, 3, 4))
    assert first == again
    assert first != other


def test_memory_that_was_never_written_is_not_a_number(run):
    out = run("wrong", "never_written").out
    assert math.isnan(out[0])
    assert math.isnan(out[1])


def test_managed_and_page_locked_memory_is_for_both_sides(run):
    done = run("wrong", "managed_memory")
    assert (done.status, done.out[0], done.reported) == (0, 2, [])


@pytest.mark.parametrize(
    ("function", "status", "words"),
    [
        ("many_threads", 9, "mark: 2000 threads per block, allowed are 1024"),
        ("deep_block", 9, "mark: the block (1, 1, 65) has size 65 in z, allowed are 1 to 64"),
        ("no_blocks", 9, "mark: the grid (0, 1, 1) has size 0 in x, allowed are 1 to 2147483647"),
        ("high_grid", 9, "mark: the grid (1, 65536, 1) has size 65536 in y, allowed are 1 to 65535"),
        ("much_shared", 1, "mark: 49153 dynamic bytes of shared memory per block, allowed are 49152"),
    ],
)
def test_a_launch_that_a_gpu_refuses_is_an_error_and_nothing_runs(run, line_of, function, status, words):
    done = run("wrong", function)
    peeked, afterwards, written = done.out[:3]
    assert (done.status, peeked, afterwards, written) == (status, status, 0, 0)
    assert done.record["launches"] == []
    fault = done.fault
    assert (fault["fault"], fault["what"], fault["line"]) == ("refused_launch", words, line_of("launched"))


@pytest.mark.parametrize("function", ["as_much_as_there_may_be", "opted_in_to_more"])
def test_a_launch_at_the_limit_runs(run, function):
    done = run("wrong", function)
    assert (done.status, done.out[2], done.reported) == (0, 1, [])


def test_arrays_that_are_too_large_for_a_block_end_the_launch(run):
    done = run("wrong", "much_static_shared")
    assert (done.status, done.out[0]) == (1, 0)
    assert done.fault["what"].startswith("64000 static and 0 dynamic bytes of shared memory per block")
