"""What was observed is observed again exactly if something changed that decides what is measured."""

from __future__ import annotations

import pytest

DOUBLE = {"id": "double", "title": "d", "points": 1, "check": "matches_reference"}
DOUBLE |= {"of": "work.double", "inputs": "numbers"}
SQUARE = DOUBLE | {"id": "square", "of": "work.square"}
LISTENS = """
    from dataclasses import dataclass
    from pathlib import Path

    from grader.contracts.check import CheckKind
    from grader.model.observation import Observation, Outcome
    from grader.model.options import option
    from grader.model.score import Award

    class Listens(CheckKind):
        name = "listens"

        @dataclass(frozen=True, slots=True, kw_only=True)
        class Options:
            path: str = option("A file outside: what there is to hear.")
            again: bool = option("Whether the next run listens once more.", judges=True, default=True)

        def observe(self, options, context):
            heard = {"heard": Path(options.path).read_text()}
            return Observation(item=context.item, outcome=Outcome.OBSERVED, facts=heard, seed=context.seed)

        def award(self, options, observation, related):
            if observation.facts["heard"] == "noise":
                return Award(fraction=0.0, reason="too loud", undecided=True, again=options.again)
            return Award(fraction=1.0, reason="quiet")
"""
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


@pytest.mark.quick(3)
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
        pytest.param(edit_oracles, ["double", "square"], marks=pytest.mark.slow),
        pytest.param(edit_limits, ["double", "square"], marks=pytest.mark.slow),
        (lambda course: course.submit(code="def double(x): return 2 * x"), ["double", "square"]),
        pytest.param(lambda course: course.submit(name="folder/work.py"), [], marks=pytest.mark.slow),
        (lambda course: course.rubric(DOUBLE | {"credit": "per_case"}, SQUARE), []),
        (lambda course: course.rubric(DOUBLE | {"points": 5, "title": "t", "hint": "h"}, SQUARE), []),
        pytest.param(lambda course: course.rubric(SQUARE, DOUBLE), [], marks=pytest.mark.slow),
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
    archive = course.submit()
    course.run("run", archive)
    change(course)
    assert course.run("run", archive).returncode == 0
    assert course.observed() == ["double", "square", *again]


def test_stored_evidence_is_judged_anew_by_a_rubric_that_judges_otherwise(course):
    course.rubric(DOUBLE, SQUARE)
    archive = course.submit(code=HALF_RIGHT)
    course.run("run", archive)
    assert course.points() == {"double": 0, "square": 1}
    course.rubric(DOUBLE | {"points": 4, "credit": "per_case"}, SQUARE)
    course.run("run", archive)
    assert course.points() == {"double": 2, "square": 1}
    assert course.observed() == ["double", "square"]


def test_another_submission_of_the_same_student_leaves_nothing_of_the_first_in_the_mark(course):
    course.run("run", course.submit())
    course.run("run", course.submit(code="def double(x): return 0\ndef square(x): return x * x"))
    assert course.points() == {"double": 0, "square": 2}
    assert "return 0" in (course.results() / "workspace/work.py").read_text()
    course.run("run", course.submit())
    assert course.points() == {"double": 1, "square": 2}


def test_fresh_observes_everything_again(course):
    archive = course.submit()
    course.run("run", archive)
    course.run("run", archive, "--fresh")
    assert course.observed() == ["double", "square"] * 2


@pytest.fixture
def listening(course):
    """A course with an item that hears what there is to hear, and another that needs it."""
    course.write("assignments/tiny/kinds.py", LISTENS)
    hooks = course.folder / "assignments/tiny/assignment.py"
    text = hooks.read_text().replace(
        "from .checks import", "from .kinds import Listens\n    from .checks import"
    )
    hooks.write_text(text.replace("return [Breaks", "return [Listens, Breaks"))
    return course


def test_what_could_not_be_observed_afresh_is_told_and_the_earlier_observation_counts(listening, tmp_path):
    around = tmp_path / "around"
    around.write_text("nothing")
    item = {"title": "l", "points": 3, "check": "listens", "path": str(around)}
    listening.rubric({"id": "it", **item}, {"id": "this", **item})
    archive = listening.submit()
    assert listening.run("run", archive).returncode == 0
    around.unlink()
    done = listening.run("run", archive, "--fresh")
    assert done.returncode == 5
    assert "it, this: [Errno 2] No such file or directory" in done.stderr
    assert "could not be observed again, and the earlier observation counts" in done.stderr
    assert listening.points() == {"it": 3, "this": 3}


def test_what_another_look_may_decide_is_looked_at_until_it_is_decided(listening, tmp_path):
    around = tmp_path / "around"
    listens = {"id": "listens", "title": "l", "points": 3, "check": "listens", "path": str(around)}
    listening.rubric(DOUBLE, listens, SQUARE | {"needs": ["listens"]})
    archive = listening.submit()
    seen = ["double", "listens", "square"]
    for hears, points, more in [
        ("noise", {"double": 1, "listens": 0, "square": 0}, []),
        ("noise", {"double": 1, "listens": 0, "square": 0}, ["listens", "square"]),
        ("nothing", {"double": 1, "listens": 3, "square": 1}, ["listens", "square"]),
        ("noise", {"double": 1, "listens": 3, "square": 1}, []),
    ]:
        around.write_text(hears)
        done = listening.run("run", archive)
        assert (done.returncode, done.stderr) == (0, "")
        seen += more
        assert (listening.points(), listening.observed()) == (points, seen)


def test_what_a_person_must_decide_is_not_looked_at_again(listening, tmp_path):
    around = tmp_path / "around"
    around.write_text("noise")
    listens = {"id": "listens", "title": "l", "points": 3, "check": "listens", "path": str(around)}
    listening.rubric(listens | {"again": False})
    archive = listening.submit()
    for _ in range(2):
        listening.run("run", archive)
        assert (listening.points(), listening.observed()) == ({"listens": 0}, ["listens"])


def test_item_observes_what_it_names_and_what_that_needs_and_leaves_the_rest_open(course):
    course.rubric(DOUBLE, SQUARE | {"needs": ["double"]}, DOUBLE | {"id": "other"})
    archive = course.submit()
    assert course.run("run", archive, "--item", "squ*").returncode == 0
    assert course.observed() == ["double", "square"]
    assert course.points() == {"double": 1, "square": 1, "other": 0}
    course.run("run", archive)
    assert course.observed() == ["double", "square", "other"]


def test_an_item_whose_need_failed_is_skipped_and_looked_at_once_that_passes(course):
    strict = DOUBLE | {"accept": []}
    course.rubric(strict, SQUARE | {"needs": ["double"]})
    archive = course.submit(code=HALF_RIGHT)
    assert course.run("run", archive).returncode == 0
    assert course.points() == {"double": 0, "square": 0}
    skipped = course.records()[2]["observation"]
    assert (skipped["outcome"], skipped["note"]) == ("skipped", "needs double")
    fixed = course.submit(code="def double(x): return 2 * x\ndef square(x): return x * x")
    course.run("run", fixed)
    assert course.points() == {"double": 1, "square": 1}
