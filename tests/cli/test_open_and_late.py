"""Open points of a late submission: what can still be reached is the same everywhere, after the late rule."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest

DOUBLE = {"id": "double", "title": "d", "points": 6, "check": "matches_reference"}
DOUBLE |= {"of": "work.double", "inputs": "numbers"}
BY_HAND = {"id": "style", "title": "s", "points": 4, "check": "manual"}
LATE = {"due": "2024-12-20T12:00:00+00:00", "late": {"per_day": "10%", "at_most": "5d"}}
SENTENCE = "3.2 points still open after the late rule, neither earned nor lost."


@pytest.fixture
def graded(course):
    """Ann is two days late and has 6 of 10 points; 4 wait for a person."""
    course.rubric(DOUBLE, BY_HAND, **LATE)
    return course


def run(course, at="2024-12-22T11:00:00+00:00", *options):
    done = course.run(
        "run",
        course.submit(),
        *("--submitted-at", at, "--gradebook", str(course.cwd / "gradebook.db"), *options),
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def text_of(page):
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_the_card_and_the_pages_say_what_can_still_be_reached(graded):
    assert f"Provisional: {SENTENCE}" in " ".join(run(graded).split())
    for place in ("", "feedback/"):
        page = (graded.results() / f"{place}report.html").read_text()
        assert f"Provisional: {SENTENCE}" in text_of(page)
        assert "3.2 points: waits for a person" in text_of(page)
        shares = re.findall(r'<i class="(\w+)" style="flex-grow:([\d.]+)">', page)
        assert shares == [("full", "4.800000"), ("open", "3.200000"), ("lost", "2.000000")]


def test_exports_have_what_can_still_be_reached(graded):
    run(graded)
    for place in ("", "feedback/"):
        points = json.loads((graded.results() / f"{place}score.json").read_text())["points"]
        assert (points["pending"], points["open"], points["adjusted"]) == (4, {"ann": 3.2}, {"ann": 4.8})
        junit = (graded.results() / f"{place}junit.xml").read_text()
        assert '<property name="open.ann" value="3.2"/>' in junit.replace(" />", "/>")
    (grade,) = json.loads(graded.run("export", "json").stdout)
    assert (grade["adjusted"], grade["open"], grade["final"]) == (4.8, 3.2, None)
    (row,) = csv.DictReader(io.StringIO(graded.run("export", "csv", "tiny").stdout.lstrip("\ufeff")))
    assert [row[name] for name in ("Total", "Open", "Final")] == ["4.8", "3.2", ""]
    (student,) = json.loads(graded.run("report", "--json").stdout)["students"]
    assert (student["total"], student["open"], student["final"]) == (4.8, 3.2, None)
    files = graded.cwd / "files"
    done = graded.run("export", "gradescope", "tiny", "--out", str(files), "--include-provisional")
    assert done.returncode == 0
    assert SENTENCE in (files / "ann.json").read_text()


def test_graded_again_in_another_folder_it_keeps_its_time_and_its_points_by_hand(graded):
    """As for an appeal: the pages and the gradebook have the grade that the first folder has."""
    run(graded)
    table, book = graded.cwd / "points.csv", ("--gradebook", str(graded.cwd / "gradebook.db"))
    assert graded.run("manual", "export", "--out", str(table), "--results", str(graded.out)).returncode == 0
    rows = list(csv.DictReader(io.StringIO(table.read_text("utf-8-sig"))))
    table.write_text(
        "student,assignment,item,points,submission\n"
        + "".join(f"ann,tiny,style,3,{row['submission']}\n" for row in rows if row["item"] == "style")
    )
    done = graded.run("manual", "import", str(table), *book, "--results", str(graded.out))
    assert done.returncode == 0, done.stderr
    first, graded.out = graded.results() / "score.json", graded.cwd / "appeal"
    done = graded.run("run", graded.submit(), *book)
    assert (done.returncode, done.stderr) == (0, "")
    score, again = (json.loads(file.read_text()) for file in (first, graded.results() / "score.json"))
    assert again["points"] == score["points"]
    assert again["points"]["adjusted"] == {"ann": 7.2}
    (grade,) = json.loads(graded.run("export", "json").stdout)
    assert (grade["adjusted"], grade["standing"]) == (7.2, "final")
    assert graded.run("run", graded.submit(), *book).returncode == 0
    assert (graded.results() / "manual.jsonl").read_text().count("\n") == 1


def test_rows_of_a_class_have_it(graded):
    for number in range(6):
        graded.submit(f"s{number}")
    at = ("--submitted-at", "2024-12-22T11:00:00+00:00")
    rows = graded.run("run", str(graded.submissions_folder), *at).stdout.splitlines()
    assert len(rows) == 6
    assert all(row.endswith("6 / 10  4.8 after lateness  3.2 points open") for row in rows)


def test_the_row_of_a_team_says_whose_total_lateness_lowers(graded):
    graded.write("course.yaml", "title: x\nextensions: {eva: {tiny: 3d}}\n")
    for name in ("s0", "s1", "s2", "s3", "s4", "eva+fay"):
        graded.submit(name)
    at = ("--submitted-at", "2024-12-22T11:00:00+00:00")
    rows = graded.run("run", str(graded.submissions_folder), *at).stdout.splitlines()
    (team,) = (row for row in rows if "eva+fay" in row)
    assert "6 / 10  4.8 (fay) after lateness" in team


def test_in_time_nothing_is_said_of_a_late_rule(graded):
    text = " ".join(run(graded, "2024-12-20T11:00:00+00:00").split())
    assert "Provisional: 4 points still open, neither earned nor lost." in text
    points = json.loads((graded.results() / "score.json").read_text())["points"]
    assert points["open"] == {"ann": 4}


def test_where_lateness_takes_everything_open_points_are_worth_nothing(graded):
    text = " ".join(run(graded, "2024-12-30T11:00:00+00:00").split())
    assert "Provisional: what is still open is worth no points after the late rule." in text
    page = (graded.results() / "feedback/report.html").read_text()
    assert "4 points" not in text_of(page)
    assert 'class="open" style' not in page


def test_members_of_a_team_with_other_deadlines_have_a_range(graded):
    graded.write("course.yaml", "title: x\nextensions: {bob: {tiny: 2d}}\n")
    archive = graded.submit("ann+bob")
    done = graded.run("run", archive, "--submitted-at", "2024-12-22T11:00:00+00:00")
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "Provisional: 3.2 to 4 points still open after the late rule, neither earned nor lost." in text
    points = json.loads((graded.results("ann+bob") / "score.json").read_text())["points"]
    assert points["open"] == {"ann": 3.2, "bob": 4}
    page = (graded.results("ann+bob") / "report.html").read_text()
    assert "3.2 to 4 points: waits for a person" in text_of(page)


IN_FUTURE = "had not come yet"


def test_lateness_by_a_time_that_had_not_come_costs_nothing_and_waits_for_the_right_one(course):
    """Everything is decided, and the time would take all of it: neither 0 nor 6 points are final."""
    course.rubric(DOUBLE, **LATE)
    course.write("roster.csv", "student,canvas id\nann,42\n")
    course.write("course.yaml", "title: A tiny course\nroster: roster.csv\n")
    future, book = "2999-01-01T12:00:00+00:00", ("--gradebook", str(course.cwd / "gradebook.db"))
    done = course.run("run", course.submit(), "--submitted-at", future, *book)
    assert done.returncode == 0
    assert "date and time zone right? ann. What lateness costs stays open until the time" in done.stderr
    for shown in (done.stdout, course.run("show", "ann").stdout):
        words = " ".join(shown.split())
        assert "Held: a person has to look first." in words
        assert f"The time of submission, 2999-01-01 12:00 UTC, {IN_FUTURE}: what lateness costs" in words
        assert "off, 0" not in words
    (late,) = json.loads((course.results() / "score.json").read_text())["late"]
    assert (late["in_future"], late["lost"]) == (True, 0)
    (row,) = csv.DictReader(io.StringIO(course.run("export", "csv", "tiny").stdout.lstrip("\ufeff")))
    assert [row[name] for name in ("Standing", "Total", "Final")] == ["held", "6.0", ""]
    plan = course.run("post", "canvas", "tiny", "--rehearse").stdout
    assert f"has a time of submission that {IN_FUTURE}" in plan
    assert "1 held back" in plan
    done = course.run("export", "gradescope", "tiny", "--out", str(course.cwd / "files"))
    assert f"ann: has a time of submission that {IN_FUTURE}" in done.stderr
    summary = course.run("report", "--markdown", "-").stdout
    assert "the time of submission had not come yet" in summary
    assert "1 total is not final yet" in summary

    course.run("run", course.submit(), *book)  # the wrong time is remembered as wrong
    assert json.loads(course.run("export", "json").stdout)[0]["standing"] == "held"
    done = course.run("run", course.submit(), "--submitted-at", "2024-12-21T11:00:00+00:00", *book)
    assert (done.returncode, done.stderr) == (0, "")
    (grade,) = json.loads(course.run("export", "json").stdout)
    assert (grade["standing"], grade["final"]) == ("final", 5.4)


def test_a_time_that_had_not_come_holds_nothing_where_it_costs_nothing(course):
    course.rubric(DOUBLE, due=LATE["due"])
    done = course.run("run", course.submit(), "--submitted-at", "2999-01-01T12:00:00+00:00")
    assert done.stderr.endswith("are date and time zone right? ann.\n")
    assert "Final." in done.stdout


def test_another_results_folder_takes_no_time_that_had_not_come_from_the_gradebook(course):
    course.rubric(DOUBLE, **LATE)
    run(course, "2024-12-21T11:00:00+00:00")
    book = ("--gradebook", str(course.cwd / "gradebook.db"))
    course.run("run", course.submit(), "--submitted-at", "2999-01-01T12:00:00+00:00", *book)
    course.out = course.cwd / "other"
    done = course.run("run", course.submit(), *book)
    assert "Handed in 23 hours late" in done.stdout
