"""The interval of a median holds what it promises, for any distribution."""

import random
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.checks.interval import CONFIDENCE, median_interval

numbers = st.floats(min_value=-1e6, max_value=1e6)


@given(st.lists(numbers, min_size=1, max_size=60))
def test_the_median_lies_in_its_interval_and_the_ends_are_samples(samples):
    interval = median_interval(samples)
    assert interval.low <= interval.middle <= interval.high
    assert interval.middle == pytest.approx(median(samples))
    assert {interval.low, interval.high} <= set(samples)


@pytest.mark.parametrize("n", [6, 7, 12, 25])
def test_a_skewed_distribution_is_covered_as_often_as_promised(n):
    rng = random.Random(7)
    true = 0.6931471805599453  # of the exponential distribution
    trials = 3000
    held = 0
    for _ in range(trials):
        interval = median_interval([rng.expovariate(1.0) for _ in range(n)])
        held += interval.low <= true <= interval.high
    assert held / trials > CONFIDENCE - 0.012  # three standard errors of 3000 trials


def test_few_samples_give_their_whole_range():
    assert median_interval([3.0, 1.0, 2.0]).low == 1.0
    assert median_interval([3.0, 1.0, 2.0]).high == 3.0


def test_one_outlier_does_not_move_the_interval_of_many():
    samples = [1.0 + i / 1000 for i in range(20)]
    assert median_interval([*samples, 1e9]).high < 1.1


def test_no_samples_have_no_interval():
    with pytest.raises(ValueError, match="no samples"):
        median_interval([])
