"""What no program has read has no suggestion that could be accepted."""

from __future__ import annotations

import csv

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
    "criteria": [{"name": "shape", "points": 2, "match": {"shape": [[64, 3, 128, 128]]}}],
}


def exported(course, content, name):
    course.write("assignments/tiny/assignment.py", ASSIGNMENT)
    course.rubric(ITEM)
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
