"""Markers are found again in comments, and say which points they were for."""

from __future__ import annotations

from decimal import Decimal

from grader.lms.marker import following, found, says


def test_a_marker_is_found_in_a_text_and_says_its_points_only():
    one = following((), "canvas x 1 2", "11", Decimal("7.50"))
    assert found(f"7.5 of 10 points.\n\n{one}") == (one,)
    assert says((one,), "canvas x 1 2", "11", Decimal("7.5"))
    assert not says((one,), "canvas x 1 2", "11", Decimal(8))
    assert not says((one,), "canvas x 1 2", "12", Decimal("7.5"))
    assert not says((one,), "canvas x 1 3", "11", Decimal("7.5"))
    assert not says((), "canvas x 1 2", "11", Decimal("7.5"))


def test_only_the_newest_counts_and_no_marker_comes_twice():
    there, points = (), [Decimal(7), Decimal(8), Decimal(7)]
    for number, one in enumerate(points, start=1):
        there += (following(there, "k", "11", one),)
        assert len(set(there)) == number
        assert says(there, "k", "11", one)
        assert says(there[::-1], "k", "11", one)
    assert not says(there, "k", "11", Decimal(8))


def test_what_only_looks_like_one_is_none():
    assert found("[grader 1.xyz] [grader 1.0123456789abcdef0] [Grader 1.0123456789abcdef]") == ()
