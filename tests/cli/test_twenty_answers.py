"""An assistant grades twenty answers from the table alone; what they gave outlasts runs and other rubrics."""

from __future__ import annotations

import csv
import json
import random
from html import unescape
from pathlib import Path

import pytest

from .test_answers import ASSIGNMENT, MEMORIES, SHAPE, STYLE

STUDENTS = tuple(f"student{number:02}" for number in range(20))
SENTENCES = (
    "On the chip are registers and shared memory.",
    "On-chip: registers. Off-chip: global memory.",
    "All memory is on the chip.",
    "Registers are not on the chip, global memory is.",
    "Auf dem Chip: Register.",
    "I do not know.",
    "",
)
SHAPES = (
    "(64, 3, 128, 128)",
    "64 images of 3 x 128 x 128",
    "(64, 128, 128)",
    "64x3x128x128 floats",
    "not (64, 3, 128, 128)",
    "",
)
FORMS = ("{n}. {text}", "Q{n}: {text}", "## Question {n}\n\n{text}", "({n}) {text}")


def answers(number: int) -> str:
    draw = random.Random(number)
    form = draw.choice(FORMS)
    texts = (draw.choice(SENTENCES), draw.choice(SHAPES))
    return "\n\n".join(form.format(n=n, text=text) for n, text in enumerate(texts, start=1)) + "\n"


@pytest.fixture
def graded(course):
    course.write("assignments/tiny/assignment.py", ASSIGNMENT)
    course.rubric(MEMORIES, SHAPE, STYLE)
    archives = [course.submit(name, answers(n), name="answers.md") for n, name in enumerate(STUDENTS)]
    done = course.run("run", *archives)
    assert done.returncode == 0, done.stderr
    return archives


def exported(course) -> list[dict[str, str]]:
    table = course.cwd / "points.csv"
    done = course.run("manual", "export", "--out", str(table), "--results", str(course.out))
    assert done.returncode == 0, done.stderr
    with table.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def imported(course, rows) -> None:
    table: Path = course.cwd / "filled.csv"
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    done = course.run("manual", "import", str(table), "--by", "Ada", "--results", str(course.out))
    assert done.returncode == 0, done.stderr


def points(course) -> dict[tuple[str, str], tuple[float, str]]:
    cards = {name: json.loads((course.results(name) / "score.json").read_text()) for name in STUDENTS}
    return {
        (name, item["id"]): (item["points"], item["reason"])
        for name, card in cards.items()
        for item in card["items"]
    }


def judged_from_the_row(row: dict[str, str], number: int) -> dict[str, str]:
    """Fill in a row from what stands in it alone, in each of the ways that there are."""
    parts = [line for line in row["criteria"].splitlines() if line[:1].isdigit()]
    if row["suggested"] and number % 3 == 0:
        return {"points": "ok"}
    if number % 3 == 1:
        return {f"part {place}": "0,5" for place in range(1, len(parts) + 1)} | {
            "comment": f"See: {row['model']}"
        }
    return {"points": str(float(row["possible"]) - 1), "reason": "one slip"}


def expected_points(row: dict[str, str], cells: dict[str, str]) -> float:
    if cells.get("points") == "ok":
        return float(row["suggested"])
    given = cells.get("points") or sum(float(v.replace(",", ".")) for k, v in cells.items() if k != "comment")
    return float(given)


def test_twenty_are_graded_from_the_table_and_every_point_stays(course, graded):
    rows = exported(course)
    assert len(rows) == 60, "a row for each student and item, and no student twice"
    assert [row["item"] for row in rows] == ["memories"] * 20 + ["shape"] * 20 + ["style"] * 20
    waiting = [row for row in rows if row["now"].startswith("waits")]
    decided = {(row["student"], row["item"]) for row in rows if row not in waiting}
    assert len(decided) > 5, "right shapes and missing answers wait for nobody"
    for row in waiting:
        assert row["asks"], row
        assert row["item"] == "style" or (row["answer"] and row["model"] and row["criteria"]), row

    expected = {}
    for number, row in enumerate(waiting):
        cells = judged_from_the_row(row, number)
        expected[row["student"], row["item"]] = expected_points(row, cells)
        row.update(cells)
    before = points(course)
    imported(course, rows)
    after = points(course)
    assert {key: after[key][0] for key in expected} == expected
    assert {key: after[key] for key in decided} == {key: before[key] for key in decided}

    assert course.run("run", *graded).returncode == 0
    assert points(course) == after, "another run changes nothing"
    assert course.run("run", *graded, "--fresh").returncode == 0
    assert points(course) == after, "nor does one that observes anew"

    softer = SHAPE | {"criteria": [{"name": "any", "points": 2, "match": {"terms": ["64"]}}], "beside": ["x"]}
    other = MEMORIES | {
        "criteria": [{"name": "everything", "points": 4}],
        "text": "Which memories are there?",
    }
    course.rubric(other, softer, STYLE)
    assert course.run("run", *graded).returncode == 0
    changed = points(course)
    assert {key: changed[key][0] for key in expected} == expected, "nor does another rubric"
    again = [row for row in exported(course) if (row["student"], row["item"]) in expected]
    assert all(row["now"].endswith("by Ada") for row in again)


def test_one_page_has_question_answer_model_answer_and_suggestion_of_a_student(course, graded):
    row = next(
        row for row in exported(course) if row["item"] == "memories" and "«shared memory»" in row["answer"]
    )
    page = unescape((course.results(row["student"]) / "report.html").read_text())
    places = [
        page.index(text)
        for text in (MEMORIES["text"], "<mark>shared memory</mark>", MEMORIES["model"], "Suggested points")
    ]
    assert places == sorted(places)
    assert page.index(SHAPE["text"]) > places[-1], "and then the next question"
