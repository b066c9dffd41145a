"""Points that are given on the pages are rows of the gradebook, count at once, and nobody's are lost."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO

import pytest

from grader.config.points_file import PointsGiven, judged, read_points
from grader.gradebook.book import Gradebook
from grader.gradebook.export import write_csv
from grader.gradebook.history import history
from grader.gradebook.judgements import add_judgement
from grader.gradebook.report import class_view
from grader.gradebook.rescore import rescore
from grader.review.class_index import ClassIndex
from grader.review.judging import clock
from grader.review.labels import label
from grader.review.people import Reviewer

ITEM = "q1.memory"


def rows(demo, columns: str = "item, points, by, comment, withdrawn") -> list[tuple]:
    return stored(demo, f"SELECT {columns} FROM points ORDER BY id")


def stored(demo, query: str) -> list[tuple]:
    with closing(sqlite3.connect(demo.path)) as book:
        return book.execute(query).fetchall()


def first(demo, item: str = ITEM) -> int:
    entry = demo.room.index.refresh().next_open(demo.desk.items[item])
    assert entry
    return entry.number


def newest(demo, number: int, item: str = ITEM) -> int:
    index = demo.room.index.refresh()
    judgement = index.newest(index.entry(number), item)
    return judgement.number if judgement else 0


def test_points_are_one_row_that_counts_in_every_reader_of_the_gradebook(demo, total):
    number = first(demo)
    student = demo.room.index.entry(number).submission.student
    before = total(number)
    response = demo.visitor("Bob").give(ITEM, number, 1, "0,5", 1, 0, comment="look again at caches")
    assert response.status_code == 200
    assert rows(demo) == [(ITEM, 2.5, "Bob", "look again at caches", 0)]
    assert total(number) == before + 2.5
    table = StringIO()
    write_csv(demo.book, "demo", (), table)
    (line,) = (line for line in table.getvalue().splitlines() if line.startswith(f"{student},"))
    assert line.split(",")[3] == "2.5"
    (shown,) = (s for s in class_view(demo.book, "demo").submissions if s.students == (student,))
    assert shown.card.lines[0].points == 2.5
    assert "look again at caches" in shown.card.lines[0].reason
    assert [event.details["by"] for event in history(demo.book, student) if event.what == "points"] == ["Bob"]


def test_the_suggestion_is_one_button_and_its_points_stand_beside_what_was_given(demo, total):
    number = first(demo)
    demo.visitor().give(ITEM, number, accept=1)
    ((points, suggested, criteria, reason),) = rows(demo, "points, suggested, criteria, reason")
    assert points == suggested == total(number)
    assert [part["possible"] for part in json.loads(criteria)] == [1.0, 1.0, 1.0, 1.0]
    assert reason == "the suggestion was accepted"


@pytest.mark.parametrize("wrong", ["", "2", "-1", "nan", "inf", "one", "1e9", "<b>1</b>"])
def test_what_is_no_points_is_refused_and_what_was_typed_stays(demo, wrong):
    number = first(demo)
    response = demo.visitor().give(ITEM, number, 1, wrong, 1, 0, comment="kept as typed")
    assert response.status_code == 422
    assert "shared memory is on-chip" in response.text
    assert "kept as typed" in response.text
    assert rows(demo) == []


def test_of_two_at_once_the_second_sees_both_and_decides(demo, total):
    number = first(demo)
    bob, cem = demo.visitor("Bob"), demo.visitor("Cem")
    bob.give(ITEM, number, 1, 1, 1, 1, comment="all there")
    response = cem.give(ITEM, number, 0, 0, 0, 0, comment="nothing there")
    assert response.status_code == 409
    page = demo.texts(response.text)
    assert "Bob was here meanwhile" in page
    assert "all there" in page
    assert 'value="0"' in response.text
    assert "nothing there" in response.text
    assert total(number) == 4.0
    again = cem.give(ITEM, number, 0, 0, 0, 0, after=newest(demo, number), comment="nothing there")
    assert again.status_code == 200
    assert [row[1:3] for row in rows(demo)] == [(4.0, "Bob"), (0.0, "Cem")]
    assert total(number) == 0.0


def test_two_who_give_the_same_are_no_conflict(demo):
    number = first(demo)
    for name in ("Bob", "Cem"):
        assert demo.visitor(name).give(ITEM, number, 1, 1, 1, 1).status_code == 200
    assert [row[2] for row in rows(demo)] == ["Bob"]


def test_undo_brings_back_what_was_before_and_in_the_end_the_answer_waits_again(demo, total):
    number = first(demo)
    bob = demo.visitor("Bob")
    bob.give(ITEM, number, 1, 1, 1, 1)
    bob.give(ITEM, number, 1, 0, 0, 0, after=newest(demo, number))
    assert total(number) == 1.0
    bob.post("/a/demo/undo")
    assert total(number) == 4.0
    assert not demo.room.index.refresh().waits(demo.room.index.entry(number), ITEM)
    bob.post("/a/demo/undo")
    assert total(number) == 0.0
    assert demo.room.index.refresh().waits(demo.room.index.entry(number), ITEM)
    assert "There is nothing of yours" in bob.post("/a/demo/undo").text
    assert [row[1] for row in rows(demo)] == [4.0, 1.0, 4.0, 4.0]  # nothing is ever taken out


def test_undo_takes_nothing_from_somebody_else(demo, total):
    number = first(demo)
    demo.visitor("Bob").give(ITEM, number, 1, 1, 1, 1)
    demo.visitor("Cem").give(ITEM, number, 1, 0, 0, 0, after=newest(demo, number))
    page = demo.visitor("Bob").post("/a/demo/undo")
    assert "Cem has given points here since" in page.text
    assert total(number) == 1.0


def test_a_manual_item_waits_again_after_undo(demo):
    number = first(demo, "writing")
    demo.visitor().give("writing", number, 2)
    entry = demo.room.index.refresh().entry(number)
    assert entry.line("writing").points == 2.0
    demo.visitor().post("/a/demo/undo")
    entry = demo.room.index.refresh().entry(number)
    assert entry.line("writing").standing == "provisional"
    assert entry.line("writing").reason == "waits for a person"


def test_results_folders_follow_and_lack_nothing_after_a_killed_server(demo):
    number = first(demo)
    entry = demo.room.index.entry(number)
    folder = demo.results / "demo" / entry.submission.student
    write_evidence(demo, entry)
    demo.visitor().give(ITEM, number, 1, 1, 1, 1)
    demo.site.close()
    assert read_points(folder, entry.submission.digest)[ITEM].points == 4.0
    # given while nobody wrote folders, as when the server is killed before it does
    demo.visitor().give(ITEM, number, 1, 0, 0, 0, after=newest(demo, number))
    assert read_points(folder, entry.submission.digest)[ITEM].points == 4.0
    site = type(demo.site)(demo.book, {"demo": demo.desk}, results=demo.results)
    site.catch_up()
    site.close()
    assert read_points(folder, entry.submission.digest)[ITEM].points == 1.0
    assert site.problems == {}
    assert "a person gave 1 of 4" in (folder / "feedback" / "report.html").read_text()


def write_evidence(demo, entry) -> None:
    """Write the evidence of a submission, as a run leaves it."""
    from grader.config.evidence_file import EVIDENCE, EvidenceWriter, ItemObserved, RunStarted

    folder = demo.results / "demo" / entry.submission.student
    evidence = demo.book.evidence(entry.attempt)
    (run,) = evidence.runs
    writer = EvidenceWriter(folder / EVIDENCE)
    writer.write(RunStarted(run=run, submission=entry.submission))
    for observation in evidence.observations.values():
        writer.write(ItemObserved(run=run.id, observation=observation))
    writer.close()


def test_a_later_record_of_evidence_that_lacks_the_points_keeps_them(demo, total):
    number = first(demo)
    entry = demo.room.index.entry(number)
    bare = demo.book.evidence(entry.attempt)
    demo.visitor().give(ITEM, number, 1, 1, 0, 0)

    def judge(evidence):
        return demo.desk.judge.card(evidence.submission, evidence.observations)

    demo.book.record(bare, judge(bare), how="record", judge=judge)
    assert total(number) == 2.0
    demo.visitor().post("/a/demo/undo")
    given = demo.book.evidence(entry.attempt)
    assert "points_given" not in given.observations[ITEM].quantities


def record_with_time(demo, entry) -> None:
    """Record the same files again with their time of submission, as `grader run --times` does."""
    evidence = demo.book.evidence(entry.attempt)
    submitted = replace(evidence.submission, submitted_at=datetime(2026, 1, 1, tzinfo=UTC))
    timed = replace(evidence, submission=submitted)

    def judge(evidence):
        return demo.desk.judge.card(evidence.submission, evidence.observations)

    demo.book.record(timed, judge(timed), how="run", judge=judge)


def test_an_address_names_the_same_files_after_another_run_is_recorded(demo, total):
    number, ada = first(demo), demo.visitor()
    entry = demo.room.index.entry(number)
    name = f"Submission {label(number)}"
    ada.post("/a/demo/requests", submission=number, item=ITEM, text="I did write shared memory.")
    before = total(number)
    record_with_time(demo, entry)
    assert demo.room.index.refresh().entry(number).submission.submitted_at is not None
    page = demo.texts(ada.get(f"/a/demo/s/{number}"))
    assert name in page
    assert "I did write shared memory." in page
    assert ada.give(ITEM, number, 1, 1, 0, 0).status_code == 200
    assert total(number) == before + 2.0
    last = max(number for (number,) in stored(demo, "SELECT id FROM submissions"))
    assert name in demo.texts(ada.get(f"/a/demo/s/{last}")), "an address of before this rule"
    for none in (last + 1, 10**12, 10**30):
        assert ada.page(f"/a/demo/s/{none}").status_code == 404


def test_points_given_while_another_run_is_recorded_count_in_its_score(demo, total):
    number = first(demo)
    before, entry = total(number), demo.room.index.entry(number)
    record_with_time(demo, entry)
    record = PointsGiven(
        item=ITEM, points=2.0, possible=4.0, by="Ada", at=clock(), submission=entry.submission.digest
    )
    saved = demo.room.judging.give(entry, record, Reviewer(name="Ada", role="teacher"), after=0)
    assert saved.counts
    assert total(number) == before + 2.0
    assert demo.room.index.entry(number).card.totals[0].late.submitted_at is not None


def test_older_points_of_a_results_folder_do_not_take_the_place_of_newer_ones(demo, total):
    number = first(demo)
    entry = demo.room.index.entry(number)
    bare = demo.book.evidence(entry.attempt)
    older = PointsGiven(
        item=ITEM,
        points=0.0,
        possible=4.0,
        by="Bob",
        at="2026-01-01T00:00:00+00:00",
        submission=entry.submission.digest,
    )
    folder = replace(bare, observations={**bare.observations, ITEM: judged(bare.observations[ITEM], older)})
    demo.visitor("Cem").give(ITEM, number, 1, 1, 0, 0)

    def judge(evidence):
        return demo.desk.judge.card(evidence.submission, evidence.observations)

    demo.book.record(folder, judge(folder), how="record", judge=judge)
    assert total(number) == 2.0
    assert [row[1:3] for row in rows(demo)] == [(2.0, "Cem"), (0.0, "Bob"), (2.0, "Cem")]


def test_rescoring_goes_by_the_same_points(demo, total):
    number = first(demo)
    demo.visitor().give(ITEM, number, 1, 1, 0, 0)
    assert [r.student for r in rescore(demo.book, demo.desk.judge) if r.changes] == []


def test_another_program_sees_the_points_and_the_pages_see_its_own(demo):
    number = first(demo)
    with Gradebook(demo.path) as other:
        index = ClassIndex(other, demo.desk)
        assert index.refresh().judgement(index.entry(number), ITEM) is None
        demo.visitor().give(ITEM, number, 1, 1, 0, 0)
        assert index.refresh().judgement(index.entry(number), ITEM).record.points == 2.0


def test_points_for_a_changed_rubric_are_kept_and_counted_when_the_check_has_run_again(demo, total):
    number = first(demo)
    text = demo.rubric.read_text().replace("question: 3\n", "question: 9\n")
    demo.rubric.write_text(text)
    response = demo.visitor().give(ITEM, number, 1, 1, 0, 0)
    assert "It counts after the next grader run" in response.text
    assert [row[1] for row in rows(demo)] == [2.0]
    assert total(number) == 0.0


def test_what_replaces_points_whose_clock_was_ahead_counts_in_the_results_folder(demo):
    number = first(demo)
    entry = demo.room.index.entry(number)
    write_evidence(demo, entry)
    demo.site.close()

    def in_the_folder() -> float:
        site = type(demo.site)(demo.book, {"demo": demo.desk}, results=demo.results)
        site.catch_up()
        site.close()
        folder = demo.results / "demo" / entry.submission.student
        return read_points(folder, entry.submission.digest)[ITEM].points

    ahead = PointsGiven(
        item=ITEM,
        points=3.0,
        possible=4.0,
        by="Cem",
        at="2099-01-01T00:00:00.000+00:00",
        submission=entry.submission.digest,
    )
    demo.book.database.write(lambda connection: add_judgement(connection, number, ahead))
    assert in_the_folder() == 3.0
    for points in (1.0, 0.0):
        demo.visitor().give(ITEM, number, points, 0, 0, 0, after=newest(demo, number))
        assert in_the_folder() == points
    demo.visitor().post("/a/demo/undo")
    assert in_the_folder() == 1.0
