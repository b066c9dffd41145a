from __future__ import annotations

from dataclasses import replace
from datetime import UTC, timedelta

import pytest

from grader.model.score import Line, Standing
from grader.reports.html import Html
from grader.reports.words import (
    LineState,
    counted,
    elapsed,
    figure,
    lateness,
    number,
    out_of,
    points_off,
    remarks,
    standing_of,
    state_of,
    sums,
)


def line(points=3.0, possible=3.0, fraction=1.0, standing=Standing.FINAL, outcome="observed", **keys):
    return Line(
        item="a",
        title="A",
        points=points,
        possible=possible,
        fraction=None if standing is Standing.PROVISIONAL else fraction,
        reason="",
        standing=standing,
        outcome=outcome,
        **keys,
    )


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (line(), LineState.FULL),
        (line(1.0, fraction=1 / 3), LineState.PARTIAL),
        (line(0.0, fraction=0.0), LineState.LOST),
        (line(0.0, fraction=0.0, outcome="crashed"), LineState.LOST),
        (line(0.0, 0.0, 0.0, outcome="observed"), LineState.LOST),
        (line(0.0, 0.0), LineState.FULL),
        (line(0.0, fraction=0.0, outcome="skipped"), LineState.SKIPPED),
        (line(0.0, fraction=0.0, outcome="missing"), LineState.SKIPPED),
        (line(0.0, standing=Standing.PROVISIONAL, outcome="skipped"), LineState.OPEN),
        (line(standing=Standing.HELD), LineState.HELD),
        (line(0.0, 0.0, counts="penalty"), LineState.FULL),
        (line(-1.0, 0.0, 0.5, counts="penalty"), LineState.PARTIAL),
        (line(-2.0, 0.0, 0.0, counts="penalty"), LineState.LOST),
    ],
)
def test_a_line_is_what_became_of_it(of, expected):
    assert state_of(of) is expected


@pytest.mark.parametrize(
    ("of", "shown"),
    [
        (line(2.0), "2 / 3"),
        (line(standing=Standing.PROVISIONAL), "? / 3"),
        (line(2.0, 2.0, counts="bonus"), "+2"),
        (line(0.0, 2.0, counts="bonus"), "0"),
        (line(-1.5, 0.0, counts="penalty"), "-1.5"),
        (line(0.0, 0.0, counts="penalty", standing=Standing.PROVISIONAL), "?"),
    ],
)
def test_a_line_shows_what_it_adds(of, shown):
    assert figure(of, "?") == shown


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0.5, "less than a second"),
        (1.0, "1 second"),
        (61.0, "1 minute 1 second"),
        (97_201.0, "1 day 3 hours"),
        (86_400.0, "1 day"),
    ],
)
def test_a_time_is_told_in_its_two_largest_units(seconds, told):
    assert elapsed(seconds) == told


def test_a_total_with_bonus_and_penalty_says_how_it_comes_about(stored):
    (told,) = sums(stored("team").scorecard)
    assert told == "10 points earned, +2 bonus, -0.5 penalty: 11, within the bounds of the rubric."
    assert list(sums(stored("normal").scorecard)) == []


def test_lateness_is_told_of_each_whom_it_concerns(stored):
    assert list(lateness(stored("team").scorecard, UTC)) == [
        "Handed in 2024-12-20 11:00 UTC; the deadline with the extension of 2 days (bob) is "
        "2024-12-21 08:00 UTC.",
        "Handed in 1 day 3 hours late (alice): 2.2 points off, 8.8 / 10 left. Rule: 10 % per started day.",
    ]
    (told,) = lateness(stored("unknown_time").scorecard, UTC)
    assert told == "When it was handed in is unknown: nothing is taken off for lateness."
    (told,) = lateness(stored("marked_late").scorecard, UTC)
    assert told == (
        "The LMS marked it late; when it was handed in is unknown: nothing is taken off for lateness."
    )
    assert list(lateness(stored("normal").scorecard, UTC)) == []


def test_a_team_that_is_late_alike_reads_one_total_and_one_sentence(make):
    due = make.late["due"]
    members = {"student": "red", "members": ("alice", "bob"), "submitted_at": due + timedelta(hours=27)}
    card = make.graded([make.item("a", "A", 10.0)], [make.seen("a")], of_rubric=make.late, **members)
    (told,) = lateness(card.scorecard, UTC)
    assert told == "Handed in 1 day 3 hours late: 2 points off, 8 / 10 left. Rule: 10 % per started day."
    assert card.student().scorecard.totals[0].adjusted == 8
    assert '<p class="total"><strong>8</strong> / 10' in Html().render(card.student())


@pytest.mark.parametrize(
    ("hours", "told"),
    [
        (3, ("Handed in 2024-12-19 11:00 UTC; the ",)),
        (
            50,
            (
                "Handed in 2024-12-21 10:00 UTC; the ",
                "Handed in 2 hours late: 1 point off, 9 / 10 left. Rule: ",
            ),
        ),
        (-5, ("Handed in 2024-12-19 03:00 UTC; the ",)),
        (None, ("The ", "When it was handed in is unknown: nothing is taken off for lateness.")),
    ],
)
def test_an_extension_is_told_with_the_deadline_that_it_gives(make, hours, told):
    submitted_at = None if hours is None else make.due + timedelta(hours=hours)
    late = {"of_rubric": make.late, "extensions": {"alice": 172_800.0}, "submitted_at": submitted_at}
    card = make.graded([make.item("a", "A", 10.0)], [make.seen("a")], **late)
    first, *more = lateness(card.scorecard, UTC)
    assert first == f"{told[0]}deadline with the extension of 2 days is 2024-12-21 08:00 UTC."
    assert [line[: len(start)] for line, start in zip(more, told[1:], strict=True)] == [*told[1:]]
    assert first in Html().render(card.student())


def test_an_extension_of_all_of_a_team_is_told_once(make):
    members = {"student": "red", "members": ("alice", "bob"), "submitted_at": make.due}
    late = {"of_rubric": make.late, "extensions": {"red": 172_800.0}, **members}
    (line,) = lateness(make.graded([make.item("a", "A")], [make.seen("a")], **late).scorecard, UTC)
    assert "(" not in line


def test_of_a_team_an_unknown_time_is_told_once(stored):
    card = stored("unknown_time").scorecard
    (total,) = card.totals
    team = replace(card, totals=(total, replace(total, student="ben")))
    assert list(lateness(team, UTC)) == list(lateness(card, UTC))


def test_lateness_that_costs_nothing_is_not_told(make):
    late = {"of_rubric": {"due": make.due}, "submitted_at": make.due + timedelta(days=1)}
    card = make.graded([make.item("a", "A")], [make.seen("a")], **late).scorecard
    assert card.totals[0].late.days == 1
    assert list(lateness(card, UTC)) == []


def test_a_part_of_a_mark_is_not_called_final(stored):
    told = list(remarks(stored("hidden").student()))
    assert told == [
        "Held: a person has to look first.",
        "These are the points of the items that are shown here.",
        "1 item is shown later.",
    ]
    assert standing_of(Standing.FINAL, 0, whole=False) == "Nothing of this is open."


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


def test_a_held_card_also_says_what_is_open():
    assert standing_of(Standing.HELD, 0) == "Held: a person has to look first."
    assert "1 point still open" in standing_of(Standing.HELD, 1)


def test_an_open_bonus_or_penalty_is_not_called_no_points():
    assert standing_of(Standing.PROVISIONAL, 0) == "Provisional: what may still add or take points is open."
    assert standing_of(Standing.PROVISIONAL, 0, counts=False) == (
        "Provisional: what is still open is worth no points."
    )


@pytest.mark.parametrize(("lost", "text"), [(1.375, "1.37 points"), (1, "1 point"), (0.625, "0.62 points")])
def test_what_lateness_took_and_what_is_left_add_up(lost, text):
    assert points_off(lost) == text
    assert float(number(12.5 - lost)) + float(text.split()[0]) == 12.5
