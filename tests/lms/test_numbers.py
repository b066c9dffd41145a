from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.errors import UsageError
from grader.lms.numbers import decimal_separator, exact, read, spelled
from grader.model.magnitude import rounded


@pytest.mark.parametrize(
    ("cells", "separator"),
    [
        (["7.5", "", "A-"], "."),
        (["7,5", "10,00"], ","),
        (["10", ""], "."),
        (["1,000", "7.5"], "."),
        (["1,000"], "."),
    ],
)
def test_the_decimal_separator_is_that_of_the_numbers_that_are_there(cells, separator):
    assert decimal_separator(cells, "s.csv") == separator


def test_two_decimal_grades_are_not_guessed_at():
    with pytest.raises(UsageError, match=r"s\.csv: has grades with a decimal comma and with a point"):
        decimal_separator(["7.5", "7,5"], "s.csv")


@pytest.mark.parametrize(
    ("cell", "separator", "number"),
    [
        (" 7.50 ", ".", Decimal("7.5")),
        ("7,5", ",", Decimal("7.5")),
        ("-2", ".", Decimal(-2)),
        ("7,5", ".", None),
        ("1,000.5", ".", None),
        ("A-", ".", None),
        ("", ".", None),
        ("1e3", ".", None),
    ],
)
def test_a_number_is_read_only_if_it_is_surely_one(cell, separator, number):
    assert read(cell, separator) == number


@pytest.mark.parametrize(
    ("points", "digits", "text"),
    [
        (7.125, 2, "7.13"),
        (2 / 3, 2, "0.67"),
        (10.0, 2, "10"),
        (7.5, 0, "8"),
        (-0.001, 2, "0"),
        (1e-7, 2, "0"),
    ],
)
def test_a_half_is_rounded_up_and_zeros_are_left_out(points, digits, text):
    assert spelled(rounded(exact(points), digits)) == text


@given(st.floats(-1e6, 1e6), st.integers(0, 6), st.sampled_from(".,"))
def test_what_is_written_is_read_as_the_same_number(points, digits, separator):
    grade = rounded(exact(points), digits)
    assert read(spelled(grade, separator), separator) == grade
    assert abs(grade - exact(points)) <= Decimal(1).scaleb(-digits) / 2
