"""Markers are read from comments, and prove which points they were for."""

from __future__ import annotations

from decimal import Decimal

from grader.lms.marker import following, is_newest, markers_in


def test_a_marker_is_read_from_a_text_and_proves_its_points_only():
    marker = following((), "canvas x 1 2", "11", Decimal("7.50"))
    assert markers_in(f"7.5 of 10 points.\n\n{marker}") == (marker,)
    assert is_newest((marker,), "canvas x 1 2", "11", Decimal("7.5"))
    assert not is_newest((marker,), "canvas x 1 2", "11", Decimal(8))
    assert not is_newest((marker,), "canvas x 1 2", "12", Decimal("7.5"))
    assert not is_newest((marker,), "canvas x 1 3", "11", Decimal("7.5"))
    assert not is_newest((), "canvas x 1 2", "11", Decimal("7.5"))


def test_only_the_newest_counts_and_no_marker_comes_twice():
    markers = ()
    for number, points in enumerate((Decimal(7), Decimal(8), Decimal(7)), start=1):
        markers += (following(markers, "k", "11", points),)
        assert len(set(markers)) == number
        assert is_newest(markers, "k", "11", points)
        assert is_newest(markers[::-1], "k", "11", points)
    assert not is_newest(markers, "k", "11", Decimal(8))


def test_what_only_looks_like_one_is_none():
    assert markers_in("[grader 1.xyz] [grader 1.0123456789abcdef0] [Grader 1.0123456789abcdef]") == ()
