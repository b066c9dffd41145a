"""A class that was graded by one rubric is judged again by that one, or a line names both."""

from __future__ import annotations

import csv
import json

import pytest

DOUBLE = {"id": "double", "title": "d", "points": 1, "check": "matches_reference"}
DOUBLE |= {"of": "work.double", "inputs": "numbers"}
BY_HAND = {"id": "style", "title": "s", "points": 4, "check": "manual"}


def other_rubric(course, name, **changes):
    """A rubric of the same assignment under another name, with other points for its item."""
    items = [DOUBLE | changes, BY_HAND]
    points = sum(item["points"] for item in items)
    rubric = {"schema": 1, "assignment": "tiny", "points": points, "items": items}
    course.write(f"rubrics/{name}.yaml", json.dumps(rubric))


@pytest.fixture
def graded(course, kept):
    """Ann and Ben, graded by `short`, which is not the rubric named like the assignment."""
    other_rubric(course, "short")
    submissions = course.submit("ann"), course.submit("ben")
    book = ("--gradebook", str(course.cwd / "gradebook.db"))
    course.run_once(kept, "run", *submissions, "--rubric", "short", *book)
    return course


def rubrics(course):
    done = course.run("history", "ann", "--json")
    return [event["details"]["rubric"] for event in json.loads(done.stdout) if event["what"] == "score"]


def mix(course):
    """Grade Ben by the rubric of the assignment as well."""
    submission = str(course.submissions_folder / "ben.tar.gz")
    return course.run("run", submission, "--gradebook", str(course.cwd / "gradebook.db"))


MIXED = "tiny was graded by several rubrics (1 grade by short, 1 by tiny); name one for all by --rubric"


def test_rescore_judges_by_the_rubric_that_the_class_was_graded_by(graded):
    done = graded.run("rescore", "tiny")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["2 submissions, 2 totals: no points change"]
    other_rubric(graded, "short", points=2)
    assert "ann  1 / 5 -> 2 / 6" in graded.run("rescore", "tiny", "--apply").stdout
    assert rubrics(graded) == ["short", "short"]


def test_rescore_names_both_rubrics_where_another_is_named(graded):
    done = graded.run("rescore", "tiny", "--rubric", "tiny", "--json")
    assert done.stderr == (
        "grader: gradebook.db: tiny was graded by rubric short (2 grades), and rubric tiny judges it now; "
        "--rubric short judges as before\n"
    )
    assert all(json.loads(line) for line in done.stdout.splitlines())


def test_a_rubric_that_is_gone_is_named_with_what_to_do(graded):
    (graded.folder / "rubrics/short.yaml").rename(graded.cwd / "short.yaml")
    for command in (["rescore", "tiny"], ["record", str(graded.out)], ["review"]):
        done = graded.run(*command)
        where = graded.out if "record" in command else "gradebook.db"
        assert (done.returncode, done.stderr) == (
            2,
            f"grader: {where}: tiny was graded by rubric short, which is not in {graded.folder}/rubrics; "
            "put it back, or name a rubric by --rubric\n",
        )
    assert graded.run("rescore", "tiny", "--rubric", "short.yaml").stderr == ""


def test_a_class_of_two_rubrics_is_judged_by_none_unasked(graded):
    assert mix(graded).returncode == 0
    for command in (["rescore", "tiny", "--apply"], ["review"]):
        done = graded.run(*command)
        assert (done.returncode, done.stderr) == (2, f"grader: gradebook.db: {MIXED}\n")
    points = str(graded.cwd / "points.csv")
    for command in (
        ["record", str(graded.out)],
        ["manual", "export", "--results", str(graded.out), "--out", points],
    ):
        done = graded.run(*command)
        assert (done.returncode, done.stderr) == (2, f"grader: {graded.out}: {MIXED}\n")
    done = graded.run("rescore", "tiny", "--rubric", "short", "--apply")
    assert done.returncode == 0
    assert "(1 grade)" in done.stderr
    assert graded.run("rescore", "tiny").stderr == ""


def test_a_run_by_another_rubric_names_both_and_a_mixed_gradebook(graded):
    assert mix(graded).stderr.splitlines()[-2:] == [
        f"grader: {graded.out}: tiny was graded by rubric short (1 grade), and rubric tiny judges it now; "
        "--rubric short judges as before",
        "grader: gradebook.db: tiny is graded by several rubrics now (1 grade by short, "
        "1 by tiny); grader rescore tiny --rubric NAME judges all of it by one",
    ]
    assert mix(graded).stderr.splitlines() == [
        "grader: gradebook.db: tiny is graded by several rubrics now (1 grade by short, 1 by tiny); "
        "grader rescore tiny --rubric NAME judges all of it by one"
    ]


def test_recorded_results_are_judged_by_their_rubric(graded):
    (graded.cwd / "gradebook.db").unlink()
    done = graded.run("record", str(graded.out))
    assert (done.returncode, done.stderr) == (0, "gradebook.db: 2 grades recorded, 0 recorded already\n")
    assert rubrics(graded) == ["short"]


@pytest.fixture
def other_assignment(course):
    """`big`, with a rubric of the same name."""
    course.write(
        "assignments/big/assignment.py",
        """
        from grader.api import Assignment, hookimpl

        @hookimpl
        def grader_assignments():
            return [Assignment(name="big", title="Big", accepts=("big.py",))]
        """,
    )
    for file in ("inputs.py", "expected.py", "reference/big.py"):
        course.write(f"assignments/big/{file}", "")
    rubric = {"schema": 1, "assignment": "big", "points": 4, "items": [BY_HAND]}
    course.write("rubrics/big.yaml", json.dumps(rubric))
    return f"{course.folder}/rubrics/big.yaml: grades big, not tiny; name another rubric"


def test_no_command_takes_a_rubric_of_another_assignment(graded, other_assignment):
    out, book = str(graded.out), str(graded.cwd / "gradebook.db")
    before = (graded.results() / "score.json").read_bytes()
    for command in (
        ["run", str(graded.submissions_folder / "ann.tar.gz"), "--gradebook", book],
        ["run", str(graded.submissions_folder), "--gradebook", book],
        ["record", out],
        ["rescore", "tiny", "--apply"],
        ["review"],
        ["replay", str(graded.results()), "--item", "style"],
        ["manual", "export", "--results", out, "--out", str(graded.cwd / "points.csv")],
    ):
        done = graded.run(*command, "--rubric", "big")
        assert (done.returncode, done.stderr.splitlines()[0]) == (2, f"grader: {other_assignment}"), command
    assert (graded.results() / "score.json").read_bytes() == before
    assert rubrics(graded) == ["short"]
    assert not (graded.cwd / "points.csv").exists()


def test_a_first_run_by_a_rubric_of_another_assignment_leaves_nothing(course, other_assignment):
    done = course.run("run", course.submit(), "--rubric", "big")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"grader: {other_assignment}\n")
    assert not list(course.out.rglob("*.*"))


def test_the_rubric_says_which_of_two_assignments_that_fit_alike_is_meant(course, other_assignment):
    declaration = """
        from grader.api import Assignment, hookimpl

        @hookimpl
        def grader_assignments():
            return [Assignment(name="big", title="Big", accepts=("work.py",))]
        """
    course.write("assignments/big/assignment.py", declaration)
    course.write("assignments/big/reference/work.py", "")
    submission = course.submit()
    both = course.run("run", submission)
    assert both.returncode == 6
    assert "fits several assignments alike (big, tiny); say which with" in both.stderr
    done = course.run("run", submission, "--rubric", "big")
    assert (done.returncode, done.stdout.split()[0]) == (0, "big")


def test_the_rubric_says_which_assignment_a_misnamed_file_is_of_that_a_pattern_of_another_fits(
    course, other_assignment
):
    declaration = """
        from grader.api import Assignment, hookimpl

        @hookimpl
        def grader_assignments():
            return [Assignment(name="big", title="Big", accepts=("*.py",))]
        """
    course.write("assignments/big/assignment.py", declaration)
    submission = course.submit(name="Work.py")
    both = course.run("run", submission)
    assert (both.returncode, both.stderr) == (
        6,
        "grader: ann.tar.gz: may be meant for big, which most of its files fit, or for tiny, by their names "
        "(Work.py: did you mean work.py?); say which with --assignment NAME or --rubric NAME\n",
    )
    done = course.run("run", submission, "--rubric", "tiny")
    assert (done.returncode, done.stderr) == (
        6,
        "grader: ann.tar.gz: holds no file of tiny; hand in what it asks for of work.py, more.py "
        "(it holds Work.py: did you mean work.py?)\n",
    )
    assert done.stderr == course.run("run", submission, "--assignment", "tiny").stderr
    assert course.run("run", submission, "--rubric", "big").stdout.split()[0] == "big"


def test_points_by_hand_go_by_the_rubric_of_the_results(graded):
    table = graded.cwd / "points.csv"
    results = ("--results", str(graded.out))
    assert graded.run("manual", "export", *results, "--out", str(table)).returncode == 0
    rows = csv.DictReader(table.read_text("utf-8-sig").splitlines())
    seen = next(row["submission"] for row in rows if (row["student"], row["item"]) == ("ann", "style"))
    table.write_text(f"assignment,student,item,points,submission\ntiny,ann,style,3,{seen}\n")
    book = ("--gradebook", str(graded.cwd / "gradebook.db"))
    done = graded.run("manual", "import", str(table), *results, *book)
    assert (done.returncode, done.stderr) == (0, f"{table}: 1 new judgement saved\n")
    assert rubrics(graded) == ["short", "short"]
    card = json.loads((graded.results() / "score.json").read_text())
    assert (card["rubric"], card["points"]["raw"]) == ("short", 4)


def test_a_replay_judges_by_the_rubric_of_the_score_also_if_its_file_has_changed(graded):
    other_rubric(graded, "short", points=2)
    done = graded.run("replay", str(graded.results()), "--item", "double", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["now"]["possible"] == 2


def test_without_scores_the_rubric_of_the_assignment_judges(graded):
    for student in ("ann", "ben"):
        (graded.results(student) / "score.json").unlink()
    (graded.cwd / "gradebook.db").unlink()
    done = graded.run("record", str(graded.out))
    assert (done.returncode, done.stderr) == (0, "gradebook.db: 2 grades recorded, 0 recorded already\n")
    assert rubrics(graded) == ["tiny"]
