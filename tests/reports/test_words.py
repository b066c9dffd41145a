from __future__ import annotations

import pytest

from grader.model.score import Line, Standing
from grader.reports.words import Mark, clean, counted, mark, number, out_of, shorten, standing_of


def line(points=3.0, possible=3.0, standing=Standing.FINAL, outcome="observed"):
    return Line(
        item="a", title="A", points=points, possible=possible, reason="", standing=standing, outcome=outcome
    )


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (line(), Mark.FULL),
        (line(1.0), Mark.PARTIAL),
        (line(0.0), Mark.LOST),
        (line(0.0, outcome="crashed"), Mark.LOST),
        (line(0.0, 0.0, outcome="crashed"), Mark.LOST),
        (line(0.0, 0.0), Mark.FULL),
        (line(0.0, outcome="skipped"), Mark.SKIPPED),
        (line(0.0, outcome="missing"), Mark.SKIPPED),
        (line(0.0, standing=Standing.PROVISIONAL, outcome="skipped"), Mark.OPEN),
        (line(standing=Standing.HELD), Mark.HELD),
    ],
)
def test_a_line_is_what_became_of_it(of, expected):
    assert mark(of) is expected


@pytest.mark.parametrize(
    ("points", "possible", "shown"),
    [
        (3.0, 3.0, "3 / 3"),
        (2.5, 3.0, "2.5 / 3"),
        (1 / 3, 1.0, "0.33 / 1"),
        (0.0, 100.0, "0 / 100"),
        (9.999, 10.0, "9.999 / 10"),
        (1e6, 1e6, "1000000 / 1000000"),
    ],
)
def test_points_are_short_and_never_round_a_loss_away(points, possible, shown):
    assert out_of(points, possible) == shown


def test_numbers_drop_what_says_nothing():
    assert [number(x) for x in (10.0, 0.0, 1.50, 100.25)] == ["10", "0", "1.5", "100.25"]


def test_one_is_singular():
    assert counted(1, "point") == "1 point"
    assert counted(0.5, "point") == "0.5 points"


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[2J", r"\x1b[2J"),
        ("\x9b2J", r"\x9b2J"),
        ("a\rb", r"a\x0db"),
        ("a\r\nb\tc", "a\nb\tc"),
        ("\ud800", r"\ud800"),
        ("\u202eabc", r"\u202eabc"),
        ("שלום ✓ 🎓", "שלום ✓ 🎓"),
    ],
)
def test_cleaning_shows_what_would_be_obeyed_and_keeps_what_can_be_read(raw, shown):
    assert clean(raw) == shown


def test_shortening_keeps_both_ends_and_says_how_much_is_missing():
    assert shorten("abc", 3) == "abc"
    assert shorten("a" * 50 + "b" * 50, 10) == "aaaaa\n… 90 characters left out …\nbbbbb"


def test_a_held_card_also_says_what_is_open():
    assert standing_of(Standing.HELD, 0) == "Held: a person has to look first."
    assert "1 point still open" in standing_of(Standing.HELD, 1)
