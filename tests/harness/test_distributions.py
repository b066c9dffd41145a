from __future__ import annotations

import math

import numpy as np
import pytest

from grader.errors import CourseError
from grader.harness.distributions import Array, Uniform, copies, measure, pair, stuck
from grader.harness.structure import Mismatch

WIDE = Uniform(-0.5, 0.5, (100, 200))


def drawn(rng, expected):
    return rng.uniform(expected.low, expected.high, expected.shape)


def fit_of(array, expected=WIDE):
    return measure((), array, expected).fit


def worst(fit):
    return max(abs(fit.z_mean), abs(fit.z_variance)), fit.ks


@pytest.fixture
def rng():
    return np.random.default_rng(20)


@pytest.mark.parametrize("size", [1, 2, 6, 40, 1000])
def test_honest_draws_stay_far_within_the_default_limits(rng, size):
    expected = Uniform(-0.25, 0.75, (size,))
    fits = [fit_of(drawn(rng, expected), expected) for _ in range(500)]
    z, ks = (max(column) for column in zip(*map(worst, fits), strict=True))
    assert z <= 5.0
    assert ks <= 3.0


def test_the_statistics_have_the_spread_that_theory_gives_them(rng):
    expected = Uniform(2.0, 6.0, (500,))
    fits = [fit_of(drawn(rng, expected), expected) for _ in range(2000)]
    for name in ("z_mean", "z_variance"):
        values = np.array([getattr(fit, name) for fit in fits])
        assert abs(values.mean()) < 0.12
        assert abs(values.std() - 1) < 0.08
    # Kolmogorov's distribution: a twentieth lies above 1.358.
    assert 0.03 < np.mean([fit.ks > 1.358 for fit in fits]) < 0.07


@pytest.mark.parametrize(
    ("draw", "statistic", "limit"),
    [
        pytest.param(lambda rng, shape: rng.uniform(-0.55, 0.45, shape), "z_mean", 5, id="shifted"),
        pytest.param(lambda rng, shape: rng.uniform(-0.48, 0.48, shape), "z_variance", 5, id="narrow"),
        pytest.param(lambda rng, shape: rng.uniform(0, 0.5, shape), "z_mean", 5, id="positive only"),
        pytest.param(lambda rng, shape: rng.normal(0, 12**-0.5, shape), "ks", 3, id="normal"),
        pytest.param(lambda rng, shape: rng.choice([-1, 1], shape) * 12**-0.5, "ks", 3, id="two values"),
        pytest.param(lambda rng, shape: np.zeros(shape), "z_variance", 5, id="zeros"),
        pytest.param(lambda rng, shape: np.full(shape, 1e308), "z_mean", 5, id="huge"),
    ],
)
def test_another_distribution_is_told_apart(rng, draw, statistic, limit):
    assert not abs(getattr(fit_of(draw(rng, WIDE.shape)), statistic)) <= limit


def test_the_figures_behind_the_statistics_are_kept():
    fit = fit_of(np.array([0.0, 1.0]), Uniform(0, 1, (2,)))
    assert (fit.mean, fit.mean_expected, fit.std) == (0.5, 0.5, 0.5)
    assert fit.std_expected == pytest.approx(math.sqrt(1 / 12))
    assert fit.ks == pytest.approx(math.sqrt(2) * 0.5)


def test_an_offset_counts_as_spread():
    assert fit_of(np.full(3, 1.5), Uniform(0, 1, (3,))).std == 1.0


def test_values_out_of_range_are_counted_beyond_rounding():
    expected = Uniform(-0.1, 0.1, (4,))
    rounded = np.array([0.1, -0.1, np.nextafter(0.1, 1), 0.0])
    assert measure((), rounded, expected).outside == 0
    assert measure((), rounded.astype(np.float32), expected).outside == 0
    assert measure((), rounded * 1.001, expected).outside == 3


def test_values_that_are_not_finite_are_counted_and_not_fitted():
    sample = measure((2,), np.array([np.nan, np.inf, 0.0]), Uniform(-1, 1, (3,)))
    assert (sample.where, sample.size, sample.nonfinite, sample.outside, sample.fit) == (
        "item 2",
        3,
        2,
        0,
        None,
    )


def test_an_empty_array_is_measured_without_a_fit():
    sample = measure((), np.empty((0, 3)), Uniform(-1, 1, (0, 3)))
    assert (sample.where, sample.size, sample.fit) == ("the result", 0, None)
    assert not stuck(sample)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("size", [1, 10, 1000, 100_000])
def test_honest_draws_of_any_precision_vary(rng, dtype, size):
    assert not stuck(measure((), rng.uniform(-1, 1, size).astype(dtype), Uniform(-1, 1, (size,))))


@pytest.mark.parametrize(
    "array",
    [np.zeros(2), np.full(1000, 0.3), np.tile(np.linspace(-1, 1, 100), 1000), np.repeat([0.1, 0.2], 2)],
    ids=["zeros", "constant", "tiled", "pairs"],
)
def test_copied_values_are_stuck(array):
    assert stuck(measure((), array, Uniform(-1, 1, array.shape)))


def test_equal_arrays_are_found_whatever_lies_between(rng):
    first, second = rng.uniform(size=(2, 3, 4))
    assert copies([first, second, first.copy()]) == (0, 2)
    assert copies([first, second, first.T]) is None
    assert copies([np.empty(0), np.empty(0), np.ones(1), np.ones(1)]) is None


def test_results_pair_with_distributions_by_structure(rng):
    expected = [Uniform(-1, 1, (2, 3)), (Array((4,), "integers"),)]
    weights = rng.uniform(-1, 1, (2, 3))
    pairs = pair((weights.astype(np.float32), [np.arange(4)]), expected)
    assert [(path, array.shape) for path, array, _ in pairs] == [((0,), (2, 3)), ((1, 0), (4,))]
    assert len(pair([weights.tolist(), [[1, 2, 3, 4]]], expected)) == 2


@pytest.mark.parametrize(
    ("result", "note"),
    [
        (None, "returned None; expected a list of 2 items"),
        ([np.ones((2, 3))], "returned 1 item, expected 2"),
        ([np.ones((3, 2)), np.arange(4)], "item 0 has shape (3, 2) instead of (2, 3)"),
        ([np.ones((2, 3)), np.ones(4)], "item 1 has dtype float64; expected integers"),
        ([np.ones((2, 3), int), np.arange(4)], "item 0 has dtype int64; expected floats"),
        ([np.ones((2, 3)), None], "item 1 is None; expected an array of shape (4,)"),
    ],
)
def test_a_result_of_another_structure_is_one_sentence(result, note):
    with pytest.raises(Mismatch) as mismatch:
        pair(result, [Uniform(-1, 1, (2, 3)), Array((4,), "integers")])
    assert str(mismatch.value) == note


def test_an_oracle_that_gives_no_distribution_is_the_courses_fault():
    with pytest.raises(CourseError, match=r"gave 0\.5; give a distribution, as Uniform\("):
        pair([1.0], [0.5])
    with pytest.raises(CourseError, match="low must be below high"):
        Uniform(1, -1, (3,))
    with pytest.raises(CourseError, match="low must be below high"):
        Uniform(0, math.inf, (3,))


def brain_float(values):
    """Single precision cut to eight bits."""
    return (values.astype("f4").view(np.uint32) & 0xFFFF0000).view("f4")


def but_for_one(values):
    wide = values.astype(float)
    wide[0, 0] = 0.123456789
    return wide


@pytest.mark.parametrize(
    ("values", "note"),
    [
        (
            lambda u: u.astype(np.float16),
            "item 0 has dtype float16, which is too coarse; give float32 or float64",
        ),
        (
            lambda u: [list(row) for row in u.astype(np.float16)],
            "item 0 has dtype float16, which is too coarse; ",
        ),
        (
            lambda u: u.astype(np.float16).astype(float),
            "item 0 holds values of half precision, which is too coarse; give float32 or float64",
        ),
        (lambda u: u.astype(np.float16).astype("f4"), "item 0 holds values of half precision, which is too "),
        (brain_float, "item 0 holds values of half precision, which is too "),
        (lambda u: but_for_one(u.astype(np.float16)), "item 0 holds values of half precision, which is too "),
    ],
    ids=["type", "numbers", "widened", "widened to single", "eight bits", "but for one"],
)
def test_draws_of_half_precision_are_refused_where_it_is_too_coarse(rng, values, note):
    law = Uniform(-0.3, 0.3, (30, 20))
    drawn_values = values(drawn(rng, law))
    assert len(pair([drawn_values], [law])) == 1
    with pytest.raises(Mismatch) as mismatch:
        pair([drawn_values], [law], "float32")
    assert str(mismatch.value).startswith(note)


@pytest.mark.parametrize(
    "values",
    [np.zeros, np.ones, lambda shape: np.resize([-0.25, 0.0, 0.25], shape)],
    ids=["zeros", "ones", "three values"],
)
@pytest.mark.parametrize("expected", [Uniform(-1, 1, (30, 20)), Array((30, 20))], ids=["drawn", "any"])
def test_few_values_that_repeat_say_nothing_about_their_precision(values, expected):
    array = values((30, 20))
    assert len(pair([array], [expected], "float32")) == 1
    assert stuck(measure((), array, Uniform(-1, 1, array.shape))), "a draw of it is refused all the same"


def test_half_precision_that_partly_repeats_is_still_refused_where_anything_may_be_given(rng):
    """As the results of a rectifier: half of them are 0."""
    array = np.maximum(rng.uniform(-1, 1, (30, 20)), 0).astype(np.float16).astype(float)
    with pytest.raises(Mismatch, match="holds values of half precision"):
        pair([array], [Array((30, 20))], "float32")


@pytest.mark.parametrize("size", range(16, 70))
def test_no_draw_of_half_precision_passes_for_few_values(rng, size):
    """Whatever is let through as too few values is refused because they repeat."""
    for different in range(1, size + 1):
        halves = rng.permutation(np.arange(different) / 64.0)
        array = np.resize(halves, size)
        try:
            pair(array, Uniform(-1, 2, (size,)), "float32")
        except Mismatch:
            continue
        assert stuck(measure((), array, Uniform(-1, 2, (size,)))), different


@pytest.mark.parametrize("size", [1, 3, 16, 600])
def test_draws_of_single_precision_are_fine_enough(rng, size):
    law = Uniform(-0.3, 0.3, (size,))
    for _ in range(200):
        pair(rng.uniform(-0.3, 0.3, size).astype(np.float32), law, "float32")
