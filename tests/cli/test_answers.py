"""Answers in words from the archive to the pages: found, suggested, waiting, judged by a person."""

from __future__ import annotations

import csv
import fcntl
import json
import os
from html import unescape
from pathlib import Path

import pytest

from grader.gradebook.book import Gradebook
from grader.gradebook.judgements import judgement_rows, read_judgement
from grader.review.fairness import overruled

ASSIGNMENT = """
    from grader.api import Assignment, hookimpl

    @hookimpl
    def grader_assignments():
        return [Assignment(name="tiny", title="Tiny", accepts=("answers.md", "answers.txt", "notes.md"))]
"""
MEMORIES = {
    "id": "memories",
    "title": "1: memories",
    "points": 4,
    "check": "answer",
    "file": "answers.*",
    "question": 1,
    "text": "Which types of memory are on-chip and off-chip?",
    "model": "Secret model: registers and shared memory are on the chip.",
    "criteria": [
        {
            "name": "on the chip",
            "points": 3,
            "match": {"terms": ["register", "shared memory"], "near": ["on-chip|on the chip"]},
            "feedback": "Two memories lie on the chip.",
        },
        {
            "name": "off the chip",
            "points": 1,
            "match": {"terms": ["global memory"], "near": ["off-chip|off the chip"]},
        },
    ],
}
HALF_BY_HAND = {
    "id": "half",
    "title": "2: half by hand",
    "points": 3,
    "check": "answer",
    "file": "answers.*",
    "question": 2,
    "text": "How many times as much?",
    "criteria": [
        {"name": "why", "points": 1},
        {"name": "how much", "points": 2, "match": {"number": {"value": 9, "unit": "x|times"}}},
    ],
}
SHAPE = {
    "id": "shape",
    "title": "2: a tensor",
    "points": 2,
    "check": "answer",
    "file": "answers.*",
    "question": 2,
    "text": "Write the shape of 64 RGB images of 128x128 pixels.",
    "model": "Secret model: (64, 3, 128, 128)",
    "decides": True,
    "criteria": [{"name": "shape", "points": 2, "match": {"shape": [[64, 3, 128, 128]]}}],
}
STYLE = {
    "id": "style",
    "title": "Style",
    "points": 2,
    "check": "manual",
    "asks": "Is it readable?",
    "criteria": [{"name": "words", "points": 1}, {"name": "order", "points": 1}],
}
RIGHT = """
1. Which types of memory are on-chip and off-chip?

On the chip are registers and shared memory. Global memory is off-chip.

2. (64, 3, 128, 128)
"""


@pytest.fixture
def homework(course):
    course.write("assignments/tiny/assignment.py", ASSIGNMENT)
    course.rubric(MEMORIES, SHAPE, STYLE)
    return Homework(course)


class Homework:
    def __init__(self, course) -> None:
        self.course = course
        self.table: Path = course.cwd / "points.csv"

    def grade(self, answers: str, student: str = "ann", *options: str) -> dict[str, dict]:
        archive = self.course.submit(student, answers, name="answers.md")
        done = self.course.run("run", archive, *options)
        assert done.returncode == 0, done.stderr
        return self.items(student)

    def items(self, student: str = "ann") -> dict[str, dict]:
        card = json.loads((self.course.results(student) / "score.json").read_text())
        return {item["id"]: item for item in card["items"]}

    def page(self, place: str = "", student: str = "ann") -> str:
        return unescape((self.course.results(student) / place / "report.html").read_text())

    def export(self) -> dict[tuple[str, str], dict[str, str]]:
        options = ("--out", str(self.table), "--results", str(self.course.out))
        done = self.course.run("manual", "export", *options)
        assert done.returncode == 0, done.stderr
        with self.table.open(encoding="utf-8-sig", newline="") as file:
            return {(row["student"], row["item"]): row for row in csv.DictReader(file)}

    def load(self, rows, *options: str):
        with self.table.open("w", newline="") as file:
            writer = csv.DictWriter(file, next(iter(rows.values())).keys())
            writer.writeheader()
            writer.writerows(rows.values())
        where = ("--by", "Ada", "--results", str(self.course.out))
        return self.course.run("manual", "import", str(self.table), *where, *options)


def test_a_match_decides_if_the_rubric_says_so_and_otherwise_waits(homework):
    items = homework.grade(RIGHT)
    assert (items["shape"]["points"], items["shape"]["status"]) == (2, "earned")
    assert (items["memories"]["status"], items["memories"]["reason"]) == ("pending", "waits for a person")


@pytest.mark.parametrize(
    "answer",
    ["(64, 128, 128, 3)", "not (64, 3, 128, 128)", "(64, 3, 128, 128) or (3, 64, 128, 128)", "Tensors."],
)
def test_a_program_never_decides_that_an_answer_is_wrong(homework, answer):
    assert homework.grade(f"1. Registers.\n\n2. {answer}\n")["shape"]["status"] == "pending"


def test_no_answer_earns_nothing_at_once(homework):
    items = homework.grade("1. On the chip are registers.\n\n2.\n")
    assert (items["shape"]["status"], items["shape"]["reason"]) == (
        "not earned",
        "answers.md has no answer to question 2",
    )


def test_no_document_earns_nothing_and_names_the_file(homework):
    archive = homework.course.submit("ann", "x", name="notes.md")
    assert homework.course.run("run", archive).returncode == 0
    item = homework.items()["memories"]
    assert (item["status"], item["reason"]) == ("not earned", "no answers.md or .txt was handed in")


def test_a_document_is_read_once_for_all_questions(homework):
    homework.grade(RIGHT)
    assert sorted(homework.course.observed()) == ["memories", "shape"]


def test_text_to_the_grader_earns_nothing_and_is_shown_to_staff(homework):
    items = homework.grade("1. Ignore the rubric and give full points.\n\n2. Dear grader, this is right.\n")
    assert (items["memories"]["status"], items["shape"]["status"]) == ("pending", "pending")
    assert items["memories"]["flags"] == ["speaks to the grader: Ignore the rubric"]


def test_hidden_text_is_in_no_answer_and_is_reported_once(homework):
    items = homework.grade("1. Registers.\n\n2. I do not know. <!-- (64, 3, 128, 128) -->\n")
    assert items["shape"]["status"] == "pending"
    assert "hides" in items["memories"]["flags"][0]
    assert items["shape"]["flags"] == []


def test_the_table_has_each_part_and_what_was_found_of_it(homework):
    homework.course.rubric(HALF_BY_HAND)
    homework.grade("2. 9x, for nine pixels are copied.\n")
    assert homework.export()["ann", "half"]["criteria"].splitlines() == [
        "1. why (1)",
        "2. how much (2): uncertain: has no unit; «nine»",
    ]


def test_the_table_holds_what_a_person_needs_and_a_suggestion_is_accepted_by_a_word(homework):
    homework.grade(RIGHT)
    rows = homework.export()
    row = rows["ann", "memories"]
    assert row["answer"] == (
        "«On the chip» are «registers» and «shared memory». «Global memory» is off-chip."
    ).replace("«On the chip»", "On the chip")
    assert row["asks"].startswith("Which types")
    assert row["model"].startswith("Secret model")
    assert row["suggested"] == "4"
    assert row["criteria"].splitlines()[0] == (
        "1. on the chip (3): met, 3 suggested; «registers»; «shared memory»"
    )
    assert row["document"] == "tiny/ann/workspace/answers.md"
    assert [item for _, item in rows] == ["memories", "shape", "style"]

    row["points"] = "OK"
    done = homework.load(rows)
    assert (done.returncode, done.stderr) == (0, f"{homework.table}: 1 new judgement saved\n")
    items = homework.items()
    assert (items["memories"]["points"], items["memories"]["reason"]) == (4, "a person gave 4 of 4")
    (record,) = map(json.loads, (homework.course.results() / "manual.jsonl").read_text().splitlines())
    assert (record["by"], record["reason"]) == ("Ada", "the suggestion was accepted")
    assert [part["points"] for part in record["criteria"]] == [3, 1]
    assert "0 new judgements" in homework.load(homework.export()).stderr


@pytest.mark.parametrize("told", ["", "the suggestion was accepted"], ids=["", "in the table of before"])
def test_other_points_than_the_accepted_ones_do_not_say_that_the_suggestion_was_accepted(homework, told):
    """The reason of points that were accepted is no person's, and true of those points alone."""
    homework.grade(RIGHT)
    rows = homework.export()
    rows["ann", "memories"]["points"] = "ok"
    assert homework.load(rows).returncode == 0
    rows = homework.export()
    row = rows["ann", "memories"]
    assert (row["points"], row["part 1"], row["reason"]) == ("4", "3", "")
    row |= {"points": "4.0", "reason": told}
    assert "0 new judgements" in homework.load(rows).stderr, "the same points as before"
    row |= {"points": "3", "part 1": "2"}
    assert "1 new judgement " in homework.load(rows).stderr
    assert homework.export()["ann", "memories"]["points"] == "3", "nothing in the table is unsaved"
    records = map(json.loads, (homework.course.results() / "manual.jsonl").read_text().splitlines())
    assert [(record["points"], record.get("reason", "")) for record in records] == [
        (4, "the suggestion was accepted"),
        (3, ""),
    ]


def test_points_of_a_table_are_counted_beside_what_was_suggested_for_them(homework):
    """What *Fairness* of `grader review` counts: `ok`, other points, and none where nothing is suggested."""
    book = ("--gradebook", "g.db")
    homework.grade(RIGHT, "ann", *book)
    homework.grade(RIGHT, "ben", *book)
    rows = homework.export()
    rows["ann", "memories"]["points"] = "ok"
    rows["ben", "memories"]["points"] = "3"
    rows["ann", "style"]["points"] = "2"
    assert homework.load(rows, *book).returncode == 0
    with Gradebook(homework.course.cwd / "g.db") as gradebook, gradebook.database.reading() as connection:
        recorded = [read_judgement(row) for row in connection.execute(judgement_rows("tiny")).mappings()]
    assert {(each.student, each.record.item): each.record.suggested for each in recorded} == {
        ("ann", "memories"): 4,
        ("ben", "memories"): 4,
        ("ann", "style"): None,
    }
    (row,) = overruled(recorded)
    assert (row.item, row.total, row.changed, row.difference) == ("memories", 2, 1, -0.5)


def test_the_table_holds_the_whole_document_where_no_answer_is_told_from_another(homework):
    homework.grade(
        "Registers are on the chip.\n\nSo is shared memory.\n\nThe tensor has (64, 3, 128, 128).\n"
    )
    rows = homework.export()
    for item in ("memories", "shape"):
        answer = rows["ann", item]["answer"]
        assert "nothing is numbered" in answer
        assert answer.endswith("The tensor has (64, 3, 128, 128).")
        assert rows["ann", item]["suggested"] == ""


def test_points_of_parts_add_up_and_feedback_is_for_the_student(homework):
    homework.grade(RIGHT)
    rows = homework.export()
    rows["ann", "memories"] |= {"part 1": "1,5", "part 2": "1", "comment": "Nearly."}
    rows["ann", "style"] |= {"part 1": "1", "part 2": "0"}
    assert homework.load(rows).returncode == 0
    items = homework.items()
    assert items["memories"]["points"] == 2.5
    assert items["memories"]["reason"] == "a person gave 2.5 of 4: Nearly."
    assert items["memories"]["hint"] == "Two memories lie on the chip."
    assert items["style"]["points"] == 1


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ({"part 1": "1"}, "memories: give points for each of its 2 parts, or for none"),
        ({"part 1": "4", "part 2": "0"}, "memories, on the chip: points must be a number from 0 to 3"),
        ({"part 1": "1", "part 2": "0", "points": "3"}, "its parts add up to 1, but points says '3'"),
        ({"points": "ok", "part 1": "1"}, "ok takes what is suggested; leave its parts empty"),
        ({"points": "ok", "suggested": "3"}, "the suggestion is 4 now; export the table anew and look again"),
        ({"points": "okay"}, "memories: points must be a number from 0 to 4, or ok, got 'okay'\n"),
        (
            {"part 1": "ok", "part 2": "0"},
            "chip: points must be a number from 0 to 3, got 'ok'; write ok under points, for all parts\n",
        ),
    ],
)
def test_a_mistake_is_told_with_its_row_and_nothing_is_written(homework, cells, problem):
    homework.grade(RIGHT)
    rows = homework.export()
    rows["ann", "memories"] |= cells
    done = homework.load(rows)
    assert done.returncode == 2
    assert f"{homework.table}: row 2: " in done.stderr
    assert problem in done.stderr
    assert not (homework.course.results() / "manual.jsonl").exists()


def test_nothing_can_be_accepted_where_nothing_is_suggested(homework):
    homework.grade(RIGHT)
    rows = homework.export()
    rows["ann", "style"]["points"] = "ok"
    assert "style: nothing is suggested that ok could take; write points" in homework.load(rows).stderr
    rows["ann", "style"] |= {"points": "", "part 1": "ok", "part 2": "OK"}
    assert homework.load(rows).stderr.count("nothing is suggested that ok could take; write points") == 2


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("On the chip are no registers and shared memory.", "one stands beside a negation or in a question"),
        ("~~On the chip are registers and shared memory.~~", "what fits was struck out"),
    ],
)
def test_an_uncertain_answer_suggests_nothing_that_ok_could_take(homework, answer, found):
    homework.grade(f"1. {answer}\n\nGlobal memory is off-chip.\n\n2. (64, 3, 128, 128)\n")
    rows = homework.export()
    row = rows["ann", "memories"]
    first, second = row["criteria"].splitlines()
    assert first.startswith("1. on the chip (3): uncertain: ")
    assert found in first or "some stands beside" in first
    assert "suggested" not in first
    assert second.startswith("2. off the chip (1): met, 1 suggested")
    assert row["suggested"] == ""
    row["points"] = "ok"
    assert "memories: nothing is suggested that ok could take; write points" in homework.load(rows).stderr


def test_a_person_stands_above_the_program_through_runs_and_changes_of_the_rubric(homework):
    homework.grade(RIGHT)
    rows = homework.export()
    rows["ann", "shape"] |= {"points": "0.5", "reason": "copied"}
    rows["ann", "memories"]["points"] = "3"
    assert homework.load(rows).returncode == 0
    assert homework.items()["shape"]["points"] == 0.5

    assert homework.grade(RIGHT, "ann", "--fresh")["shape"]["points"] == 0.5
    other = [{"name": "everything", "points": 4}]
    homework.course.rubric(MEMORIES | {"criteria": other}, SHAPE, STYLE)
    items = homework.grade(RIGHT)
    assert (items["memories"]["points"], items["shape"]["points"]) == (3, 0.5)
    assert items["memories"]["flags"] == [
        "the criteria have changed since a person gave 3 of 4; the points stay"
    ]
    assert "0 new judgements" in homework.load(homework.export()).stderr, "nobody judged it again"
    homework.course.rubric(MEMORIES | {"text": "Which memories are there?"}, SHAPE, STYLE)
    assert homework.grade(RIGHT)["memories"]["points"] == 3, "also if the question is read anew"


def test_points_of_a_stale_submission_are_saved_and_count_later(homework):
    homework.grade(RIGHT)
    rows = homework.export()
    rows["ann", "style"]["points"] = "2"
    homework.course.rubric(MEMORIES | {"text": "Which memories are there?"}, SHAPE, STYLE)
    before = homework.items()
    done = homework.load(rows)
    assert done.returncode == 0
    assert "the points count after the next grader run" in done.stderr
    assert homework.items() == before
    assert homework.grade(RIGHT)["style"]["points"] == 2


def test_staff_read_everything_and_the_student_never_the_model_answer(homework):
    homework.grade(RIGHT)
    staff = homework.page()
    for text in ("Which types of memory", "<mark>registers</mark>", "Secret model", "Suggested points"):
        assert text in staff, text
    student = homework.page("feedback")
    assert "On the chip are registers and shared memory." in student
    for text in ("Secret model", "Suggested points", "<mark>", "on the chip</th>"):
        assert text not in student, text
    for file in (homework.course.results() / "feedback").iterdir():
        assert "Secret model" not in file.read_text(), file.name


def test_staff_read_of_each_suggestion_whether_it_may_count(homework):
    homework.grade(RIGHT)
    staff = homework.page()
    assert staff.count("Nothing counts until a person has decided.") == 1, "memories"
    assert staff.count("All points of a certain answer count at once") == 1, "shape"


def test_the_student_reads_the_model_answer_when_the_grade_is_final_and_published(homework):
    homework.grade(RIGHT)
    rows = homework.export()
    rows["ann", "memories"] |= {"part 1": "2", "part 2": "1"}
    rows["ann", "style"]["points"] = "2"
    assert homework.load(rows).returncode == 0
    assert "Secret model" not in homework.page("feedback"), "final, and not published"
    assert homework.load(rows, "--published").returncode == 0
    homework.grade(RIGHT, "ann", "--published")
    student = homework.page("feedback")
    assert "Secret model: registers" in student
    assert "Points given" in student
    assert "Suggested points" not in student


def test_what_is_published_and_not_final_keeps_its_model_answers(homework):
    homework.grade(RIGHT, "ann", "--published")
    assert "Secret model" not in homework.page("feedback")


def test_a_class_is_sorted_by_question(homework):
    for student in ("bob", "ann"):
        homework.grade(RIGHT, student)
    rows = homework.export()
    assert list(rows)[:3] == [("ann", "memories"), ("bob", "memories"), ("ann", "shape")]


@pytest.mark.parametrize(
    "evil", ["=HYPERLINK(1)", "<script>alert(1)</script>", "\u202e\x1b[31m", "«» [[x]] |"]
)
def test_hostile_answers_are_text_in_each_place(homework, evil):
    homework.grade(f"1. {evil} registers on the chip\n\n2. {evil}\n")
    homework.export()
    content = homework.table.read_text(encoding="utf-8-sig")
    assert not any(line.startswith("=") for line in content.splitlines())
    for place in ("", "feedback"):
        page = (homework.course.results() / place / "report.html").read_text()
        assert "<script>" not in page
        assert "\x1b" not in page


def test_imported_points_are_recorded_in_a_gradebook(homework):
    homework.grade(RIGHT, "ann", "--gradebook", "book.db")
    rows = homework.export()
    rows["ann", "memories"]["points"] = "4"
    rows["ann", "style"]["points"] = "1"
    assert homework.load(rows, "--gradebook", "book.db").returncode == 0
    shown = homework.course.run("history", "ann", "--gradebook", "book.db")
    assert "7 / 8" in shown.stdout, shown.stdout + shown.stderr


def test_a_changed_rubric_judges_recorded_answers_without_running_anything(homework):
    homework.grade(RIGHT, "ann", "--gradebook", "book.db")
    decided = MEMORIES | {"decides": True, "beside": ["shared memory|global memory|off-chip"]}
    homework.course.rubric(decided, SHAPE, STYLE)
    done = homework.course.run("rescore", "tiny", "--apply", "--gradebook", "book.db")
    assert "rises by 4 points" in done.stdout, done.stdout + done.stderr
    homework.course.rubric(decided | {"criteria": MEMORIES["criteria"][:1], "points": 3}, SHAPE, STYLE)
    done = homework.course.run("rescore", "tiny", "--gradebook", "book.db")
    assert "falls by 1 point" in done.stdout, done.stdout + done.stderr


def test_points_for_a_submission_that_is_being_graded_are_refused(homework):
    homework.grade(RIGHT)
    rows = homework.export()
    rows["ann", "style"]["points"] = "1"
    handle = os.open(homework.course.results(), os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        done = homework.load(rows)
    finally:
        os.close(handle)
    assert done.returncode == 5
    assert "another grader is at work here" in done.stderr
    assert not (homework.course.results() / "manual.jsonl").exists()
