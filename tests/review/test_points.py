"""Points that are given on the pages are rows of the gradebook, count at once, and nobody's are lost."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from io import StringIO

import pytest

from grader.config.points_file import read_points
from grader.gradebook.book import Gradebook
from grader.gradebook.export import write_csv
from grader.gradebook.history import history
from grader.gradebook.report import class_view
from grader.gradebook.rescore import rescore
from grader.review.class_index import ClassIndex

ITEM = "q1.memory"


def rows(demo, columns: str = "item, points, by, comment, withdrawn") -> list[tuple]:
    with closing(sqlite3.connect(demo.path)) as book:
        return book.execute(f"SELECT {columns} FROM points ORDER BY id").fetchall()


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
