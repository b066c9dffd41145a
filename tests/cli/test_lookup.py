"""A student or an assignment that is not in the gradebook: commands name what is there, and how much."""

from __future__ import annotations

import pytest

ASSIGNMENT = {
    "show": ["show", "ann", "--assignment", "tinny"],
    "history": ["history", "ann", "--assignment", "tinny"],
    "export csv": ["export", "csv", "tinny"],
    "export json": ["export", "json", "tinny"],
    "export moodle": ["export", "moodle", "tinny", "--sheet", "sheet.csv"],
    "export gradescope": ["export", "gradescope", "tinny", "--out", "files"],
    "report": ["report", "--assignment", "tinny"],
    "review": ["review", "tinny", "--host", "no.invalid"],
    "post": ["post", "canvas", "tinny"],
}
STUDENT = {"show": ["show", "anm"], "history": ["history", "anm"]}


@pytest.fixture
def graded(course, kept):
    """Ann and Ben have grades; the course is on a Canvas that nobody can reach."""
    submissions = course.submit("ann"), course.submit("ben")
    course.run_once(kept, "run", *submissions, "--gradebook", str(course.cwd / "gradebook.db"))
    keys = "canvas: {url: 'http://127.0.0.1:9', course: 1, assignments: {tiny: 1, tinny: 2}}\n"
    course.write("course.yaml", f"title: A tiny course\n{keys}")
    (course.cwd / "sheet.csv").write_text("Identifier,Full name,Grade,Maximum Grade\nParticipant 1,ann,,3\n")
    return course


def refused(course, arguments):
    before = sorted(course.cwd.rglob("*"))
    done = course.run(*arguments, CANVAS_TOKEN="1~secret")
    assert (done.returncode, done.stdout) == (2, "")
    assert sorted(course.cwd.rglob("*")) == before
    return done.stderr


@pytest.mark.parametrize("name", ASSIGNMENT)
def test_an_assignment_without_grades_is_named_with_those_that_have_some(graded, name):
    line = "grader: gradebook.db: has no grade in 'tinny'; did you mean tiny? (1 assignment in all)\n"
    assert refused(graded, ASSIGNMENT[name]) == line


@pytest.mark.parametrize("name", STUDENT)
def test_a_student_without_a_grade_is_named_with_those_who_are_near(graded, name):
    line = "grader: gradebook.db: has no grade of 'anm'; did you mean ann? (2 students in all)\n"
    assert refused(graded, STUDENT[name]) == line
    line = "grader: gradebook.db: has no grade of 'zoe'; there are ann, ben (2 students in all)\n"
    assert refused(graded, [STUDENT[name][0], "zoe", "--assignment", "tiny"]) == line


@pytest.mark.parametrize("command", STUDENT)
@pytest.mark.parametrize("called", ["Ann Arbor", "101"])
def test_a_name_or_an_id_of_the_roster_is_told_as_whose_it_is(graded, command, called):
    graded.write("course.yaml", "title: x\nroster: roster.csv\n")
    graded.write("roster.csv", "student,name,canvas id\nann,Ann Arbor,101\nben,,102\n")
    line = f"grader: gradebook.db: has no grade of '{called}'; that is ann on the roster\n"
    assert refused(graded, [command, called]) == line


@pytest.mark.parametrize("name", ASSIGNMENT)
def test_an_empty_gradebook_is_named(graded, name):
    (graded.cwd / "gradebook.db").unlink()
    for student in ("ann", "ben"):
        (graded.results(student) / "evidence.jsonl").write_text("")
    assert graded.run("record", str(graded.out)).returncode == 0
    line = "grader: gradebook.db: is empty; grade with --gradebook, or record results, first\n"
    assert refused(graded, ASSIGNMENT[name]) == line


def test_an_assignment_of_the_course_without_grades_is_not_rescored(graded):
    graded.write(
        "assignments/other/assignment.py",
        """
        from grader.api import Assignment, hookimpl

        @hookimpl
        def grader_assignments():
            return [Assignment(name="other", title="Other", accepts=("other.py",))]
        """,
    )
    line = "grader: gradebook.db: has no grade in 'other'; there are tiny (1 assignment in all)\n"
    assert refused(graded, ["rescore", "other"]) == line
    assert refused(graded, ["export", "csv", "nix"]) == line.replace("other", "nix")
    assert "did you mean other?" in refused(graded, ["export", "csv", "othr"])


def test_a_student_without_a_grade_in_one_assignment_hears_of_the_others(graded):
    rubric = (graded.folder / "rubrics/tiny.yaml").read_text()
    code = (graded.folder / "assignments/tiny/assignment.py").read_text()
    for name in ("inputs.py", "expected.py", "checks.py", "reference/work.py"):
        text = (graded.folder / "assignments/tiny" / name).read_text()
        graded.write(f"assignments/small/{name}", text)
    hook = code.index("@hookimpl\ndef grader_checks")
    graded.write("assignments/small/assignment.py", code[:hook].replace('"tiny"', '"small"'))
    graded.write("rubrics/small.yaml", rubric.replace('"tiny"', '"small"'))
    archive = graded.submit("cem")
    book = ("--gradebook", str(graded.cwd / "gradebook.db"))
    assert graded.run("run", archive, "--assignment", "small", *book).returncode == 0
    line = "grader: gradebook.db: has no grade of 'ann' in small; there are some in tiny\n"
    for name in STUDENT:
        assert refused(graded, [name, "ann", "--assignment", "small"]) == line


def test_the_folder_of_a_team_is_named_for_its_member(course):
    assert course.run("run", course.submit("ann+ben")).returncode == 0
    done = course.run("replay", str(course.out / "tiny" / "ann"), "--item", "tiny.double")
    assert "; ann is in team ann+ben: name " in done.stderr
