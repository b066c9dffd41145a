"""What was observed is observed again exactly if something changed that decides what is measured."""

from __future__ import annotations

import pytest

DOUBLE = {"id": "double", "title": "d", "points": 1, "check": "matches_reference"}
DOUBLE |= {"of": "work.double", "inputs": "numbers"}
SQUARE = DOUBLE | {"id": "square", "of": "work.square"}
HALF_RIGHT = "def double(x): return 2 * x if x else 1\ndef square(x): return x * x"


def edit_inputs(course):
    inputs = course.folder / "assignments/tiny/inputs.py"
    inputs.write_text(inputs.read_text().replace("zero", "nothing"))


def edit_oracles(course):
    oracles = course.folder / "assignments/tiny/expected.py"
    oracles.write_text(oracles.read_text() + "\n# explained\n")


def edit_limits(course):
    assignment = course.folder / "assignments/tiny/assignment.py"
    assignment.write_text(assignment.read_text().replace("call_wall_s=60.0", "call_wall_s=50.0"))


@pytest.mark.parametrize(
    ("change", "again"),
    [
        (lambda course: course.rubric(DOUBLE | {"dtype": "exact"}, SQUARE), ["double"]),
        (
            lambda course: course.rubric(
                DOUBLE, SQUARE | {"tolerance": {"float64": {"rtol": 0.1, "atol": 0.0}}}
            ),
            ["square"],
        ),
        (edit_inputs, ["double", "square"]),
        (edit_oracles, ["double", "square"]),
        (edit_limits, ["double", "square"]),
        (lambda course: course.hand_in(code="def double(x): return 2 * x"), ["double", "square"]),
        (lambda course: course.hand_in(name="folder/work.py"), []),
        (lambda course: course.rubric(DOUBLE | {"credit": "per_case"}, SQUARE), []),
        (lambda course: course.rubric(DOUBLE | {"points": 5, "title": "t", "hint": "h"}, SQUARE), []),
        (lambda course: course.rubric(SQUARE, DOUBLE), []),
    ],
    ids=[
        "a measuring option",
        "another one",
        "inputs",
        "oracles",
        "limits",
        "the work",
        "the archive around the same work",
        "a judging option",
        "points and words",
        "the order",
    ],
)
def test_a_change_makes_exactly_the_observations_stale_that_it_concerns(course, change, again):
    course.rubric(DOUBLE, SQUARE)
    archive = course.hand_in()
    course.run("run", archive)
    change(course)
    assert course.run("run", archive).returncode == 0
    assert course.observed() == ["double", "square", *again]


def test_stored_evidence_is_judged_anew_by_a_rubric_that_judges_otherwise(course):
    course.rubric(DOUBLE, SQUARE)
    archive = course.hand_in(code=HALF_RIGHT)
    course.run("run", archive)
    assert course.points() == {"double": 0, "square": 1}
    course.rubric(DOUBLE | {"points": 4, "credit": "per_case"}, SQUARE)
    course.run("run", archive)
    assert course.points() == {"double": 2, "square": 1}
    assert course.observed() == ["double", "square"]


def test_another_hand_in_of_the_same_student_leaves_nothing_of_the_first_in_the_mark(course):
    course.run("run", course.hand_in())
    course.run("run", course.hand_in(code="def double(x): return 0\ndef square(x): return x * x"))
    assert course.points() == {"double": 0, "square": 2}
    assert "return 0" in (course.results() / "workspace/work.py").read_text()
    course.run("run", course.hand_in())
    assert course.points() == {"double": 1, "square": 2}


def test_fresh_observes_everything_again(course):
    archive = course.hand_in()
    course.run("run", archive)
    course.run("run", archive, "--fresh")
    assert course.observed() == ["double", "square"] * 2


def test_item_observes_what_it_names_and_what_that_needs_and_leaves_the_rest_open(course):
    course.rubric(DOUBLE, SQUARE | {"needs": ["double"]}, DOUBLE | {"id": "other"})
    archive = course.hand_in()
    assert course.run("run", archive, "--item", "squ*").returncode == 0
    assert course.observed() == ["double", "square"]
    assert course.points() == {"double": 1, "square": 1, "other": 0}
    course.run("run", archive)
    assert course.observed() == ["double", "square", "other"]


def test_an_item_whose_need_failed_is_skipped_and_looked_at_once_that_passes(course):
    strict = DOUBLE | {"accept": []}
    course.rubric(strict, SQUARE | {"needs": ["double"]})
    archive = course.hand_in(code=HALF_RIGHT)
    assert course.run("run", archive).returncode == 0
    assert course.points() == {"double": 0, "square": 0}
    skipped = course.records()[2]["observation"]
    assert (skipped["outcome"], skipped["note"]) == ("skipped", "needs double")
    fixed = course.hand_in(code="def double(x): return 2 * x\ndef square(x): return x * x")
    course.run("run", fixed)
    assert course.points() == {"double": 1, "square": 1}
