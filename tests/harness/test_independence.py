"""The statistics of independence have the spread that theory gives them, and see what they are meant for."""

import math

import numpy as np
import pytest

from grader.harness.distributions import Uniform
from grader.harness.independence import (
    Draws,
    Folded,
    dependence,
    evenness,
    repeated,
    shared,
    turning,
    windows,
)

SIZE = 2000


@pytest.fixture
def rng():
    return np.random.default_rng(21)


def shared_by(arrays):
    return shared([Folded.of(array) for array in arrays])


def pieces(rng, count=2000, size=SIZE):
    return (rng.random(size) for _ in range(count))


def test_turning_points_are_nearly_normal(rng):
    # the worse one of two directions: rows alone are a vector's only one
    worst = np.array([turning(piece) for piece in pieces(rng)])
    assert abs(worst.mean()) < 0.12
    assert abs(worst.std() - 1) < 0.08
    assert np.abs(worst).max() < 5


def test_dependence_of_independent_values_is_exponential_for_each_distance(rng):
    """So the largest of 14 n is near log(14 n) + 0.6, and exceeds log(14 n) + 4 about once in 55 times."""
    worst = np.array([dependence(piece).statistic for piece in pieces(rng, count=600)])
    assert abs(worst.mean() - math.log(14 * SIZE)) < 1.0
    assert np.mean(worst > math.log(14 * SIZE) + 4) < 0.05


def test_evenness_has_kolmogorovs_distribution(rng):
    values = np.array([evenness(piece) for piece in pieces(rng)])
    # sqrt(2 pi) / x exp(-pi^2 / (8 x^2)) is 0.0050 at 0.42, 0.106 at 0.58
    assert 0.0005 < np.mean(values < 0.42) < 0.012
    assert 0.08 < np.mean(values < 0.58) < 0.13


@pytest.mark.parametrize("size", [16, 30, 100])
def test_few_values_that_are_drawn_are_never_spaced_so_evenly(rng, size):
    assert min(evenness(piece) for piece in pieces(rng, count=5000, size=size)) > 0.25


def test_evenly_spaced_values_are_as_near_as_can_be(rng):
    assert evenness(rng.permutation((np.arange(100) + 0.5) / 100)) == pytest.approx(0.05)
    assert evenness(np.linspace(0, 1, 15)) == math.inf


@pytest.mark.parametrize(
    ("behind", "apart"),
    [
        (lambda u: u, 50),
        (lambda u: 1 - u, 50),
        (lambda u: (u + 0.2113) % 1, 50),
        (lambda u: (0.7 - u) % 1, 50),
        (lambda u: 2 * u % 1, 50),
        (lambda u: (0.4 - 3 * u) % 1, 50),
    ],
    ids=["the same", "the opposite", "moved", "moved and turned", "doubled", "three times, turned"],
)
def test_a_copy_is_found_with_its_distance(rng, behind, apart):
    values = rng.random(1000)
    values[apart:100] = behind(values[: 100 - apart])
    values = np.concatenate([values, behind(values)])
    result = dependence(values)
    assert result.apart == 1000
    assert result.statistic == pytest.approx(1000, rel=0.2)


def test_values_of_a_chaotic_map_depend_on_the_one_before(rng):
    values = [rng.random()]
    while len(values) < 1000:
        values.append((3 * values[-1] + 0.1) % 1)
    result = dependence(np.array(values))
    assert (result.apart, result.statistic) == (1, pytest.approx(999))


def test_few_values_prove_nothing_of_their_order():
    assert dependence(np.zeros(63)).statistic == 0
    assert turning(np.arange(63) / 63) == 0


def test_what_is_equal_by_chance_is_expected(rng):
    coarse = [rng.integers(0, 50, 3000) / 50 for _ in range(4)]
    result = shared_by(coarse)
    assert result.pairs == pytest.approx(result.expected, rel=0.05)
    assert result.z == 0
    assert shared_by([rng.random(3000) for _ in range(4)]).z < 5


@pytest.mark.parametrize("count", [5, 40])
def test_some_values_of_another_array_are_enough(rng, count):
    one, other = rng.random((2, 500))
    other[rng.permutation(500)[:count]] = 1 - one[:count]
    assert shared_by([one, other]).pairs == count
    assert (shared_by([one, other]).z > 6.5) == (count == 40)


def test_single_precision_is_compared_as_coarsely_as_it_is(rng):
    low, high = Uniform(-0.5, 0.5, (5000,)), Uniform(-0.1, 0.1, (5000,))
    values = rng.uniform(-0.5, 0.5, 5000).astype(np.float32)
    scaled = values * np.float32(0.2)
    pair = [low.cdf(values.astype(np.float64)), high.cdf(scaled.astype(np.float64))]
    assert shared_by(pair).z > 6.5
    figures = Draws(rng).add([[(values, low), (rng.permutation(scaled), high)]])
    assert figures["z_shared"] > 6.5


def test_values_that_an_array_repeats_are_found_unless_they_are_steps_apart(rng):
    values = rng.random(500)
    assert repeated(Folded.of(rng.permutation(np.concatenate([values, 1 - values])))).pairs == 500
    assert repeated(Folded.of(np.concatenate([values, values[:40]]))).z > 6.5
    assert repeated(Folded.of(rng.random(50_000))).z < 5
    for coarse in (
        rng.integers(0, 300, 5000) / 300,
        rng.random(5000).round(3),
        rng.random(50_000, np.float32),
    ):
        assert repeated(Folded.of(coarse.astype(float))).z == 0


def test_windows_are_the_same_part_of_every_call(rng):
    first = rng.random(50_000)
    part = windows([first, first + 1], rng)
    assert part.size == 2 * 2**13
    assert np.array_equal(part[: 2**13] + 1, part[2**13 :])
    assert windows([first[:10], first[:10]], rng).size == 20


@pytest.mark.slow
def test_honest_programs_stay_far_within_the_limits(rng):
    """Of 500 the largest values are where the stated tails put them, and a limit is many times rarer."""
    worst = {"ks_least": [], "z_turning": [], "z_shared": [], "dependence": []}
    shapes = (300, 90), (90, 10), (5, 1700), (55, 55)
    for _ in range(500):
        draws = Draws(rng)
        for m, n in shapes:
            law = Uniform(-(m**-0.5), m**-0.5, (m, n))
            calls = [[(rng.uniform(law.low, law.high, law.shape), law)] for _ in range(2)]
            for name, value in draws.add(calls).items():
                if name in worst:
                    worst[name].append(abs(value))
    assert max(worst["dependence"]) < 26  # 2000 cases of 2 * 16384 sums: log gives 18
    assert max(worst["z_turning"]) < 5.5
    assert max(worst["z_shared"]) < 4  # 8000 counts: the largest of as many normal ones is 3.9
    assert min(worst["ks_least"]) > 0.25
