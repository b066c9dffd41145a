"""A grade is kept with its evidence, the newest holds, and whoever comes late is kept out."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial

import pytest
from sqlalchemy import func, select

from grader.errors import NotObservedError
from grader.gradebook.history import history, team_history
from grader.gradebook.posts import Post, note
from grader.gradebook.tables import METADATA
from grader.model.rubric import LatePolicy

DUE = datetime(2024, 12, 20, 12, tzinfo=UTC)
LATER = "2024-12-23T11:00:00+00:00"


def counts(book):
    with book.database.reading() as connection:
        tables = ("submissions", "attempts", "evidence", "scores", "totals", "points")
        return tuple(
            connection.scalar(select(func.count()).select_from(METADATA.tables[name])) for name in tables
        )


def grades(book, **keys):
    return [(entry.student, entry.card.points.raw) for entry in book.grades(**keys)]


def test_a_grade_is_found_again_with_everything_it_rests_on(book, keep, tiny):
    of = tiny.evidence("ann")
    assert keep(of)
    (entry,) = book.grades()
    assert entry.card == tiny.card(of)
    assert entry.submission == of.submission
    assert (entry.run, entry.began, entry.how) == ("e1", "2024-12-23T10:00:00+00:00", "run")
    evidence = book.evidence(entry.attempt)
    assert repr(evidence) != ""
    assert (evidence.submission, evidence.runs) == (of.submission, of.runs)
    assert evidence.observations.keys() == of.observations.keys()
    assert evidence.observations["double"].cases[0].called == "double(0)"


def test_the_same_grade_again_adds_nothing(book, keep, tiny):
    keep(tiny.evidence("ann"))
    before = counts(book)
    assert not keep(tiny.evidence("ann"), how="record")
    assert counts(book) == before == (1, 1, 1, 1, 1, 0)


def test_another_rubric_over_the_same_evidence_adds_a_score_and_nothing_else(book, keep, tiny):
    keep(tiny.evidence("ann"))
    dearer = replace(tiny.RUBRIC, items=(tiny.item("double", 9.0),), points=9.0, digest="sha256:r2")
    assert keep(tiny.evidence("ann"), dearer)
    assert counts(book) == (1, 1, 1, 2, 2, 0)
    assert grades(book) == [("ann", 9.0)]


def test_going_back_to_an_earlier_rubric_is_a_new_score_too(book, keep, tiny):
    dearer = replace(tiny.RUBRIC, items=(tiny.item("double", 9.0),), points=9.0, digest="sha256:r2")
    for rubric in (tiny.RUBRIC, dearer, tiny.RUBRIC):
        assert keep(tiny.evidence("ann"), rubric)
    assert grades(book) == [("ann", 4.0)]
    assert len(history(book, "ann")) == 3


def test_more_evidence_of_the_same_submission_is_a_new_attempt(book, keep, tiny):
    keep(tiny.evidence("ann", tiny.observe("double", "sha256:w1")))
    keep(tiny.evidence("ann", run="e2", began=LATER))
    assert counts(book) == (1, 2, 2, 2, 2, 0)
    (entry,) = book.grades()
    assert (entry.run, entry.card.points.raw) == ("e2", 4.0)


def test_a_new_submission_holds_and_the_old_one_is_history(book, keep, tiny):
    keep(tiny.evidence("ann"))
    keep(tiny.evidence("ann", tiny.observe("double", "sha256:w2"), work="sha256:w2", run="e2", began=LATER))
    assert grades(book) == [("ann", 2.0)]
    details = [(event.details["raw"], event.details["submission_digest"]) for event in history(book, "ann")]
    assert details == [(4.0, "sha256:w1"), (2.0, "sha256:w2")]


def test_who_comes_late_with_an_earlier_run_is_history_alone_and_only_once(book, keep, tiny, path):
    keep(tiny.evidence("ann", work="sha256:w2", run="e2", began=LATER))
    with pytest.raises(NotObservedError) as kept_out:
        keep(tiny.evidence("ann"))
    before = counts(book)
    with pytest.raises(NotObservedError):
        keep(tiny.evidence("ann"))
    assert grades(book) == [("ann", 4.0)]
    assert [event.details["counts"] for event in history(book, "ann")] == [True, False]
    assert kept_out.value.problems == (
        f"{path}: ann, tiny: a later run is recorded already (begun 2024-12-23 11:00 UTC, with 4 / 8; "
        "this one 2024-12-23 10:00 UTC, with 4 / 8), and this one stands in the history alone; "
        "run it with --fresh to make it count",
    )
    assert counts(book) == before
    keep(tiny.evidence("ben"))


def test_of_two_runs_of_one_second_the_one_recorded_last_counts_however_often_both_are_recorded(
    book, keep, tiny
):
    first, second = tiny.evidence("ann", run="e1"), tiny.evidence("ann", run="e2")
    assert keep(first)
    assert keep(second)
    before = counts(book)
    both = r"both begun 2024-12-23 10:00:00 UTC; with 4 / 8, this one 4 / 8"
    for _ in range(2):
        with pytest.raises(NotObservedError, match=rf"already \({both}\)"):
            keep(first)
        assert not keep(second)
    assert [grade.run for grade in book.grades()] == ["e2"]
    assert counts(book) == before


def with_style(tiny, points=3.0, **keys):
    style = tiny.judged(tiny.observe("style", "sha256:w1"), points)
    return tiny.evidence("ann", tiny.observe("double", "sha256:w1"), style, **keys)


def test_a_time_of_submission_stays_with_the_files_until_another_is_recorded(book, keep, tiny):
    first, second = (datetime(2024, 12, day, tzinfo=UTC) for day in (20, 21))

    def record(time, run, **of):
        again = tiny.evidence(
            "ann", run=run, began=f"2024-12-23T1{run[1]}:00:00+00:00", submitted_at=time, **of
        )
        book.record(again, tiny.card(again), how="record", judge=tiny.card)
        (entry,) = book.grades()
        return entry.submission.submitted_at

    assert record(first, "e1") == first
    assert record(None, "e2") == first
    assert record(second, "e3") == second
    assert record(None, "e4") == second
    assert record(None, "e5", work="sha256:w2") is None


def test_points_that_come_with_an_earlier_run_of_the_same_files_count(book, keep, tiny):
    """Two hosts grade one archive, and the table of points is filled in for the one that began first."""
    keep(tiny.evidence("ann", run="e2", began=LATER))
    early = with_style(tiny)
    assert book.record(early, tiny.card(early), how="record", judge=tiny.card)
    assert grades(book) == [("ann", 7.0)]
    events = history(book, "ann")
    assert [event.details["points"] for event in events if event.what == "points"] == [3.0]
    (grade,) = book.grades()
    assert grade.run == "e2"
    before = counts(book)
    with pytest.raises(NotObservedError, match="a later run is recorded"):
        book.record(early, tiny.card(early), how="record", judge=tiny.card)
    assert counts(book) == before


def test_points_that_come_with_an_earlier_run_of_other_files_are_history(book, keep, tiny):
    keep(tiny.evidence("ann", work="sha256:w2", run="e2", began=LATER))
    early = with_style(tiny)
    with pytest.raises(NotObservedError, match="a later run is recorded"):
        book.record(early, tiny.card(early), how="record", judge=tiny.card)
    assert grades(book) == [("ann", 4.0)]
    assert [event.details["points"] for event in history(book, "ann") if event.what == "points"] == [3.0]


def test_points_wait_for_a_run_where_the_rubric_asks_for_more_than_was_observed(book, keep, tiny):
    keep(tiny.evidence("ann", run="e2", began=LATER))
    larger = tiny.rubric(*tiny.RUBRIC.items, tiny.item("cube"))
    early = with_style(tiny)
    with pytest.raises(NotObservedError, match="a later run is recorded"):
        book.record(early, tiny.card(early, larger), how="record", judge=partial(tiny.card, by=larger))
    assert grades(book) == [("ann", 4.0)]
    keep_with_points = partial(book.record, how="run", judge=tiny.card)
    latest = tiny.evidence("ann", run="e3", began=LATER)
    assert keep_with_points(latest, tiny.card(latest))
    assert grades(book) == [("ann", 7.0)]


def test_times_are_compared_and_not_texts(book, keep, tiny):
    keep(tiny.evidence("ann", began="2024-12-23T12:00:00+02:00"))
    assert keep(tiny.evidence("ann", run="e2", began="2024-12-23T10:00:01Z"))


def test_who_comes_late_alone_is_kept_out_by_what_their_team_has_handed_in(keep, tiny):
    keep(tiny.evidence("ann+ben", run="e2", began=LATER))
    with pytest.raises(NotObservedError, match="a later run is recorded"):
        keep(tiny.evidence("ben"))


def test_a_submission_that_only_people_judge_is_never_late(book, keep, tiny):
    keep(tiny.evidence("ann"))
    style = tiny.judged(tiny.observe("style", "sha256:w2"), 3.0)
    assert keep(tiny.evidence("ann", style, work="sha256:w2", run=""))
    assert grades(book) == [("ann", 3.0)]


def test_each_member_of_a_team_has_the_grade(book, keep, tiny):
    keep(tiny.evidence("ann+ben"))
    assert grades(book) == [("ann", 4.0), ("ben", 4.0)]
    assert grades(book, student="ben") == [("ben", 4.0)]
    assert [event.details["submitted_as"] for event in history(book, "ben")] == ["ann+ben"]


def test_who_leaves_a_team_has_their_own_grade_and_the_other_keeps_the_teams(book, keep, tiny):
    keep(tiny.evidence("ann+ben"))
    keep(tiny.evidence("ann", tiny.observe("double", "sha256:w2"), work="sha256:w2", run="e2", began=LATER))
    assert grades(book) == [("ann", 2.0), ("ben", 4.0)]


def test_grades_are_by_assignment(book, keep, tiny):
    keep(tiny.evidence("ann"))
    of = tiny.evidence("ann")
    other = replace(of, submission=replace(of.submission, assignment="other"))
    book.record(other, replace(tiny.card(other), assignment="other"), how="run")
    assert [entry.card.assignment for entry in book.grades(student="ann")] == ["other", "tiny"]
    assert grades(book, assignment="tiny") == [("ann", 4.0)]
    assert grades(book, assignment="nothing") == []
    assert [event.assignment for event in history(book, "ann", "other")] == ["other"]


def test_points_that_people_gave_are_history_also_those_that_hold_no_more(book, keep, tiny):
    style = tiny.observe("style", "sha256:w1")
    keep(tiny.evidence("ann", tiny.judged(style, 1.0, "hasty")))
    keep(tiny.evidence("ann", tiny.judged(style, 3.0, "read again", by="Grace")))
    keep(tiny.evidence("ann", tiny.judged(style, 3.0, "read again", by="Grace")))
    details = [event.details for event in history(book, "ann") if event.what == "points"]
    assert [(p["item"], p["points"], p["by"], p["comment"]) for p in details] == [
        ("style", 1.0, "Ada", "hasty"),
        ("style", 3.0, "Grace", "read again"),
    ]
    assert grades(book) == [("ann", 3.0)]


def test_what_was_posted_is_history(book, keep, tiny):
    keep(tiny.evidence("ann+ben"))
    post = {"platform": "canvas", "marker": "k1", "outcome": "there", "message": "200"}
    note(book, [Post(score=1, student="ben", points=Decimal(4), **post)])
    assert [event.what for event in history(book, "ann")] == ["score"]
    (details,) = [event.details for event in history(book, "ben") if event.what == "post"]
    assert {name: details[name] for name in post} == post
    assert details["points"] == 4.0
    assert details["student"] == "ben"
    assert [event.what for event in team_history(book, "ann+ben")] == ["score", "post"]
    assert team_history(book, "ann+cem") == ()


def test_a_teams_history_says_whose_a_score_is_where_totals_differ(book, tiny):
    rubric = replace(tiny.RUBRIC, due=DUE, late=LatePolicy(per_day=0.5, at_most_days=2))
    of = tiny.evidence("ann+ben+cem", submitted_at=DUE + timedelta(hours=1))
    for extensions in ({"ben": 86_400.0}, dict.fromkeys(("ann", "ben", "cem"), 86400.0)):
        book.record(of, tiny.card(of, rubric, extensions=extensions), how="rescore")
    scores = [event.details for event in team_history(book, "ann+ben+cem")]
    shown = {(each["score"], each["student"], each["adjusted"] == each["raw"]) for each in scores}
    assert len(scores) == len(shown) == 3
    assert shown == {(1, "ann+cem", False), (1, "ben", True), (2, "ann+ben+cem", True)}


def test_nobody_knows_who_is_not_there(book):
    assert history(book, "ann") == ()
    assert book.students() == ()
