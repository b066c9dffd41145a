"""The class report through the installed command."""

from __future__ import annotations

import json
import os
import xml.etree.ElementTree as ET

import pytest

from grader.gradebook.book import Gradebook
from grader.model.evidence import Evidence
from grader.model.score import Points, Scorecard, Standing, Total
from grader.model.submission import Submission

WRITTEN = "written (tiny, 2 students, gradebook.db)"
WRONG = "def double(x): return x + 1\ndef square(x): return x * x"


def mark(book, assignment, student="ann"):
    """A mark of an assignment that no course here has."""
    submission = Submission(
        student=student, assignment=assignment, archive="a.zip", digest="sha256:w", files=("a.py",)
    )
    card = Scorecard(
        student=student,
        assignment=assignment,
        rubric=assignment,
        rubric_digest="sha256:r",
        submission_digest="sha256:w",
        lines=(),
        points=Points(),
        totals=(Total(student=student, adjusted=0.0, final=0.0),),
        standing=Standing.FINAL,
    )
    with Gradebook(book, create=True) as opened:
        opened.record(Evidence(submission=submission, runs=(), observations={}), card, how="run")


@pytest.fixture
def graded(course, kept):
    """Two submissions in the gradebook, one of them wrong; a third student is on the roster alone."""
    course.write("course.yaml", "title: A tiny course\nroster: roster.csv\n")
    course.write("roster.csv", "student\nann\nben\nzoe\n")
    submissions = course.submit("ann"), course.submit("ben", WRONG)
    course.run_once(kept, "run", *submissions, "--gradebook", "gradebook.db")
    return course


def test_a_page_is_written_where_nothing_else_is_named(graded):
    done = graded.run("report")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"class.html: {WRITTEN}\n")
    source = (graded.cwd / "class.html").read_text()
    for told in ("double doubles", "ann", "ben", "1 student", "zoe"):
        assert told in source


def test_a_course_on_a_platform_is_read_by_every_command(graded):
    keys = "{url: 'https://c.edu', course: 1, assignments: {tiny: 1}}"
    graded.write("course.yaml", f"title: A tiny course\nroster: roster.csv\ncanvas: {keys}\n")
    for arguments in (("report",), ("export", "csv", "tiny"), ("rescore", "tiny"), ("plugins",)):
        done = graded.run(*arguments)
        assert (done.returncode, "unknown key" in done.stderr) == (0, False), done.stderr


def test_each_file_that_is_named_is_written_and_no_other(graded):
    done = graded.run("report", "--assignment", "tiny", "--markdown", "s.md", "--junit", "c.xml")
    assert (done.returncode, done.stderr) == (0, f"s.md: {WRITTEN}\nc.xml: {WRITTEN}\n")
    assert not (graded.cwd / "class.html").exists()
    assert "| 1 | double doubles | 1 | 2 of 2 | 50 % |" in (graded.cwd / "s.md").read_text()
    root = ET.parse(graded.cwd / "c.xml").getroot()
    assert (root.get("tests"), root.get("failures")) == ("4", "1")
    assert not [path for path in graded.cwd.iterdir() if str(os.getpid()) in path.name]


def test_the_summary_can_be_appended_to_what_a_step_says(graded):
    done = graded.run("report", "--markdown", "-", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("## tiny: the class\n")
    assert not (graded.cwd / "-").exists()


def test_outside_of_a_course_only_what_the_rubric_tells_is_unknown(graded, tmp_path):
    done = graded.run("report", GRADER_COURSE="", HOME=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, f"class.html: {WRITTEN}\n")
    source = (graded.cwd / "class.html").read_text()
    assert "<dt>GPU minutes</dt><dd>unknown</dd>" in source
    assert "double doubles" in source


def test_a_rubric_that_is_gone_is_said_and_the_page_is_written(graded):
    (graded.folder / "rubrics/tiny.yaml").unlink()
    done = graded.run("report")
    assert done.returncode == 0
    first, second = done.stderr.splitlines()
    assert "tiny" in first
    assert first.endswith("; speedups and GPU minutes are unknown")
    assert second == f"class.html: {WRITTEN}"


def test_each_of_several_assignments_has_a_page_of_its_own(course):
    for name in ("hw1", "hw2"):
        mark(course.cwd / "gradebook.db", name)
    for name in ("hw1", "hw2"):
        done = course.run("report", "--assignment", name, GRADER_COURSE="")
        assert done.stderr == f"class_{name}.html: written ({name}, 1 student, gradebook.db)\n"
    pages = [file.name for file in course.cwd.glob("class*.html")]
    assert sorted(pages) == ["class_hw1.html", "class_hw2.html"]


@pytest.mark.parametrize("out", [(), ("--out", "class.html")], ids=("default", "named"))
def test_a_page_in_place_of_that_of_another_assignment_is_said_to_be_so(course, out):
    for name, line in (
        ("hw1", "class.html: written (hw1, 1 student, hw1.db)"),
        ("hw1", "class.html: written (hw1, 1 student, hw1.db)"),
        ("hw2", "class.html: written (hw2, 1 student, hw2.db), in place of the page of hw1"),
    ):
        mark(course.cwd / f"{name}.db", name)
        done = course.run("report", "--gradebook", f"{name}.db", *out, GRADER_COURSE="")
        assert (done.returncode, done.stderr) == (0, f"{line}\n")


@pytest.mark.parametrize(
    ("marks", "arguments", "line"),
    [
        ((), (), "gradebook.db: there is no gradebook"),
        (("",), (), "gradebook.db: is empty; grade with --gradebook, or record results, first"),
        (("hw1", "hw2"), (), "gradebook.db: has grades in hw1, hw2; name one of them by --assignment"),
        (("hw1",), ("--assignment", "hw"), "gradebook.db: has no grade in 'hw'; did you mean hw1?"),
        (("hw1",), ("--out", "no/where.html"), "--out no/where.html: cannot be written"),
    ],
    ids=str,
)
def test_what_cannot_be_reported_is_said_in_a_line(course, marks, arguments, line):
    for name in marks:
        if name:
            mark(course.cwd / "gradebook.db", name)
        else:
            Gradebook(course.cwd / "gradebook.db", create=True).close()
    done = course.run("report", *arguments, GRADER_COURSE="")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(f"grader: {line}")
    assert not (course.cwd / "class.html").exists()


def test_students_with_the_same_files_are_named_to_staff_alone(course):
    """But for files of starter or reference, uploads of one student, and a team of the roster."""
    course.write("course.yaml", "title: A tiny course\nroster: roster.csv\n")
    course.write("roster.csv", "student,team\nann,\nben,\ncem,red\ndan,red\neva,\nfay,\n")
    reference = (course.folder / "assignments/tiny/reference/work.py").read_text()
    archives = [course.submit(name, WRONG) for name in ("ben", "ann", "cem")]
    archives += [course.submit(name, reference) for name in ("eva", "fay")]
    done = course.run("run", *archives, "--gradebook", "gradebook.db")
    line = "tiny: ann, ben, cem+dan: handed in the same graded files, byte for byte, which costs nothing; "
    assert [told for told in done.stderr.splitlines() if "byte for byte" in told] == [
        f"grader: {line}look how that came about"
    ]
    told = json.loads(course.run("report", "--json", "--out", "class.html").stdout)
    assert told["same_files"] == [["ann", "ben", "cem+dan"]]
    page = (course.cwd / "class.html").read_text()
    assert "Handed in the same graded files, byte for byte; this costs nothing" in page
    assert "<li>ann, ben, cem+dan</li>" in page
    for file in course.out.glob("tiny/*/feedback/*"):
        assert "byte for byte" not in file.read_text(), file
