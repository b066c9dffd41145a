from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.model.rubric import LatePolicy
from grader.scoring.late import DAY_S, late_total

TENTH_A_DAY = LatePolicy(grace_s=900.0, per_day=0.1, at_most_days=3)


@pytest.mark.parametrize(
    ("late_s", "left"),
    [
        (None, 20.0),
        (-5.0, 20.0),
        (0.0, 20.0),
        (900.0, 20.0),
        (901.0, 18.0),
        (DAY_S + 900.0, 18.0),
        (DAY_S + 901.0, 16.0),
        (3 * DAY_S + 900.0, 14.0),
        (3 * DAY_S + 901.0, 0.0),
    ],
)
def test_after_the_grace_every_started_day_costs_until_nothing_counts(late_s, left):
    assert late_total(20.0, TENTH_A_DAY, late_s) == pytest.approx(left)


def test_a_policy_that_says_nothing_costs_nothing():
    assert late_total(20.0, LatePolicy(), 100 * DAY_S) == 20.0


def test_days_never_cost_more_than_there_is():
    assert late_total(20.0, LatePolicy(per_day=0.4), 5 * DAY_S) == 0.0


@given(
    raw=st.floats(0, 1000),
    per_day=st.floats(0, 1),
    grace_s=st.floats(0, DAY_S),
    at_most_days=st.none() | st.floats(0, 10),
    late_s=st.floats(-DAY_S, 20 * DAY_S),
    more_s=st.floats(0, 5 * DAY_S),
)
def test_coming_later_never_earns_more(raw, per_day, grace_s, at_most_days, late_s, more_s):
    policy = LatePolicy(grace_s=grace_s, per_day=per_day, at_most_days=at_most_days)
    sooner, later = late_total(raw, policy, late_s), late_total(raw, policy, late_s + more_s)
    assert 0 <= later <= sooner <= raw
