"""Several uploads of one student: the run, the pages and the gradebook say which one counts, and why."""

from __future__ import annotations

import csv
import html
import io
import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import DOUBLE, RIGHT, SQUARE

FIRST, SECOND, THIRD = "d_12_1_hw.tar.gz", "d_12_2_hw-1.tar.gz", "d_12_3_hw-2.tar.gz"
WRONG = "def double(x): return 2 * x\ndef square(x): return x"
NEWEST = f"the newest of 3 attempts, before {SECOND}, {FIRST}"
BEST = f"the best of 3 attempts, with 3 points, before {THIRD}, {FIRST}"
LAST = "graded last of 2 uploads, after ann.tar.gz"


@pytest.fixture
def book(course):
    return ("--gradebook", str(course.cwd / "gradebook.db"))


def upload(course):
    for name, code in ((FIRST, WRONG), (SECOND, RIGHT), (THIRD, WRONG)):
        course.submit(name.removesuffix(".tar.gz"), code)
    return str(course.submissions_folder)


def twice(course):
    """Ann's work under two names that give no order in time."""
    first = course.submit("ann", WRONG)
    second = f"{first.removesuffix('.tar.gz')}.tgz"
    shutil.copy(course.submit("ann2", RIGHT), second)
    return first, second


@pytest.mark.parametrize(
    ("attempts", "counts", "chosen"), [("newest", THIRD, NEWEST), ("best", SECOND, BEST)]
)
def test_which_attempt_counts_is_everywhere(course, book, attempts, counts, chosen):
    course.rubric(DOUBLE, SQUARE, attempts=attempts)
    done = course.run("run", upload(course), *book)
    assert done.returncode == 0
    assert f"grader: {counts}: counts, {chosen}\n" in done.stderr
    assert done.stderr.count("counts") == 1
    everywhere(course, "d_12", counts, chosen)


def test_which_upload_counts_where_names_give_no_order(course, book):
    done = course.run("run", *twice(course), *book)
    assert done.returncode == 0
    assert done.stderr == (
        f"grader: ann.tgz: counts, {LAST}; their names give no order in time: "
        "leave out what is not to count\n2 submissions graded: 2 final\n"
    )
    everywhere(course, "ann", "ann.tgz", LAST)


def members(course, first, second):
    """One upload of each of two members of a team, whose platform ids are 105 and 106, by this name each."""
    course.write("course.yaml", "title: x\nroster: roster.csv\n")
    course.write("roster.csv", "student,canvas id,team\neva,105,red\nfay,106,red\n")
    course.submit(first, RIGHT)
    course.submit(second, WRONG)
    return str(course.submissions_folder)


def test_numbers_of_two_members_of_a_team_are_not_compared(course):
    """Each member's uploads are numbered by themselves: eva's first may be later than fay's second."""
    done = course.run("run", members(course, "eckeva_105_9103_hw", "foxfay_106_9004_hw-1"))
    assert done.stderr.startswith(
        "grader: foxfay_106_9004_hw-1.tar.gz: counts, graded last of 2 uploads, after "
        "eckeva_105_9103_hw.tar.gz; their names give no order in time: leave out what is not to count\n"
    )


@pytest.mark.parametrize(
    ("eva", "fay"),
    [("eckeva_105_9103_hw", "foxfay_106_9004_hw-1"), ("eva", "fay"), ("eva", "foxfay_106_9004_hw")],
)
def test_uploads_of_two_members_of_a_team_are_in_the_order_of_their_times(course, tmp_path, eva, fay):
    uploads = members(course, eva, fay)
    times = tmp_path / "times.csv"
    times.write_text("student,submitted at\nfay,2024-12-23 12:00Z\neva,2024-12-23 17:30Z\n")
    done = course.run("run", uploads, "--times", str(times))
    assert done.stderr.startswith(
        f"grader: {eva}.tar.gz: counts, the latest of 2 uploads, after {fay}.tar.gz\n"
    )
    score = json.loads((course.results("eva+fay") / "score.json").read_text())
    assert score["submission"]["submitted_at"].startswith("2024-12-23T17:30")
    assert course.points("eva+fay") == {"double": 1, "square": 2}


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("eckeva_105_9103_hw", ("foxfay_106_9004_hw",)),
        ("eckeva_105_9103_hw-1", ("eckeva_105_9102_hw", "foxfay_106_9004_hw")),
        ("foxfay_106_9004_hw", ("eckeva_105_9102_hw", "eckeva_105_9103_hw-1")),
        ("red", ("Red", "fay")),
    ],
)
def test_where_the_best_counts_no_upload_of_another_member_takes_its_place(course, book, right, wrong):
    course.rubric(DOUBLE, SQUARE, attempts="best")
    folder = members(course, right, wrong[0])
    for name in wrong[1:]:
        course.submit(name, WRONG)
    done = course.run("run", folder, *book)
    assert done.returncode == 0, done.stderr
    assert (
        f"{right}.tar.gz: counts, the best of {1 + len(wrong)} attempts, with 3 points, before" in done.stderr
    )
    assert course.points("eva+fay") == {"double": 1, "square": 2}
    grades = json.loads(course.run("export", "json").stdout)
    assert {grade["submission"]["archive"] for grade in grades} == {f"{right}.tar.gz"}


@pytest.mark.parametrize(("eva", "fay"), [("eckeva_105_9103_hw", "foxfay_106_9004_hw"), ("eva", "fay")])
def test_nobody_has_the_time_of_another_upload_of_the_team(course, tmp_path, eva, fay):
    course.rubric(DOUBLE, SQUARE, due="2024-12-23T12:00:00+00:00", late={"per_day": "10%"})
    times = tmp_path / "times.csv"
    times.write_text("student,submitted at\neva,2024-12-23 17:30Z\n")
    done = course.run("run", members(course, eva, fay), "--times", str(times))
    assert done.stderr.startswith(
        f"grader: {fay}.tar.gz: counts, graded last of 2 uploads, after {eva}.tar.gz; "
    )
    score = json.loads((course.results("eva+fay") / "score.json").read_text())
    assert score["submission"]["submitted_at"] is None
    assert "no time of submission is known" in done.stderr


@pytest.mark.parametrize("uploads", [("d_12_1_hw", "d_12_7_other"), ("d_12_1_hw", "d")])
def test_uploads_of_one_student_have_the_time_of_any_of_their_names(course, tmp_path, uploads):
    course.rubric(DOUBLE, SQUARE, due="2024-12-23T12:00:00+00:00", late={"per_day": "10%"})
    times = tmp_path / "times.csv"
    times.write_text("student,submitted at\nd_12,2024-12-23 17:30Z\nd,2024-12-23 17:30Z\n")
    for name in uploads:
        course.submit(name, RIGHT)
    done = course.run("run", str(course.submissions_folder), "--times", str(times))
    assert done.stdout.count("2.7 after lateness") == 2
    assert "no time of submission is known" not in done.stderr


@pytest.mark.parametrize("team", ["red", "RED", "eva+fay", "fay+eva"])
@pytest.mark.parametrize(
    ("eva", "fay"), [("eckeva_105_9103_hw", "foxfay_106_9004_hw"), ("eva", "fay"), ("red", "eva+fay")]
)
def test_a_time_of_a_team_is_that_of_all_its_uploads(course, tmp_path, eva, fay, team):
    course.rubric(DOUBLE, SQUARE, due="2024-12-23T12:00:00+00:00", late={"per_day": "10%"})
    times = tmp_path / "times.csv"
    times.write_text(f"student,submitted at\n{team},2024-12-23 17:30Z\n")
    done = course.run("run", members(course, eva, fay), "--times", str(times))
    assert done.stdout.count(" after lateness") == 2
    assert "no time of submission is known" not in done.stderr


def test_uploads_of_one_name_are_told_with_their_folders(course, book):
    archives = []
    for folder, code in (("a", WRONG), ("b", RIGHT)):
        (course.cwd / folder).mkdir()
        archives.append(shutil.copy(course.submit("ann", code), course.cwd / folder))
    done = course.run("run", *map(str, archives), *book)
    assert done.returncode == 0
    last = "graded last of 2 uploads, after a/ann.tar.gz"
    assert f"grader: b/ann.tar.gz: counts, {last}; their names" in done.stderr
    everywhere(course, "ann", "ann.tar.gz", last)


def test_the_same_command_again_has_nothing_to_refuse(course, book):
    """The gradebook has a later run than that of the upload which does not count; it is not at fault."""
    archives = twice(course)
    first = course.run("run", *archives, *book)
    again = course.run("run", *archives, *book)
    unchanged = "2 submissions are unchanged, and nothing was run again for them; --fresh runs them again\n"
    assert (again.returncode, again.stderr) == (first.returncode, first.stderr + unchanged)
    everywhere(course, "ann", "ann.tgz", LAST)
    Path(archives[1]).write_bytes(b"")
    done = course.run("run", *archives, *book)
    assert done.returncode == 5
    assert "ann, tiny: a later run is recorded already" in done.stderr


def everywhere(course, student, counts, chosen):
    for place in ("", "feedback/"):
        page = html.unescape((course.results(student) / f"{place}report.html").read_text())
        assert counts in page
        assert f"Of several uploads</dt><dd>{chosen}" in page
        submission = json.loads((course.results(student) / f"{place}score.json").read_text())["submission"]
        assert (submission["archive"], submission["chosen"]) == (counts, chosen)
    assert f"    Counts: {counts}, {chosen}.\n" in course.run("show", student).stdout
    assert f"{counts}, {chosen}" in course.run("history", student).stdout.splitlines()[-1]
    (grade,) = json.loads(course.run("export", "json").stdout)
    assert (grade["submission"]["archive"], grade["submission"]["chosen"]) == (counts, chosen)
    table = course.run("export", "csv", "tiny").stdout.removeprefix("\ufeff")
    (row,) = csv.DictReader(io.StringIO(table))
    assert (row["Upload"], row["Of several uploads"]) == (counts, chosen)
    assert course.run("report").returncode == 0
    page = html.unescape((course.cwd / "class.html").read_text())
    assert f"{student}: {counts}, {chosen}" in page


def test_a_card_says_it_too(course):
    course.submit(FIRST.removesuffix(".tar.gz"))
    course.submit(SECOND.removesuffix(".tar.gz"))
    archives = [str(course.submissions_folder / name) for name in (FIRST, SECOND)]
    done = course.run("run", *archives)
    chosen = f"the newest of 2 attempts, before {FIRST}"
    assert f"    Counts: {SECOND}, {chosen}.\n" in done.stdout


def test_the_only_upload_needs_no_word(course, book):
    done = course.run("run", course.submit(), *book)
    assert "ount" not in done.stdout + done.stderr
    assert course.run("report").returncode == 0
    assert "several uploads" not in (course.cwd / "class.html").read_text()
    assert "several uploads" not in (course.results() / "report.html").read_text()


def test_an_upload_that_is_not_accepted_does_not_count(course):
    first, second = twice(course)
    Path(second).write_bytes(b"")
    done = course.run("run", first, second)
    assert done.returncode == 6
    assert "counts" not in done.stderr
