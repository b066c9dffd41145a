from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.model.rubric import LatePolicy
from grader.scoring.late import DAY_S, late, later, spelled

TENTH_A_DAY = LatePolicy(grace_s=900.0, per_day=0.1, at_most_days=3)
DUE = datetime(2024, 12, 23, 21, 59, tzinfo=UTC)
JERUSALEM = ZoneInfo("Asia/Jerusalem")


def after(seconds, policy=TENTH_A_DAY, **keys):
    moment = None if seconds is None else DUE + timedelta(seconds=seconds)
    return late(policy, due=DUE, submitted_at=moment, **keys)


@pytest.mark.parametrize(
    ("late_s", "days", "share"),
    [
        (None, 0, 0.0),
        (-5.0, 0, 0.0),
        (0.0, 0, 0.0),
        (900.0, 0, 0.0),
        (901.0, 1, 0.1),
        (DAY_S + 900.0, 1, 0.1),
        (DAY_S + 901.0, 2, 0.2),
        (3 * DAY_S + 900.0, 3, 0.3),
        (3 * DAY_S + 901.0, 4, 1.0),
    ],
)
def test_after_the_grace_every_started_day_costs_until_nothing_counts(late_s, days, share):
    found = after(late_s)
    assert (found.days, found.share) == (days, pytest.approx(share))


def test_lateness_is_told_from_the_deadline_and_not_from_the_end_of_the_grace():
    assert after(901.0).late_s == 901.0
    assert after(300.0).late_s == 300.0
    assert after(-300.0).late_s == 0.0


def test_an_unknown_time_is_neither_late_nor_early():
    assert after(None).submitted_at is None
    assert after(None).late_s == 0.0


def test_a_mark_of_the_lms_is_kept_and_takes_nothing_off():
    assert (after(None, marked=True).marked, after(None, marked=True).share) == (True, 0.0)
    assert (after(-5.0, marked=True).marked, after(-5.0, marked=True).share) == (True, 0.0)


def test_a_policy_that_says_nothing_costs_nothing():
    assert after(100 * DAY_S, LatePolicy()).share == 0.0
    assert after(100 * DAY_S, LatePolicy()).rule == ""


def test_days_never_cost_more_than_there_is():
    assert after(5 * DAY_S, LatePolicy(per_day=0.4)).share == 1.0


def test_an_extension_moves_the_deadline_and_the_last_day_with_it():
    extended = after(2 * DAY_S + 60.0, extension_s=2 * DAY_S)
    assert (extended.due, extended.days) == (DUE + timedelta(days=2), 0)
    assert after(5 * DAY_S, extension_s=2 * DAY_S).share == pytest.approx(0.3)
    assert after(5 * DAY_S).share == 1.0


def test_the_same_moment_is_as_late_whatever_its_offset():
    elsewhere = timezone(timedelta(hours=-8))
    moment = (DUE + timedelta(seconds=1000)).astimezone(elsewhere)
    assert late(TENTH_A_DAY, due=DUE, submitted_at=moment).days == 1


@pytest.mark.parametrize(
    ("due", "last_moment_of_the_first_day"),
    [
        # 28 March 2024 ends an hour early: the clocks go forward at 2:00 of the 29th.
        ("2024-03-28T23:59:00+02:00", "2024-03-29T23:59:00+03:00"),
        # 27 October 2024 has 25 hours: the clocks go back at 2:00.
        ("2024-10-26T23:59:00+03:00", "2024-10-27T23:59:00+02:00"),
    ],
)
def test_a_day_ends_when_the_clock_shows_the_same_time_again(due, last_moment_of_the_first_day):
    due, last = datetime.fromisoformat(due), datetime.fromisoformat(last_moment_of_the_first_day)
    policy = LatePolicy(per_day=0.1)
    at = {
        seconds: late(policy, due=due, submitted_at=last + timedelta(seconds=seconds), zone=JERUSALEM).days
        for seconds in (0, 1)
    }
    assert at == {0: 1, 1: 2}


def test_an_extension_of_a_day_ends_at_the_same_time_of_the_day_whatever_the_clocks_did():
    due = datetime.fromisoformat("2024-03-28T23:59:00+02:00")
    assert later(due, DAY_S, JERUSALEM) == datetime.fromisoformat("2024-03-29T23:59:00+03:00")
    assert later(due, DAY_S + 3600, JERUSALEM) == datetime.fromisoformat("2024-03-30T00:59:00+03:00")


def test_a_time_that_the_clocks_show_twice_is_later_the_second_time():
    due = datetime(2024, 10, 27, 1, 30, tzinfo=JERUSALEM)
    again = due.replace(fold=1)
    assert late(LatePolicy(per_day=0.1), due=due, submitted_at=again, zone=JERUSALEM).late_s == 3600.0
    assert late(LatePolicy(per_day=0.1), due=due, submitted_at=again, zone=JERUSALEM).days == 1


def test_a_policy_is_told_in_words():
    assert spelled(TENTH_A_DAY) == ("10 % per started day, nothing after 3 days, first 15 minutes free")
    assert spelled(LatePolicy(grace_s=900.0)) == ""
    assert spelled(LatePolicy(at_most_days=1.5)) == "nothing after 36 hours"
    assert spelled(LatePolicy(grace_s=DAY_S, at_most_days=0.0)) == "nothing if late, first 1 day free"


@given(
    per_day=st.floats(0, 1),
    grace_s=st.floats(0, DAY_S),
    at_most_days=st.none() | st.floats(0, 10),
    due=st.datetimes(datetime(2024, 1, 1), datetime(2024, 12, 31), timezones=st.just(UTC)),  # noqa: DTZ001
    extension_s=st.sampled_from([0.0, 3600.0, DAY_S, 2.5 * DAY_S]),
    late_s=st.floats(-DAY_S, 20 * DAY_S),
    more_s=st.floats(0, 5 * DAY_S),
)
def test_coming_later_never_costs_less(per_day, grace_s, at_most_days, due, extension_s, late_s, more_s):
    policy = LatePolicy(grace_s=grace_s, per_day=per_day, at_most_days=at_most_days)
    keys = {"due": due, "extension_s": extension_s, "zone": JERUSALEM}
    sooner, after_that = (
        late(policy, submitted_at=due + timedelta(seconds=seconds), **keys)
        for seconds in (late_s, late_s + more_s)
    )
    assert 0 <= sooner.share <= after_that.share <= 1
    assert sooner.days <= after_that.days
