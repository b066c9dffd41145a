"""What a recorded grade decides stays where a later run of the same files cannot observe it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.gradebook.history import history
from grader.model.observation import Fault, Outcome

LATER, LAST = "2024-12-23T11:00:00+00:00", "2024-12-23T12:00:00+00:00"


@pytest.fixture
def record(book, tiny):
    """Record evidence as a run does; return the lines that it prints."""

    def recorded(of, by=tiny.RUBRIC):
        lines = []
        book.record(of, tiny.card(of, by), how="run", judge=lambda e: tiny.card(e, by), tell=lines.append)
        return lines

    return recorded


def unseen(tiny, name, work="sha256:w1", **keys):
    note = "torch is not installed here"
    empty = {"outcome": Outcome.NOT_OBSERVED, "cases": (), "note": note, "fault": Fault.MACHINE}
    return tiny.observe(name, work, **(empty | keys))


def later(tiny, *observations, student="ann", **keys):
    return tiny.evidence(student, *observations, **({"run": "e2", "began": LATER} | keys))


def grade(book, student="ann"):
    (entry,) = book.grades(student=student)
    (total,) = (total for total in entry.card.totals if total.student == student)
    return total.adjusted, entry.card.standing.value


@pytest.fixture
def rubric(tiny):
    return tiny.rubric(*tiny.RUBRIC.items[:2])


def test_what_a_machine_cannot_observe_stays_as_recorded(book, record, rubric, tiny):
    record(tiny.evidence("ann"), rubric)
    of = later(tiny, tiny.observe("double", "sha256:w1"), unseen(tiny, "square"))
    line = "ann, tiny: 4 / 4, final, is recorded and stays: 2 points could not be observed here"
    assert record(of, rubric) == [line]
    assert grade(book) == (4.0, "final")
    before = len(history(book, "ann"))
    assert record(of, rubric) == [line], "the same run once more"
    assert len(history(book, "ann")) == before
    (entry,) = book.grades()
    assert [run.id for run in book.evidence(entry.attempt).runs] == ["e1", "e2"]


def test_a_new_observation_decides_otherwise(book, record, rubric, tiny):
    record(tiny.evidence("ann"), rubric)
    wrong = tiny.observe("square", "sha256:w1", (True, False))
    assert record(later(tiny, unseen(tiny, "double"), wrong), rubric) == [
        "ann, tiny: 2 / 4, final, is recorded: 2 points could not be observed here, and count as they were "
        "recorded"
    ]
    assert grade(book) == (2.0, "final")


def test_all_that_is_open_is_observed_by_the_next_run(book, record, rubric, tiny):
    record(tiny.evidence("ann"), rubric)
    record(later(tiny, unseen(tiny, "double"), unseen(tiny, "square")), rubric)
    assert grade(book) == (4.0, "final")
    wrong = tiny.observe("double", "sha256:w1", (False, False))
    skipped = tiny.observe("square", "sha256:w1", outcome=Outcome.SKIPPED, cases=())
    assert record(later(tiny, wrong, skipped, run="e3", began=LAST), rubric) == []
    assert grade(book) == (0.0, "final")


def test_what_was_decided_by_a_gate_opens_with_it(book, record, rubric, tiny):
    """Nobody has seen the second item: it was skipped."""
    wrong = tiny.observe("double", "sha256:w1", (False, False))
    skipped = tiny.observe("square", "sha256:w1", outcome=Outcome.SKIPPED, cases=())
    record(tiny.evidence("ann", wrong, skipped), rubric)
    assert record(later(tiny, tiny.observe("double", "sha256:w1"), unseen(tiny, "square")), rubric) == []
    assert grade(book) == (2.0, "provisional")


def test_where_the_course_is_another_one_the_grade_stays_whole(book, record, rubric, tiny):
    record(tiny.evidence("ann"), rubric)
    of = later(
        tiny,
        tiny.observe("double", "sha256:w1", (False, False), digest="new"),
        unseen(tiny, "square", digest="new"),
    )
    assert record(of, rubric) == [], "what it needs has failed: nothing is open"
    assert grade(book) == (0.0, "final")
    record(later(tiny, run="e3", began=LAST), rubric)
    of = later(
        tiny,
        tiny.observe("double", "sha256:w1", digest="new"),
        unseen(tiny, "square", digest="new"),
        run="e4",
        began="2024-12-23T13:00:00+00:00",
    )
    line = (
        "ann, tiny: 4 / 4, final, is recorded and stays, and this run stands in the history alone: 2 points "
        "could not be observed here as the course asks now"
    )
    assert record(of, rubric) == [line]
    assert grade(book) == (4.0, "final")
    before = len(history(book, "ann"))
    assert record(of, rubric) == [line]
    assert len(history(book, "ann")) == before


def test_points_that_come_with_a_run_that_does_not_count_do(book, record, tiny):
    record(tiny.evidence("ann"))
    style = tiny.judged(tiny.observe("style", "sha256:w1"), 3.0)
    of = later(
        tiny, tiny.observe("double", "sha256:w1", digest="new"), unseen(tiny, "square", digest="new"), style
    )
    record(of)
    assert grade(book) == (7.0, "final")


def test_other_files_and_another_rubric_count_as_they_are(book, record, rubric, tiny):
    record(tiny.evidence("ann"), rubric)
    work = "sha256:w2"
    of = later(tiny, tiny.observe("double", work), unseen(tiny, "square", work), work=work)
    assert record(of, rubric) == []
    assert grade(book) == (2.0, "provisional")
    strict = replace(rubric, name="strict", digest="sha256:s1")
    record(later(tiny, run="e3", began=LAST, work=work, student="ann"), rubric)
    of = later(
        tiny,
        tiny.observe("double", work, digest="new"),
        unseen(tiny, "square", work, digest="new"),
        work=work,
        run="e4",
        began="2024-12-23T13:00:00+00:00",
    )
    assert record(of, strict) == []
    assert grade(book) == (2.0, "provisional")


def test_a_team_keeps_its_grade_and_who_has_left_their_own(book, record, rubric, tiny):
    record(tiny.evidence("ann+ben"), rubric)
    of = later(tiny, tiny.observe("double", "sha256:w1"), unseen(tiny, "square"), student="ann+ben")
    (line,) = record(of, rubric)
    assert line.startswith("ann+ben, tiny: 4 / 4, final, is recorded and stays: ")
    assert (grade(book, "ann"), grade(book, "ben")) == ((4.0, "final"),) * 2
    own = tiny.observe("double", "sha256:w2")
    record(later(tiny, own, work="sha256:w2", run="e3", began=LAST), rubric)
    assert (grade(book, "ann"), grade(book, "ben")) == ((2.0, "provisional"), (4.0, "final"))


def test_what_only_a_simulator_has_run_replaces_nothing(book, record, rubric, tiny):
    record(tiny.evidence("ann"), rubric)
    simulated = tiny.observe("square", "sha256:w1", (False, False), simulated=True)
    (line,) = record(later(tiny, tiny.observe("double", "sha256:w1"), simulated), rubric)
    assert line.endswith("4 / 4, final, is recorded and stays: 2 points could not be observed here")
    assert grade(book) == (4.0, "final")


def test_what_a_newer_rule_shows_to_be_the_courses_mistake_is_open(book, record, rubric, tiny):
    wrong = tiny.observe("square", "sha256:w1", (False, False), facts={"judged_by": "old"})
    record(tiny.evidence("ann", tiny.observe("double", "sha256:w1"), wrong), rubric)
    mistake = unseen(tiny, "square", fault=Fault.COURSE, facts={"judged_by": "new"})
    assert record(later(tiny, tiny.observe("double", "sha256:w1"), mistake), rubric) == []
    assert grade(book) == (2.0, "provisional")


@pytest.fixture
def gated(record, tiny):
    """Record a grade whose gate has decided the second item; return its observations."""
    gate = tiny.observe("double", "sha256:w1", (False, False))
    skipped = tiny.observe("square", "sha256:w1", outcome=Outcome.SKIPPED, cases=())
    record(tiny.evidence("ann", gate, skipped), tiny.rubric(*tiny.RUBRIC.items[:2]))
    return gate, skipped


def test_what_a_gate_decided_stays_without_the_gate_until_it_has_run(book, record, rubric, gated, tiny):
    double, square = rubric.items
    ungated = replace(rubric, items=(double, replace(square, needs=())), digest="sha256:r2")
    before = len(history(book, "ann"))
    line = "ann, tiny: 0 / 4, final, is recorded and stays: must run, was skipped: square"
    assert record(tiny.evidence("ann", *gated), ungated) == [line]
    assert grade(book) == (0.0, "final")
    assert len(history(book, "ann")) == before, "the same evidence adds nothing"
    gate, _ = gated
    assert record(later(tiny, gate, tiny.observe("square", "sha256:w1")), ungated) == []
    assert grade(book) == (2.0, "final")


def test_what_waits_for_a_mistake_of_the_course_is_open_though_it_was_skipped(book, record, rubric, tiny):
    skipped = tiny.observe("square", "sha256:w1", outcome=Outcome.SKIPPED, cases=())
    double = tiny.observe("double", "sha256:w1", (False, False), facts={"judged_by": "old"})
    record(tiny.evidence("ann", double, skipped), rubric)
    mistake = unseen(tiny, "double", fault=Fault.COURSE, facts={"judged_by": "new"})
    assert record(later(tiny, mistake, skipped), rubric) == []
    assert grade(book) == (0.0, "provisional")


def test_points_by_hand_that_pass_a_gate_count_and_open_what_it_had_decided(
    book, record, rubric, gated, tiny
):
    gate, skipped = gated
    assert record(tiny.evidence("ann", tiny.judged(gate, 4.0), skipped), rubric) == []
    assert grade(book) == (2.0, "provisional")
