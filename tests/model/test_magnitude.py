"""Points as text, rounded in the way in which platforms get them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.lms.numbers import exact, spelled
from grader.model.magnitude import counted, number, rounded


@pytest.mark.parametrize(
    ("points", "text"),
    [
        (11.125, "11.13"),
        (-1.375, "-1.37"),
        (0.005, "0.01"),
        (-0.005, "0"),
        (3.0, "3"),
        (100, "100"),
        (1 / 3, "0.33"),
    ],
)
def test_a_half_of_the_last_decimal_is_rounded_upwards(points, text):
    assert number(points) == text


@given(st.floats(-1e6, 1e6))
def test_a_page_shows_what_a_platform_gets(points):
    assert number(points) == spelled(rounded(exact(points), 2))


@given(st.integers(0, 100_000), st.integers(0, 1000))
def test_what_is_left_and_what_was_taken_add_up(hundredths, thousandths):
    before, taken = hundredths / 100, thousandths / 1000
    left = round(before - taken, 9)
    assert math.isclose(float(number(left)) - float(number(-taken)), before, abs_tol=1e-9)


@pytest.mark.parametrize("points", [1e30, -1.7e308, 1e-300])
def test_numbers_of_any_size_have_a_text(points):
    assert float(number(points)) == pytest.approx(points, abs=0.01)


def test_numbers_that_are_none_have_one_too():
    assert (number(math.inf), number(math.nan)) == ("inf", "nan")
    assert counted(1, "point") == "1 point"
