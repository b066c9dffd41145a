"""A results folder that is missing, misspelt or holds nothing is refused in a line, by every command."""

from __future__ import annotations

import pytest

EACH = {
    "record": ["record", "{results}"],
    "manual export": ["manual", "export", "--results", "{results}", "--out", "points.csv"],
    "manual import": ["manual", "import", "points.csv", "--results", "{results}"],
    "post": ["post", "canvas", "tiny", "--results", "{results}"],
    "review": ["review", "--results", "{results}", "--host", "no.invalid"],
    "replay": ["replay", "{results}", "--item", "double"],
}


@pytest.fixture
def graded(course, kept):
    course.run_once(kept, "run", course.submit("ann"), "--gradebook", str(course.cwd / "gradebook.db"))
    keys = "canvas: {url: 'http://127.0.0.1:9', course: 1, assignments: {tiny: 1}}\n"
    course.write("course.yaml", f"title: A tiny course\n{keys}")
    (course.cwd / "points.csv").write_text("assignment,student,item,points\n")
    return course


def refused(course, name, results):
    """The line that refuses a folder; nothing has changed in the working directory."""
    before = sorted(course.cwd.rglob("*"))
    environment = {"CANVAS_TOKEN": "1234~secret"}
    done = course.run(*(part.format(results=results) for part in EACH[name]), **environment)
    assert (done.returncode, done.stdout) == (2, "")
    assert sorted(course.cwd.rglob("*")) == before
    (line,) = done.stderr.splitlines()
    return line.removeprefix("grader: ").removeprefix("--results ")


@pytest.mark.parametrize("name", [name for name in EACH if name != "replay"])
def test_a_missing_folder_is_named(graded, name):
    line = "nowhere: there is no such results folder; grade first, or name another"
    assert refused(graded, name, "nowhere") == line


@pytest.mark.parametrize("name", [name for name in EACH if name != "replay"])
def test_a_misspelt_folder_is_named_with_the_one_that_is_meant(graded, name):
    misspelt = graded.out.with_name("reslts")
    assert refused(graded, name, misspelt) == (
        f"{misspelt}: there is no such results folder; did you mean {graded.out}?"
    )


@pytest.mark.parametrize("name", [name for name in EACH if name != "replay"])
def test_a_file_is_no_folder(graded, name):
    assert refused(graded, name, "points.csv") == (
        "points.csv: is no results folder; name the folder that grader run --out wrote"
    )


@pytest.mark.parametrize("name", [name for name in EACH if name != "replay"])
def test_a_folder_without_results_is_not_an_empty_class(graded, name):
    assert refused(graded, name, graded.folder) == (
        f"{graded.folder}: holds no results; name the folder that grader run --out wrote"
    )


@pytest.mark.parametrize("name", [name for name in EACH if name != "replay"])
def test_a_folder_inside_leads_to_the_one_around_it(graded, name):
    for inside in (graded.results(), graded.results().parent):
        assert refused(graded, name, inside) == f"{inside}: holds no results; did you mean {graded.out}?"


@pytest.mark.parametrize("name", [name for name in EACH if name != "replay"])
def test_scores_whose_evidence_was_removed_are_told_as_such(graded, name):
    (graded.results() / "evidence.jsonl").unlink()
    assert refused(graded, name, graded.out) == (
        f"{graded.out}: has scores, and evidence.jsonl of none; grader run observes anew"
    )


def test_a_score_that_is_not_there_is_named(graded):
    assert refused(graded, "replay", "nowhere/tiny/ann") == (
        "nowhere/tiny/ann: cannot be read (No such file or directory); name a score.json"
    )


def test_an_empty_folder_makes_the_gradebook_into_which_others_record(course):
    (course.cwd / "results").mkdir()
    done = course.run("record", "results", "--gradebook", "new.db")
    assert (done.returncode, done.stderr) == (0, "new.db: 0 grades recorded, 0 recorded already\n")
    assert (course.cwd / "new.db").is_file()
