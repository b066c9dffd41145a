"""`grader rescore`: the plan, then the new scores, without an archive, a program or a worker."""

from __future__ import annotations

import json
import shutil

import pytest

DOUBLE = {"id": "double", "title": "d", "points": 1, "check": "matches_reference"}
DOUBLE |= {"of": "work.double", "inputs": "numbers"}
SQUARE = DOUBLE | {"id": "square", "of": "work.square", "points": 2}
PAGES = (
    "pages in the results folders are of the scores before: grader run writes them anew, and grader post "
    "attaches none until then"
)
HALF_RIGHT = "def double(x): return 2 * x if x else 1\ndef square(x): return x * x"


@pytest.fixture
def graded(course, kept):
    """Ann has everything right, Ben half of one item; no file of theirs is left."""
    course.rubric(DOUBLE, SQUARE)
    submissions = course.submit("ann"), course.submit("ben", HALF_RIGHT)
    course.run_once(kept, "run", *submissions, "--gradebook", str(course.cwd / "gradebook.db"))
    shutil.rmtree(course.out)
    shutil.rmtree(course.submissions_folder)
    return course


def rescored(course, *arguments):
    done = course.run("rescore", "tiny", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def points(course):
    done = course.run("export", "json")
    return {mark["student"]: mark["points"]["raw"] for mark in json.loads(done.stdout)}


def test_an_unchanged_rubric_changes_nothing(graded):
    book = graded.cwd / "gradebook.db"
    before = book.read_bytes()
    assert rescored(graded) == ["2 submissions, 2 totals: no points change"]
    assert rescored(graded, "--apply") == [
        "2 submissions, 2 totals: no points change",
        "0 new scores recorded",
    ]
    assert book.read_bytes() == before


def test_the_plan_names_who_gains_and_by_what_and_apply_keeps_it(graded):
    graded.rubric(DOUBLE | {"points": 4, "credit": "per_case"}, SQUARE | {"points": 1})
    plan = [
        "ann  3 / 3 -> 5 / 5  +2  (double 1 / 1 -> 4 / 4, square 2 / 2 -> 1 / 1)",
        "ben  2 / 3 -> 3 / 5  +1  (double 0 / 1 -> 2 / 4, square 2 / 2 -> 1 / 1)",
        "2 submissions, 2 totals: 2 rise by 3 points together",
        "because of: items (2 totals)",
    ]
    assert rescored(graded) == [*plan, "2 scores would be new; --apply records them"]
    assert points(graded) == {"ann": 3, "ben": 2}
    assert rescored(graded, "--apply") == [*plan, "2 new scores recorded", PAGES]
    assert points(graded) == {"ann": 5, "ben": 3}
    assert rescored(graded) == ["2 submissions, 2 totals: no points change"]


def test_a_late_rule_is_planned_and_applied_like_any_other_change_of_a_total(course):
    archive = course.submit()
    book = ("--gradebook", str(course.cwd / "gradebook.db"))
    late = {"due": "2024-12-20T12:00:00+00:00", "late": {"per_day": "10%"}}
    course.rubric(DOUBLE, SQUARE, **late)
    at = ("--submitted-at", "2024-12-21T11:00:00+00:00")
    assert course.run("run", archive, *at, *book).returncode == 0
    course.rubric(DOUBLE, SQUARE, **late | {"late": {"per_day": "50%"}})
    plan = [
        "ann  2.7 -> 1.5 / 3  -1.2  (late rule: 0.3 -> 1.5 points off)",
        "1 submission, 1 total: 1 falls by 1.2 points",
        "because of: late rule (1 total)",
    ]
    assert rescored(course) == [*plan, "1 score would be new; --apply records them"]
    assert rescored(course, "--apply") == [*plan, "1 new score recorded", PAGES]
    assert json.loads(course.run("export", "json").stdout)[0]["adjusted"] == 1.5
    assert rescored(course) == ["1 submission, 1 total: no points change"]


def test_who_loses_is_named_too_and_programs_get_a_line_each(graded):
    graded.rubric(DOUBLE | {"points": 3, "credit": "per_case"}, SQUARE | {"points": 1})
    *changes, sums = map(json.loads, rescored(graded, "--json"))
    assert [(c["student"], c["total"], c["possible"]) for c in changes] == [
        ("ann", [3, 4], [3, 4]),
        ("ben", [2, 2.5], [3, 4]),
    ]
    ben = changes[1]
    double = {"standing": "final", "counts": "earns"}
    assert ben["items"]["double"] == [
        {"points": 0, "possible": 1, **double},
        {"points": 1.5, "possible": 3, **double},
    ]
    assert (ben["standing"], ben["late"], ben["causes"]) == (["final", "final"], [0, 0], ["items"])
    assert sums == {
        "totals": {"all": 2, "rise": 2, "fall": 0, "stay": 0, "wait": 0},
        "points": {"rise": 1.5, "fall": 0},
        "standings": {},
        "causes": {"items": 2},
        "visible": {},
        "submissions": {
            "all": 2,
            "changed": 2,
            "only_rubric": 0,
            "only_texts": 0,
            "only_visibility": 0,
            "only_late_rule": 0,
            "untimed": 0,
        },
        "must_run_again": {},
        "skipped_before": {},
        "applied": False,
    }
    graded.rubric(DOUBLE, SQUARE | {"points": 1})
    *_, sums, _, _ = rescored(graded)
    assert sums == "2 submissions, 2 totals: 2 fall by 2 points together"


def test_a_rubric_that_changes_nothing_at_all_is_told_as_that(graded):
    graded.rubric(DOUBLE, SQUARE | {"hint": "never shown: everybody has it"})
    *_, sums = rescored(graded)
    assert sums == (
        "2 scores would be new, 2 of them with nothing different but the rubric; --apply records them"
    )


def test_a_rule_of_an_item_that_was_skipped_changes_nothing_for_whom_it_was(course):
    """By another tolerance the item is observed anew; nobody reads anything else of one that never ran."""
    strict = SQUARE | {"needs": ["double"], "tolerance": {"float64": {"rtol": 0.1, "atol": 0}}}
    course.rubric(DOUBLE, strict)
    book = ("--gradebook", str(course.cwd / "gradebook.db"))
    assert course.run("run", course.submit("ben", HALF_RIGHT), *book).returncode == 0
    course.rubric(DOUBLE, strict | {"tolerance": {"float64": {"rtol": 0.2, "atol": 0}}})
    *_, sums = rescored(course)
    assert (
        sums == "1 score would be new, 1 of them with nothing different but the rubric; --apply records them"
    )


def test_words_alone_make_new_scores_and_change_no_points(graded):
    graded.rubric(DOUBLE | {"title": "other"}, SQUARE)
    assert rescored(graded, "--apply") == [
        "2 submissions, 2 totals: no points change",
        "2 new scores recorded, 2 of them with other texts alone",
        PAGES,
    ]


def test_an_item_that_students_see_no_more_is_named_and_is_no_other_text(graded):
    graded.rubric(DOUBLE | {"visible": "never"}, SQUARE | {"visible": "after_published"})
    plan = [
        "2 submissions, 2 totals: no points change",
        "double: students do not see it from now on (visible: always -> never), in 2 submissions",
        "square: students see it once grades are published (visible: always -> after_published), in "
        "2 submissions",
    ]
    new = "2 of them with another visibility of items alone"
    assert rescored(graded) == [*plan, f"2 scores would be new, {new}; --apply records them"]
    sums = json.loads(rescored(graded, "--json")[-1])
    assert sums["visible"] == {"double": ["always", "never"], "square": ["always", "after_published"]}
    assert rescored(graded, "--apply") == [*plan, f"2 new scores recorded, {new}", PAGES]
    assert rescored(graded)[-1] == "2 submissions, 2 totals: no points change"
    graded.rubric(DOUBLE, SQUARE | {"points": 1})
    assert "double: students see it from now on (visible: never -> always), in 2 submissions" in (
        rescored(graded)
    )


def test_what_must_run_again_is_named_and_its_marks_stay(graded):
    graded.rubric(DOUBLE | {"dtype": "exact", "points": 5}, SQUARE)
    assert rescored(graded, "--apply") == [
        "ann  must run again: double",
        "ben  must run again: double",
        "2 submissions, 2 totals: 2 stay until items have run again",
        "double must run again for 2 submissions: grade the archives again",
        "0 new scores recorded",
    ]
    assert points(graded) == {"ann": 3, "ben": 2}


ENDS = {"id": "ends", "title": "e", "points": 1, "check": "script", "file": "work.py"}


def test_what_a_new_rule_takes_must_run_again_so_that_the_reference_is_asked(course):
    book = "--gradebook", str(course.cwd / "gradebook.db")
    course.rubric(DOUBLE, ENDS)
    archive = course.submit("ann")
    assert course.run("run", archive, *book).returncode == 0
    course.rubric(DOUBLE, ENDS | {"exit_status": 1})
    assert rescored(course, "--apply") == [
        "ann  must run again: ends",
        "1 submission, 1 total: 1 stays until items have run again",
        "ends must run again for 1 submission: grade the archives again",
        "0 new scores recorded",
    ]
    assert points(course) == {"ann": 2}
    done = course.run("run", archive, *book)
    assert (done.returncode, "the reference loses points as well" in done.stdout + done.stderr) == (4, True)


def test_what_the_reference_kept_by_the_same_rule_stays_lost_without_another_run(course):
    course.rubric(DOUBLE, ENDS)
    archive = course.submit(
        "ann", "import sys\ndef double(x): return 2 * x\nif __name__ == '__main__': sys.exit(1)"
    )
    for _ in range(2):
        done = course.run("run", archive)
        assert (done.returncode, "1 / 2" in done.stdout) == (0, True), done.stdout
    assert len([record for record in course.records() if record["record"] == "observation"]) == 2


def test_course_code_that_changed_makes_all_of_it_run_again(graded):
    inputs = graded.folder / "assignments/tiny/inputs.py"
    inputs.write_text(inputs.read_text().replace("zero", "nothing"))
    assert rescored(graded)[:2] == [
        "ann  must run again: double, square",
        "ben  must run again: double, square",
    ]


def test_what_was_skipped_must_run_and_not_again(course):
    course.rubric(DOUBLE, SQUARE | {"needs": ["double"]})
    book = ("--gradebook", str(course.cwd / "gradebook.db"))
    assert course.run("run", course.submit("ben", HALF_RIGHT), *book).returncode == 0
    course.rubric(DOUBLE, SQUARE)
    assert rescored(course) == [
        "ben  must run, was skipped: square",
        "1 submission, 1 total: 1 stays until items have run again",
        "square was skipped and must run for 1 submission, because by this rubric nothing that it needs "
        "stands in its way: grade the archives again",
    ]


def test_a_new_deadline_is_told_where_no_time_of_submission_is_known(graded):
    graded.rubric(DOUBLE, SQUARE, due="2024-12-20T12:00:00+00:00", late={"per_day": "10%"})
    assert rescored(graded) == [
        "2 submissions, 2 totals: no points change",
        "the late rule takes nothing off 2 submissions whose time of submission nobody knows: grade the "
        "archives again with --times FILE",
        "2 scores would be new, 2 of them with another deadline or late rule that moves no points; --apply "
        "records them",
    ]


def test_another_rubric_may_be_named(graded):
    text = (graded.folder / "rubrics/tiny.yaml").read_text().replace('"points": 2', '"points": 7')
    graded.write("rubrics/kind.yaml", text.replace('"points": 3', '"points": 8'))
    done = graded.run("rescore", "tiny", "--rubric", "kind")
    assert done.returncode == 0
    assert done.stdout.startswith("ann  3 / 3 -> 8 / 8  +5")
    assert done.stderr.startswith("grader: gradebook.db: tiny was graded by rubric tiny (2 grades), and ")


def test_4_if_the_rubric_is_wrong_and_5_if_the_gradebook_is_damaged(graded):
    book = graded.cwd / "gradebook.db"
    whole = book.read_bytes()
    graded.rubric(DOUBLE | {"credit": "none"}, SQUARE)
    assert graded.run("rescore", "tiny", "--apply").returncode == 4
    assert book.read_bytes() == whole

    graded.rubric(DOUBLE, SQUARE | {"points": 1})
    page = 4096
    assert len(whole) > 4 * page
    book.write_bytes(whole[:page] + b"\xff" * (len(whole) - page))
    for arguments in ([], ["--apply"]):
        done = graded.run("rescore", "tiny", *arguments)
        assert done.returncode == 5
        assert done.stderr == "grader: gradebook.db: is damaged; go back to a backup\n"


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (["rescore", "hw9"], 2, "grader: hw9: there is no such assignment; there are tiny"),
        (["rescore", "tiny", "--rubric", "nowhere"], 2, "grader: --rubric nowhere: "),
        (["rescore", "tiny", "--gradebook", "no.db"], 2, "grader: no.db: there is no gradebook; "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_not_there_is_said_in_a_line(graded, arguments, code, line):
    done = graded.run(*arguments)
    assert done.returncode == code
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith(line)
