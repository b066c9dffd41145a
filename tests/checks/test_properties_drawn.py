"""Values that are not drawn at random earn nothing, whatever else is right about them."""

from __future__ import annotations

import random
from itertools import count, pairwise

import numpy as np
import pytest

from grader.checks.properties import Properties
from grader.harness.distributions import Uniform

KIND = Properties()
OPTIONS = Properties.Options(of="utils.f", inputs="family")
CASES = {"small": ([4, 7, 10],), "pictures": ([300, 90, 10],), "equal": ([55, 55, 55],), "wide": ([5, 1700],)}


def xavier(sizes):
    return [Uniform(-(m**-0.5), m**-0.5, (m, n)) for m, n in pairwise(sizes)]


def each(draw):
    """A program that makes each matrix of numbers between 0 and 1 by `draw(m, n)`."""
    return lambda sizes: [(2 * draw(m, n) - 1) / np.sqrt(m) for m, n in pairwise(sizes)]


def award(make_context, program):
    observation = KIND.observe(OPTIONS, make_context(program, CASES, f=xavier))
    judged = KIND.award(OPTIONS, observation, {})
    return judged.fraction, judged.reason


def permuted(seed=None):
    """Evenly spaced numbers in an order that is drawn, or always the same."""
    numbers = count()

    def draw(m, n):
        rng = np.random.default_rng(None if seed is None else seed + next(numbers))
        return rng.permutation((np.arange(m * n) + 0.5) / (m * n)).reshape(m, n)

    return draw


def jittered(m, n):
    """A number in each of m n equal parts, in an order that is drawn."""
    rng = np.random.default_rng()
    return rng.permutation((np.arange(m * n) + rng.random(m * n)) / (m * n)).reshape(m, n)


def kronecker():
    """The golden ratio's multiples, which are spread more evenly than random numbers."""
    numbers = count(1)
    return lambda m, n: np.array([next(numbers) * 0.6180339887498949 % 1 for _ in range(m * n)]).reshape(m, n)


def van_der_corput(m, n):
    digits = np.arange(m * n)[:, None] >> np.arange(20) & 1
    return ((digits * 0.5 ** np.arange(1, 21)).sum(axis=1) + np.random.random()).reshape(m, n) % 1


def weyl(m, n):
    """Every row is the one above, moved on around the circle by a step of its own."""
    return (np.random.random((1, n)) + np.arange(m)[:, None] * 0.2113248654) % 1


def rolled(m, n):
    """Every row is the one above, moved by one column."""
    row = np.random.random(n)
    return np.array([np.roll(row, shift) for shift in range(m)])


def sorted_rows(m, n):
    return np.sort(np.random.random((m, n)), axis=1)


def sorted_columns(m, n):
    return np.sort(np.random.random((m, n)), axis=0)


def smooth(m, n):
    """A step to the left or to the right from each number to the next."""
    return np.cumsum(np.random.uniform(-0.05, 0.05, m * n)).reshape(m, n) % 1


def alternating(m, n):
    """Every other number is small."""
    values = np.random.random(m * n) / 2
    values[::2] += 0.5
    return values.reshape(m, n)


def remembered(change):
    """Numbers that are drawn once, and changed somehow from call to call."""
    bank = np.random.default_rng(3).random(200_000)
    numbers = count()
    return lambda m, n: change(bank[: m * n], next(numbers)).reshape(m, n)


def turned(values, number):
    return values if number % 2 else 1 - values


def shuffled(values, number):
    return np.random.default_rng(number).permutation(values)


def moved(values, number):
    return (values + number * 0.2113248654) % 1


def signs(values, number):
    """The distance from the middle is the same, the side is drawn."""
    flips = np.random.default_rng(number).random(values.size) < 0.5
    return np.where(flips, 1 - values, values)


def mixed(values, number):
    """Half of the numbers are drawn, the other half remembered, in an order that is drawn."""
    rng = np.random.default_rng(number + 7)
    fresh = rng.random(values.size)
    return rng.permutation(np.where(np.arange(values.size) % 2, values, fresh))


def nearly(values, number):
    """In another order, and not quite the same."""
    rng = np.random.default_rng(number)
    return np.clip(rng.permutation(values) + rng.uniform(-1e-7, 1e-7, values.size), 0, 1)


def one_new(values, number):
    """As they were, but for one."""
    return np.concatenate([values[:-1], [np.random.random()]])


def one_new_in_few(values, number):
    """New in large arrays, and in small ones as they were, but for one."""
    return one_new(values, number) if values.size < 30 else np.random.random(values.size)


def each_twice(m, n):
    """Half of the numbers are drawn, and each comes twice, somewhere."""
    values = np.random.random((m * n + 1) // 2)
    return np.random.permutation(np.concatenate([values, values])[: m * n]).reshape(m, n)


def each_with_its_opposite(m, n):
    """The mean is that of the distribution to the last digit."""
    values = np.random.random((m * n + 1) // 2)
    return np.random.permutation(np.concatenate([values, 1 - values])[: m * n]).reshape(m, n)


def from_a_bank():
    """Numbers that were drawn once, picked at random."""
    bank = np.random.default_rng(9).random(9000)
    return lambda m, n: np.random.choice(bank, (m, n))


def the_opposite_in_the_second_call():
    calls = {}

    def draw(m, n):
        return (
            1 - calls.pop((m, n)) if (m, n) in calls else calls.setdefault((m, n), np.random.random((m, n)))
        )

    return draw


def few_seeds():
    """A seed from a short list, so that other calls get the same stream."""
    numbers = count()
    return lambda m, n: np.random.default_rng(next(numbers) % 5).random((m, n))


def products_of_two_vectors(m, n):
    """As many random numbers as there are rows and columns, in place of elements."""
    return (np.random.random((m, 1)) + np.random.random((1, n))) % 1


def without_repetition():
    """Half of a fixed set of numbers each time."""
    bank = np.random.default_rng(5).random(120_000)
    return lambda m, n: np.random.default_rng().choice(bank, m * n, replace=False).reshape(m, n)


NOT_DRAWN = {
    "evenly spaced, in an order that is drawn": permuted(),
    "evenly spaced, in an order by a fixed seed": permuted(seed=1),
    "one in each of many equal parts": jittered,
    "multiples of the golden ratio": kronecker(),
    "van der Corput's sequence, moved": van_der_corput,
    "rows moved around the circle": weyl,
    "rows moved by a column": rolled,
    "sorted rows": sorted_rows,
    "sorted columns": sorted_columns,
    "small steps": smooth,
    "small and large in turn": alternating,
    "one array, its sign turned": remembered(turned),
    "one array in another order": remembered(shuffled),
    "one array moved around the circle": remembered(moved),
    "one array with other signs": remembered(signs),
    "one array for every other number": remembered(mixed),
    "one array in another order, and not quite": remembered(nearly),
    "one array, and one new number": remembered(one_new),
    "small arrays, and one new number": remembered(one_new_in_few),
    "each number twice": each_twice,
    "each number and its opposite": each_with_its_opposite,
    "picked from numbers that were drawn once": from_a_bank(),
    "the second call is the first one's opposite": the_opposite_in_the_second_call(),
    "five seeds": few_seeds(),
    "a number for each row and each column": products_of_two_vectors,
    "half of a fixed set": without_repetition(),
}


@pytest.mark.parametrize("draw", [pytest.param(draw, id=name) for name, draw in NOT_DRAWN.items()])
def test_values_that_are_not_drawn_at_random_earn_nothing(make_context, draw):
    fraction, reason = award(make_context, each(draw))
    assert fraction == 0.0
    assert not any(word in reason for word in ("out of range", "shape", "dtype", "raised")), reason


def halves(m, n):
    return np.random.random((m, n)).astype(np.float16).astype(np.float64)


DRAWN = {
    "RandomState": lambda m, n: np.random.RandomState().uniform(size=(m, n)),
    "numpy.random": lambda m, n: np.random.uniform(size=(m, n)),
    "a Generator": lambda m, n: np.random.default_rng().random((m, n)),
    "a Generator of single precision": lambda m, n: np.random.default_rng().random((m, n), dtype=np.float32),
    "random": lambda m, n: np.array([[random.random() for _ in range(n)] for _ in range(m)]),
    "transposed": lambda m, n: np.random.random((n, m)).T,
    "rounded": lambda m, n: np.random.random((m, n)).round(3),
    "whole numbers": lambda m, n: np.random.randint(0, 10_001, (m, n)) / 10_000,
    "half precision": halves,
    "one of many evenly spaced": lambda m, n: np.random.choice(np.linspace(0, 1, 2001), (m, n)),
}


@pytest.mark.parametrize("draw", [pytest.param(draw, id=name) for name, draw in DRAWN.items()])
def test_values_that_are_drawn_earn_everything_however_they_are(make_context, draw):
    for _ in range(5):
        assert award(make_context, each(draw)) == (1.0, "4 of 4 cases are right")


def test_a_seed_at_the_top_of_a_file_is_drawn_from_again_after_a_crash(make_context):
    """The process after the crash draws the same numbers: only one process's are compared."""
    generators = iter((np.random.default_rng(1), np.random.default_rng(1)))
    current = [next(generators)]

    def program(sizes):
        if sizes == CASES["pictures"][0]:
            current[0] = next(generators)
            raise ValueError("no")
        return each(lambda m, n: current[0].random((m, n)))(sizes)

    cases = {"equal": CASES["equal"], "pictures": CASES["pictures"], "wide": CASES["wide"]}
    observation = KIND.observe(OPTIONS, make_context(program, cases, f=xavier))
    judged = KIND.award(Properties.Options(of="utils.f", inputs="family", credit="per_case"), observation, {})
    assert judged.fraction == pytest.approx(2 / 3)
