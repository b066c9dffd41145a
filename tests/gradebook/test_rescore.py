"""A rubric over stored evidence: unchanged it changes nothing, and what it leaves open replaces nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from grader.config.points_file import WAITS
from grader.gradebook.book import Gradebook
from grader.gradebook.history import history
from grader.gradebook.rescore import rescore
from grader.gradebook.tables import SCORES, TOTALS
from grader.model.observation import Case, Observation, Outcome
from grader.model.rubric import LatePolicy

LATER = "2024-12-23T11:00:00+00:00"


def rows(book):
    with book.database.reading() as connection:
        return [connection.execute(select(table)).all() for table in (SCORES, TOTALS)]


def grades(book):
    return {entry.student: entry.card.points.raw for entry in book.grades()}


def results(book, judge, **how):
    return {
        rescored.student: (rescored.before.points.raw, rescored.after.points.raw, rescored.to_run)
        for rescored in rescore(book, judge, **how)
    }


@pytest.fixture
def dearer(tiny):
    """`double` is worth 5, and each of its cases its share."""
    items = (
        tiny.item("double", 5.0, options={"credit": "per_case"}),
        tiny.item("square", needs=("double",)),
        tiny.by_hand("style"),
    )
    return replace(tiny.RUBRIC, items=items, points=11.0, digest="sha256:r2")


outcomes = st.sampled_from(Outcome)
rights = st.lists(st.booleans(), min_size=1, max_size=3).map(tuple)


@st.composite
def submissions(draw):
    """Draw the arguments of evidence: a student, items with outcomes, points."""
    number = draw(st.integers(0, 5))
    work = f"sha256:w{number}"
    items = {}
    for name in draw(st.sets(st.sampled_from(["double", "square"]), min_size=1)):
        outcome, simulated = draw(outcomes), draw(st.booleans())
        cases = tuple(
            Case(name=str(i), outcome=Outcome.OBSERVED, agrees={name: yes})
            for i, yes in enumerate(draw(rights))
        )
        items[name] = Observation(
            item=name, outcome=outcome, cases=cases, simulated=simulated, digest=f"{work}/{name}"
        )
    points = draw(st.none() | st.sampled_from([0.0, 1.5, 4.0]))
    day = draw(st.none() | st.integers(19, 24))
    submitted_at = day and datetime(2024, 12, day, 13, tzinfo=UTC)
    student = draw(st.sampled_from(["ann", "ben", "ann+ben"]))
    return student, work, items, points, submitted_at


@given(st.lists(submissions(), min_size=1, max_size=4))
def test_an_unchanged_rubric_changes_nothing(tiny, stored):
    due = {"due": datetime(2024, 12, 20, 12, tzinfo=UTC), "late": LatePolicy(per_day=0.25, at_most_days=3)}
    rubric, extensions = replace(tiny.RUBRIC, **due), {"ben": 86_400.0}
    with TemporaryDirectory() as folder, Gradebook(Path(folder, "book.db"), create=True) as book:
        for student, work, items, points, submitted_at in stored:
            observations = list(items.values())
            waits = Observation(item="style", outcome=Outcome.NOT_OBSERVED, note=WAITS)
            observations.append(waits if points is None else tiny.judged(waits, points))
            of = tiny.evidence(student, *observations, work=work, submitted_at=submitted_at)

            def card(evidence):
                return tiny.card(evidence, rubric, extensions=extensions)

            book.record(of, card(of), how="run", judge=card)
        judge = tiny.judge(rubric, extensions=extensions)
        before = rows(book)
        for apply in (False, True):
            assert all(
                rescored.after is rescored.before and not rescored.changes
                for rescored in rescore(book, judge, apply=apply)
            )
        assert rows(book) == before


def test_a_plan_says_who_gains_and_who_loses_and_changes_nothing(book, keep, tiny, dearer):
    keep(tiny.evidence("ann"))
    keep(tiny.evidence("ben", tiny.observe("double", "sha256:w2", (True, False)), work="sha256:w2"))
    before = rows(book)
    assert results(book, tiny.judge(dearer)) == {"ann": (4.0, 7.0, ()), "ben": (0.0, 2.5, ())}
    assert rows(book) == before


def test_applied_the_new_scores_hold_and_the_old_are_history(book, keep, tiny, dearer):
    keep(tiny.evidence("ann"))
    assert [rescored.changes for rescored in rescore(book, tiny.judge(dearer), apply=True)] == [True]
    assert grades(book) == {"ann": 7.0}
    scores = [(event.details["how"], event.details["raw"]) for event in history(book, "ann")]
    assert scores == [("run", 4.0), ("rescore", 7.0)]
    (entry,) = book.grades()
    assert (entry.card.rubric_digest, entry.run) == ("sha256:r2", "e1")
    assert [rescored.changes for rescored in rescore(book, tiny.judge(dearer), apply=True)] == [False]


def test_what_was_measured_otherwise_must_run_again_and_its_grade_stays(book, keep, tiny, dearer):
    keep(tiny.evidence("ann"))
    keep(
        tiny.evidence("ben", *(tiny.observe(n, "sha256:w2") for n in ("double", "square")), work="sha256:w2")
    )

    def digests(submission):
        by_item = tiny.digests(submission)
        return by_item | {"double": "another"} if submission == "sha256:w2" else by_item

    judge = tiny.judge(dearer, digests)
    assert results(book, judge, apply=True) == {"ann": (4.0, 7.0, ()), "ben": (4.0, 0.0, ("double",))}
    assert grades(book) == {"ann": 7.0, "ben": 4.0}


def test_a_new_item_must_run_but_one_for_people_waits_for_them(book, keep, tiny):
    keep(tiny.evidence("ann"))
    more = tiny.rubric(*tiny.RUBRIC.items, tiny.item("cube"), digest="sha256:r2")
    assert results(book, tiny.judge(more)) == {"ann": (4.0, 4.0, ("cube",))}
    people = tiny.rubric(*tiny.RUBRIC.items[:2], tiny.by_hand("cube"), digest="sha256:r3")
    assert results(book, tiny.judge(people), apply=True) == {"ann": (4.0, 4.0, ())}
    (entry,) = book.grades()
    assert entry.card.lines[-1].reason == "waits for a person"


def test_what_was_skipped_must_run_once_what_it_needs_has_passed(book, keep, tiny, dearer):
    skipped = Observation(
        item="square", outcome=Outcome.SKIPPED, note="needs double", digest="sha256:w1/square"
    )
    keep(tiny.evidence("ann", tiny.observe("double", "sha256:w1", (True, False)), skipped))
    assert results(book, tiny.judge(dearer)) == {"ann": (0.0, 2.5, ())}, "it needs all of double still"
    kinder = replace(dearer, items=(dearer.items[0], replace(dearer.items[1], needs=()), dearer.items[2]))
    assert results(book, tiny.judge(kinder)) == {"ann": (0.0, 2.5, ("square",))}


def test_what_waits_for_a_device_waits_on_and_holds_nobody_up(book, keep, tiny, dearer):
    waits = Observation(
        item="square", outcome=Outcome.NOT_OBSERVED, note="needs a GPU", digest="sha256:w1/square"
    )
    keep(tiny.evidence("ann", tiny.observe("double", "sha256:w1"), waits))
    assert results(book, tiny.judge(dearer), apply=True) == {"ann": (2.0, 5.0, ())}
    assert grades(book) == {"ann": 5.0}


def test_points_that_a_person_gave_hold_whatever_is_measured_now(book, keep, tiny):
    keep(tiny.evidence("ann", tiny.judged(tiny.observe("style", "sha256:w1"), 3.0)))
    worth_8 = tiny.rubric(tiny.by_hand("style", 8.0), digest="sha256:r2")
    judge = tiny.judge(worth_8, lambda submission: {"style": "another"})
    assert results(book, judge) == {"ann": (3.0, 6.0, ())}


def test_an_item_that_is_left_out_takes_its_points_along(book, keep, tiny):
    keep(tiny.evidence("ann"))
    less = tiny.rubric(tiny.item("double"), digest="sha256:r2")
    assert results(book, tiny.judge(less)) == {"ann": (4.0, 2.0, ())}


def test_an_extension_that_was_given_since_counts(book, tiny):
    rubric = replace(tiny.RUBRIC, due=datetime(2024, 12, 20, 12, tzinfo=UTC), late=LatePolicy(per_day=0.25))
    of = tiny.evidence("ann+ben", submitted_at=datetime(2024, 12, 20, 13, tzinfo=UTC))
    book.record(of, tiny.card(of, rubric), how="run")
    judge = tiny.judge(rubric, extensions={"ben": 86_400.0})
    (rescored,) = rescore(book, judge, apply=True)
    assert [total.adjusted for total in rescored.after.totals] == [3.0, 4.0]
    assert {e.student: e.card.totals[i].adjusted for i, e in enumerate(book.grades())} == {
        "ann": 3.0,
        "ben": 4.0,
    }


def test_who_has_left_a_team_is_not_given_the_teams_grade_again(book, keep, tiny, dearer):
    keep(tiny.evidence("ann+ben"))
    alone = (tiny.observe("double", "sha256:w2", (True, False)),)
    keep(tiny.evidence("ann", *alone, work="sha256:w2", run="e2", began=LATER))
    all_rescored = list(rescore(book, tiny.judge(dearer), apply=True))
    assert [(rescored.student, rescored.students) for rescored in all_rescored] == [
        ("ann", ("ann",)),
        ("ann+ben", ("ben",)),
    ]
    assert grades(book) == {"ann": 2.5, "ben": 7.0}


def test_only_the_rubrics_own_assignment_is_looked_at(book, keep, tiny, dearer):
    keep(tiny.evidence("ann"))
    other = replace(dearer, assignment="other")
    assert results(book, tiny.judge(other), apply=True) == {}


def test_who_stops_in_the_middle_of_applying_has_applied_nothing(book, keep, tiny, dearer):
    for number in range(3):
        keep(tiny.evidence(f"s{number}"))
    before = rows(book)
    going = rescore(book, tiny.judge(dearer), apply=True)
    next(going)
    next(going)
    going.close()
    assert rows(book) == before


def test_more_scores_are_applied_than_are_written_at_once(book, keep, tiny, dearer, monkeypatch):
    monkeypatch.setattr("grader.gradebook.rescore._CHUNK", 4)
    for number in range(10):
        keep(tiny.evidence(f"s{number}"))
    assert sum(rescored.changes for rescored in rescore(book, tiny.judge(dearer), apply=True)) == 10
    assert set(grades(book).values()) == {7.0}
    assert [len(table) for table in rows(book)] == [20, 20]


def test_a_kind_that_is_not_ours_is_shown_the_texts_too(tiny):
    class Guest(type(tiny.judge()._kinds["matches_reference"])):
        pass

    judge = tiny.judge()
    assert not judge.needs_texts
    kinds = {**judge._kinds, "matches_reference": Guest()}
    assert type(judge)(tiny.RUBRIC, kinds, judge._digests).needs_texts


def test_a_kind_that_reads_the_texts_judges_stored_evidence_as_it_did(book, tiny):
    class Reads(type(tiny.judge()._kinds["matches_reference"])):
        def award(self, options, observation, related):
            right = all(case.returned == "4" for case in observation.cases)
            return replace(super().award(options, observation, related), fraction=float(right))

    judge = tiny.judge()
    kinds = {**judge._kinds, "matches_reference": Reads()}
    guests = type(judge)(tiny.RUBRIC, kinds, judge._digests)
    of = tiny.evidence("ann")
    book.record(of, guests.card(of.submission, of.observations), how="run")
    assert [rescored.changes for rescored in rescore(book, guests)] == [False]


def test_what_waits_for_something_simulated_need_not_run_again_either(book, keep, tiny, dearer):
    simulated = replace(tiny.observe("double", "sha256:w1", (True, False)), simulated=True)
    skipped = Observation(
        item="square", outcome=Outcome.SKIPPED, note="needs double", digest="sha256:w1/square"
    )
    keep(tiny.evidence("ann", simulated, skipped))
    assert results(book, tiny.judge(dearer))["ann"][2] == ()
