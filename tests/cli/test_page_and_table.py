"""Points given on the page and in a table, in any order, wherever the gradebook is."""

from __future__ import annotations

import csv
import json
import re

import pytest

from grader.config.points_file import PointsGiven
from grader.gradebook.book import Gradebook
from grader.gradebook.judgements import add_judgement
from grader.gradebook.tables import SUBMISSIONS
from tests.cli.test_manual import FILES, STYLE, item

GATE = {"id": "gate", "title": "A gate", "points": 1, "check": "manual", "asks": "There?"}
EARLY, LATE = "2020-01-01T00:00:00.123+00:00", "2099-01-01T00:00:00.123+00:00"


class Staff:
    """Ada fills in tables, Bob works on the page without the results folder."""

    def __init__(self, course, book: str) -> None:
        self.course = course
        self.book = book
        self.table = course.cwd / "points.csv"
        self.results = ("--results", str(course.out))

    def page(self, points: float, item: str = "style", *, at: str = EARLY, withdrawn: bool = False) -> None:
        with Gradebook(self.course.cwd / self.book) as book:

            def add(connection):
                row = connection.execute(SUBMISSIONS.select()).first()
                possible = 1.0 if item == "gate" else 4.0
                record = PointsGiven(
                    item=item,
                    points=points,
                    possible=possible,
                    by="Bob",
                    at=at,
                    criteria=(),
                    submission=row.digest,
                    withdrawn=withdrawn,
                )
                add_judgement(connection, row.id, record)

            book.database.write(add)

    def export(self, *options: str) -> dict[str, dict[str, str]]:
        self.table.unlink(missing_ok=True)
        done = self.course.run("manual", "export", "--out", str(self.table), *self.results, *options)
        assert done.returncode == 0, done.stderr
        with self.table.open(encoding="utf-8-sig", newline="") as file:
            return {row["item"]: row for row in csv.DictReader(file)}

    def load(self, rows, *options: str):
        with self.table.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows["style"].keys())
            writer.writeheader()
            writer.writerows(rows.values())
        return self.course.run("manual", "import", str(self.table), "--by", "Ada", *self.results, *options)

    def recorded(self) -> list[tuple[str, float]]:
        done = self.course.run("history", "ann", "--json", "--gradebook", self.book)
        events = [event for event in json.loads(done.stdout) if event["what"] == "points"]
        return [(event["details"]["by"], event["details"]["points"]) for event in events]


def staff_of(course, book: str, *items) -> Staff:
    course.rubric(*(items or (STYLE, FILES)))
    assert course.run("run", course.submit("ann"), "--gradebook", book).returncode == 0
    return Staff(course, book)


@pytest.fixture
def staff(course):
    """A gradebook with the name that commands look for where none is named."""
    return staff_of(course, "gradebook.db")


@pytest.mark.parametrize("way", ["default", "option", "variable"])
def test_points_of_the_page_are_in_the_table_wherever_the_gradebook_is_named(course, way):
    staff = staff_of(course, "gradebook.db" if way == "default" else "book.db")
    options = ("--gradebook", "book.db") if way == "option" else ()
    if way == "variable":
        course.environment["GRADER_GRADEBOOK"] = "book.db"
    staff.page(2.5)
    rows = staff.export(*options)
    assert (rows["style"]["now"], rows["style"]["points"]) == ("2.5 by Bob", "2.5")
    done = staff.load({"style": rows["style"] | {"points": "4"}}, *options)
    assert (done.returncode, done.stderr.splitlines()[0]) == (0, f"{staff.table}: 1 new judgement saved")
    assert item(course)["points"] == 4
    rows = staff.export(*options)
    assert (rows["style"]["now"], rows["style"]["points"]) == ("4 by Ada", "4")


def test_an_unknown_gradebook_is_told_by_the_export(course, staff):
    done = course.run("manual", "export", "--out", "p.csv", *staff.results, "--gradebook", "bok.db")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "bok.db" in done.stderr


def test_points_of_the_page_count_in_the_results_folder_once_their_table_is_imported(course, staff):
    staff.page(2.5)
    assert item(course)["points"] == 0
    done = staff.load(staff.export())
    assert (done.returncode, done.stderr.split(": ")[1]) == (0, "0 new judgements saved\n")
    assert (item(course)["points"], item(course)["reason"]) == (2.5, "a person gave 2.5 of 4")


def test_a_gradebook_that_is_not_named_is_looked_at_before_points_replace_others(course, staff):
    rows = staff.export()
    rows["style"]["points"] = "4"
    staff.page(2.5)
    done = staff.load(rows)
    assert (done.returncode, "Bob gave 2.5 of 4" in done.stderr) == (2, True)
    assert item(course)["points"] == 0
    done = staff.load({"style": staff.export()["style"] | {"points": "4"}})
    assert done.returncode == 0
    assert "put them there by grader record" in done.stderr
    assert staff.recorded() == [("Bob", 2.5)]
    assert course.run("record", str(course.out)).returncode == 0
    assert staff.recorded() == [("Bob", 2.5), ("Ada", 4.0)]


def test_a_refusal_names_the_export_that_sees_the_other_points(course):
    staff = staff_of(course, "elsewhere.db")
    staff.page(2.5)
    rows = staff.export()
    assert rows["style"]["now"] == "waits for a person"
    rows["style"]["points"] = "4"
    done = staff.load(rows, "--gradebook", "elsewhere.db")
    assert done.returncode == 2
    advice = f"grader manual export --results {course.out} --gradebook elsewhere.db --out FILE"
    assert f"export the table anew by {advice}, " in done.stderr
    rows = staff.export("--gradebook", "elsewhere.db")
    assert rows["style"]["now"] == "2.5 by Bob"
    rows["style"]["points"] = "4"
    assert staff.load(rows, "--gradebook", "elsewhere.db").returncode == 0
    assert staff.recorded() == [("Bob", 2.5), ("Ada", 4.0)]


def test_points_that_were_given_on_the_page_after_a_table_count(course, staff):
    rows = staff.export()
    rows["style"]["points"] = "1"
    assert staff.load(rows).returncode == 0
    staff.page(3.0, at=LATE)
    assert staff.export()["style"]["now"] == "3 by Bob"
    assert course.run("record", str(course.out)).returncode == 0
    assert staff.export()["style"]["now"] == "3 by Bob"
    assert course.run("run", course.submit("ann"), "--gradebook", "gradebook.db").returncode == 0
    assert item(course)["points"] == 3


def test_a_run_keeps_points_that_replaced_others_whose_clock_was_ahead(course, staff):
    rows = staff.export()
    staff.page(3.0, at=LATE)
    rows["style"]["points"] = "1"
    assert staff.load(rows, "--replace", "--gradebook", "gradebook.db").returncode == 0
    for _ in range(2):
        assert course.run("run", course.submit("ann"), "--gradebook", "gradebook.db").returncode == 0
        assert item(course)["points"] == 1
        assert staff.export()["style"]["now"] == "1 by Ada"


@pytest.mark.parametrize("named", [(), ("--gradebook", "gradebook.db")])
def test_a_row_that_nobody_touched_gives_no_points_anew(course, staff, named):
    staff.page(3.0)
    rows = staff.export()
    assert rows["style"]["points"] == "3"
    staff.page(3.0, at=LATE, withdrawn=True)
    done = staff.load(rows, *named)
    assert (done.returncode, done.stderr.split(": ")[1]) == (0, "0 new judgements saved\n")
    assert item(course)["reason"] == staff.export()["style"]["now"] == "waits for a person"
    staff.page(2.0, at=LATE)
    assert staff.load(rows, *named).returncode == 0
    assert item(course)["points"] == 2
    refused = staff.load({"style": rows["style"] | {"points": "4"}}, *named)
    assert (refused.returncode, "Bob gave 2 of 4" in refused.stderr) == (2, True)


def test_points_after_others_were_taken_back_by_a_clock_that_is_ahead_count(course, staff):
    staff.page(3.0)
    staff.page(3.0, at=LATE, withdrawn=True)
    rows = staff.export()
    assert (rows["style"]["now"], rows["style"]["points"]) == ("waits for a person", "")
    rows["style"]["points"] = "4"
    assert staff.load(rows, "--gradebook", "gradebook.db").returncode == 0
    assert staff.export()["style"]["now"] == "4 by Ada"
    assert course.run("run", course.submit("ann"), "--gradebook", "gradebook.db").returncode == 0
    assert item(course)["points"] == 4


def test_a_table_leaves_those_alone_whose_grade_is_of_an_appeal_unless_it_gives_them_points(course):
    course.rubric(STYLE, FILES)
    archive, first = course.submit("ann"), course.out
    assert course.run("run", archive).returncode == 0
    evidence = course.results() / "evidence.jsonl"
    evidence.write_text(re.sub('"started_at":"[0-9]{4}', '"started_at":"2001', evidence.read_text()))
    staff, book = Staff(course, "gradebook.db"), ("--gradebook", "gradebook.db")
    rows = staff.export()
    rows["style"]["points"] = "1"
    assert staff.load(rows, *book).returncode == 0
    course.out = course.cwd / "appeal"
    assert course.run("run", archive, "--fresh", *book).returncode == 0
    course.out = first
    done = staff.load(staff.export(*book), *book)
    assert (done.returncode, done.stderr) == (0, f"{staff.table}: 0 new judgements saved\n")
    done = staff.load({"style": staff.export(*book)["style"] | {"points": "3"}}, *book)
    assert (done.returncode, done.stderr) == (0, f"{staff.table}: 1 new judgement saved\n")
    assert staff.recorded()[-1] == ("Ada", 3)
    grade = json.loads(course.run("show", "ann", "--json", *book).stdout)[0]
    assert grade["points"]["raw"] == 4, "the points are in the grade of the appeal"


def test_what_a_table_saved_is_told_where_a_grade_is_refused(course):
    """The grade that counts is of other files, of which this table says nothing."""
    course.rubric(STYLE, FILES)
    archive, first = course.submit("ann"), course.out
    assert course.run("run", archive).returncode == 0
    evidence = course.results() / "evidence.jsonl"
    evidence.write_text(re.sub('"started_at":"[0-9]{4}', '"started_at":"2001', evidence.read_text()))
    course.out = course.cwd / "other"
    book = ("--gradebook", "gradebook.db")
    assert course.run("run", course.submit("ann", "x = 1\n"), *book).returncode == 0
    course.out = first
    staff = Staff(course, "gradebook.db")
    rows = staff.export(*book)
    rows["style"]["points"] = "1"
    done = staff.load(rows, *book)
    assert done.returncode == 5
    assert "ann, tiny: a later run is recorded already" in done.stderr
    end = "1 new judgement saved; all else is done"
    assert done.stderr.splitlines()[-1] == f"grader: {staff.table}: {end}"


def test_a_gate_that_the_page_opened_is_open_in_the_table(course):
    staff = staff_of(course, "gradebook.db", GATE, STYLE | {"needs": ["gate"]})
    staff.page(0.0, "gate")
    assert staff.export()["style"]["now"].startswith("0: ")
    staff.page(1.0, "gate", at=LATE)
    rows = staff.export()
    assert (rows["gate"]["now"], rows["style"]["now"]) == ("1 by Bob", "waits for a person")
    rows["style"]["points"] = "3"
    done = staff.load(rows)
    assert (done.returncode, "skipped" in done.stderr) == (0, False)
    assert item(course)["points"] == 3


def test_points_for_what_a_program_decided_have_a_row(course):
    staff = staff_of(course, "gradebook.db", STYLE, FILES)
    assert "files" not in staff.export()
    staff.page(0.0, "files")
    assert staff.export()["files"]["now"] == "0 by Bob"
