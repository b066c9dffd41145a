"""A wrong sum of powers is told apart from the right one, and called by its name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from grader.coursecode import course_module
from grader.harness.compare import compare

FOLDER = Path(__file__).resolve().parents[2] / "assignments" / "csye7105_hw4"

values = course_module(FOLDER / "values.py")
expected = course_module(FOLDER / "expected.py")
inputs = course_module(FOLDER / "inputs.py")

POSITIVE = [np.random.default_rng(seed).uniform(size=(60, 60)) for seed in (1, 2)]
POWER = np.linalg.matrix_power


def rows(matrix):
    """What `program.powers` gives of one matrix."""
    probe = np.random.default_rng(3).uniform(0.5, 1.5, size=60)
    return np.stack([*(POWER(matrix, n) @ probe for n in (1, 9, 10, 11)), matrix**10 @ probe])


def summed(*matrices):
    return values.summed([rows(np.asarray(matrix, dtype=np.float32).astype(float)) for matrix in matrices])


A, B = POSITIVE
SUMS = {
    "right": POWER(A, 10) + POWER(B, 10),
    "element_wise": A**10 + B**10,
    "one_more": POWER(A, 11) + POWER(B, 11),
    "one_less": POWER(A, 9) + POWER(B, 9),
    "first_twice": 2 * POWER(A, 10),
}


@pytest.mark.parametrize(("name", "total"), SUMS.items())
def test_the_sum_is_found_among_the_matrices_of_a_program(name, total):
    assert summed(A, B, total) == name
    assert summed(total, B, np.eye(60), A, A.copy(), B.copy()) == name


def test_powers_that_were_left_behind_beside_the_sum_do_not_matter():
    assert summed(A, B, POWER(A, 10), POWER(B, 10), SUMS["right"]) == "right"
    assert summed(A, B, POWER(A, 10), POWER(B, 10), SUMS["one_more"]) == "one_more"


def test_a_sum_that_nobody_kept_is_not_seen():
    assert summed(A, B) == "unseen"
    assert summed(A, B, POWER(A, 10), POWER(B, 10)) == "unseen"
    assert summed(A, B, POWER(A, 10), POWER(A, 11)) == "unseen"
    assert values.summed([]) == "unseen"


def test_a_wrong_power_tells_even_where_nobody_kept_the_sum():
    assert summed(A, B, A**10) == "element_wise"
    assert summed(A, B, POWER(B, 11)) == "one_more"


def test_what_overflowed_is_no_sum():
    assert summed(A, B, np.full((60, 60), np.inf)) == "unseen"


def test_every_mistake_has_a_sentence_and_a_hint():
    assert values.MISTAKES.keys() <= values.HINTS.keys()
    for name in values.MISTAKES:
        assert callable(getattr(expected, name))


def test_no_mistake_looks_right_or_like_another_one_in_all_small_cases():
    cases = inputs.small_matrices(np.random.default_rng(4))
    answers = [
        {name: getattr(expected, name)(*case.args) for name in ("power_sum", *values.MISTAKES)}
        for case in cases
    ]
    for one in answers[0]:
        for other in answers[0]:
            alike = all(compare(answer[one].astype(np.float32), answer[other]).agrees for answer in answers)
            assert alike == (one == other), (one, other)


def test_at_full_size_a_few_rows_tell_the_same_as_the_whole_matrices():
    left, right, probes = inputs._large(np.random.default_rng(5), 300)
    A, B = (L.astype(float) @ R for L, R in zip(left, right, strict=True))
    wanted = (POWER(A, 10) + POWER(B, 10)) @ probes
    assert compare(expected.at_full_size(left, right, probes), wanted).agrees


@pytest.mark.parametrize("name", ["element_wise", "one_more", "one_less", "first_twice", "power_of_the_sum"])
def test_at_full_size_half_precision_is_enough_to_tell_mistakes(name):
    left, right, probes = inputs._large(np.random.default_rng(6), 300)
    A, B = (L.astype(float) @ R for L, R in zip(left, right, strict=True))
    told = expected.at_full_size(left, right, probes)
    mistaken = getattr(expected, name)(A, B, 10, ())
    assert compare(((POWER(A, 10) + POWER(B, 10)) @ probes).astype(np.float16), told).agrees
    assert not compare((mistaken @ probes).astype(np.float16), told).agrees
