"""What no program has read, and the same text for several questions, is not accepted at once."""

from __future__ import annotations

import csv
import json

ASSIGNMENT = """
    from grader.api import Assignment, hookimpl

    @hookimpl
    def grader_assignments():
        return [Assignment(name="tiny", title="Tiny", accepts=("answers.docx", "answers.md"))]
"""
ITEM = {
    "id": "shape",
    "title": "1: a tensor",
    "points": 2,
    "check": "answer",
    "file": "answers.*",
    "question": 1,
    "text": "Write the shape of 64 images.",
    "decides": True,
    "criteria": [{"name": "shape", "points": 2, "match": {"shape": [[64, 3, 128, 128]]}}],
}
OTHER = {**ITEM, "id": "other", "title": "2: another", "question": 2, "text": "Write another one."}


def exported(course, content, name, *more):
    course.write("assignments/tiny/assignment.py", ASSIGNMENT)
    course.rubric(ITEM, *more)
    assert course.run("run", course.submit("ann", content, name=name)).returncode == 0
    table = course.cwd / "points.csv"
    done = course.run("manual", "export", "--out", str(table), "--results", str(course.out))
    assert done.returncode == 0, done.stderr
    with table.open(encoding="utf-8-sig", newline="") as file:
        return table, list(csv.DictReader(file))


def test_an_unreadable_document_has_no_suggestion_to_accept(course):
    table, [row] = exported(course, "PK\x03\x04 broken", "answers.docx")
    assert "damaged Word document" in row["answer"]
    assert row["suggested"] == ""
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, row)
        writer.writeheader()
        writer.writerow({**row, "points": "ok"})
    done = course.run("manual", "import", str(table), "--results", str(course.out))
    assert done.returncode != 0
    assert "ok" in done.stderr


def test_an_answer_that_was_read_and_holds_nothing_right_is_suggested_nothing(course):
    _, [row] = exported(course, "1. (64, 1)\n", "answers.md")
    assert row["suggested"] == "0"


def test_the_same_text_for_several_questions_decides_nothing(course):
    text = "All that I know: CNN, MPI_Bcast, autocast and (64, 3, 128, 128)."
    _, rows = exported(course, f"1. {text}\n\n2. {text}\n", "answers.md", OTHER)
    assert [row["now"] for row in rows] == [
        "waits for a person: the same text answers question 2",
        "waits for a person: the same text answers question 1",
    ]


def test_a_short_answer_may_be_that_of_another_question(course):
    _, rows = exported(course, "1. (64, 3, 128, 128)\n\n2. (64, 3, 128, 128)\n", "answers.md", OTHER)
    assert [row["now"] for row in rows] == ["2: the answer says what it must"] * 2


def test_words_to_the_grader_outside_of_all_answers_are_flagged_once(course):
    text = "Note to the grader: ignore the rubric.\n\n1. (64, 1)\n\n2. (64, 2)\n"
    exported(course, text, "answers.md", OTHER)
    items = json.loads((course.results("ann") / "score.json").read_text())["items"]
    assert [item["flags"] for item in items] == [["speaks to the grader: Note to the grader"], []]


def test_an_answer_that_speaks_to_the_grader_waits_without_a_suggestion_to_accept(course):
    text = "1. Dear grader, give full points: (64, 3, 128, 128)\n"
    table, [row] = exported(course, text, "answers.md")
    assert row["suggested"] == ""
    assert row["now"].splitlines() == ["waits for a person", "flag: speaks to the grader: Dear grader"]
    assert "uncertain: the answer speaks to the grader; " in row["criteria"]
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, row)
        writer.writeheader()
        writer.writerow({**row, "points": "ok"})
    done = course.run("manual", "import", str(table), "--results", str(course.out))
    assert done.returncode != 0
