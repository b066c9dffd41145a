"""The exporters of our own keep what every exporter must: by the kit that authors of others use."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.contracts.exporter import RowOutcome, Rules
from grader.lms.canvas_csv import CanvasCsv
from grader.lms.gradescope import Gradescope
from grader.lms.moodle import MoodleWorksheet
from grader.plugins import Plugins
from grader.testing.results import ResultsConformance, view
from grader.testing.worksheets import Dialect, Example, Row, WorksheetConformance, make_grade

CANVAS = Example(
    worksheet=CanvasCsv,
    headings=("Student", "ID", "SIS Login ID", "Section", "HW1 (4242)", "Other (1)"),
    row=("{name}", "{number}", "{student}", "10.00", "{grade}", "-"),
    column="4242",
    no_grade=("", "-"),
)
MOODLE = Example(
    worksheet=MoodleWorksheet,
    headings=("Full name", "Identifier", "Email address", "Maximum Grade", "Grade", "Last modified (grade)"),
    row=("{name}", "Participant {number}", "{student}", "{maximum}", "{grade}", "-"),
    no_grade=("", "-"),
    known_by="email",
    spelled="{}@uni.edu",
)
TABLES = (CANVAS, MOODLE)
NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
KITS: list[type] = []


def promised(kit):
    """Grades the class that tries a built-in exporter."""
    KITS.append(kit)
    return kit


@promised
class TestCanvas(WorksheetConformance):
    exporter = CanvasCsv

    @pytest.fixture
    def example(self):
        return CANVAS


@promised
class TestMoodle(WorksheetConformance):
    exporter = MoodleWorksheet

    @pytest.fixture
    def example(self):
        return MOODLE


@promised
class TestGradescope(ResultsConformance):
    exporter = Gradescope

    def shown(self, text):
        read = json.loads(text)
        return read["score"] if read["visibility"] == "visible" else None


def test_every_exporter_of_our_own_is_tried():
    assert {kit.exporter for kit in KITS} == set(map(type, Plugins().exporters.values()))


@pytest.mark.parametrize("example", TABLES, ids=["canvas", "moodle"])
@given(NAMES)
def test_no_name_at_all_disturbs_a_grade(example, name):
    done = example.fill(example.text(Row(student="ann", name=name)), make_grade())
    assert example.cells(done.text, "grade") == ["7.5"]


@given(NAMES)
def test_no_title_at_all_disturbs_a_score(name):
    assert json.loads(Gradescope().render(view(title=name), Rules()))["score"] == 7.5


@pytest.mark.parametrize("example", TABLES, ids=["canvas", "moodle"])
@pytest.mark.parametrize("grade", ["-2", "-2.5", "-2,5"])
def test_a_grade_below_zero_and_names_of_one_sign_are_no_formulas(example, grade):
    text = example.text(Row(student="x", name="-", grade=grade), dialect=Dialect(delimiter=";"))
    done = example.fill(text)
    assert (done.text, done.remarks) == (text, ())


@pytest.mark.parametrize("example", TABLES, ids=["canvas", "moodle"])
def test_whoever_stands_there_is_shown_with_name_and_id(example):
    (outcome,) = example.fill(example.text(Row(student="", name="\x1b[2Jx"))).results
    assert outcome.who == "\\x1b[2Jx (1)"
    assert outcome.outcome is RowOutcome.NO_GRADE


def test_the_rules_say_nothing_by_themselves():
    assert Rules() == Rules(include_provisional=False, overwrite=False, scale=False, digits=2)
