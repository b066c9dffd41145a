"""Methods of a course's kind end in time, and mistakes in what draws name file and line."""

from __future__ import annotations

import re

import pytest

from grader.checks.script import Script
from grader.coursecode import PACKAGE
from grader.errors import CourseError
from grader.harness import guarded_kind
from grader.harness.guarded_kind import guarded
from grader.model.observation import Observation, Outcome

SOURCE = """
from dataclasses import dataclass
from grader.contracts.check import CheckKind
from grader.model.drawing import Bars, Gauge, Paragraph, ValueTable

class Loops(CheckKind):
    name = "loops"
    @dataclass(frozen=True)
    class Options: pass
    def observe(self, options, context):
        while True: pass
    def award(self, options, observation, related):
        while True: pass
    def show(self, options, observation):
        while True: yield Paragraph(text='looks')
    def show_beside(self, options, observation, related):
        yield Paragraph(text='beside')
        raise KeyError("samples")
"""


@pytest.fixture
def load(monkeypatch):
    """Return a function that makes the kind of a source."""
    monkeypatch.setattr(guarded_kind, "OBSERVE_CPU_S", 0.02)
    monkeypatch.setattr(guarded_kind, "FUNCTION_CPU_S", 0.02)

    def load(source):
        names = {"__name__": f"{PACKAGE}.a.checks"}
        exec(compile(source, "/course/checks.py", "exec", dont_inherit=True), names)
        return guarded(names["Loops"]())

    return load


@pytest.fixture
def kind(load):
    return load(SOURCE)


@pytest.mark.parametrize(
    ("method", "arguments", "line"),
    [("observe", (None, None), 11), ("award", (None, None, {}), 13), ("show", (None, None), 15)],
)
def test_a_method_that_does_not_end_is_stopped_with_its_line(kind, method, arguments, line):
    message = f"/course/checks.py:{line}: check kind loops: {method}: has not ended after 0.02 s of CPU time"
    with pytest.raises(CourseError, match=f"^{re.escape(message)}; make it shorter, or end its loop$"):
        getattr(kind, method)(*arguments)


def test_a_mistake_in_what_draws_is_that_kinds(kind):
    place = "/course/checks.py:18: check kind loops: show_beside: cannot draw this: KeyError: 'samples'"
    with pytest.raises(CourseError, match=f"^{re.escape(place)}; correct the file$"):
        kind.show_beside(None, None, {})


@pytest.mark.parametrize(
    ("award", "wrong"),
    [
        ("None", "an Award, got None"),
        *(
            (f"Award(fraction=float('{share}'), reason='so')", f"a fraction from 0 to 1, got {share}")
            for share in ("nan", "inf", "-0.01", "1.01")
        ),
    ],
)
def test_an_award_that_is_none_is_its_authors_mistake_and_names_file_line_and_item(load, award, wrong):
    source = SOURCE.replace("related):\n        while True: pass", f"related):\n        return {award}")
    kind = load(f"from grader.model.score import Award{source}")
    line = f"/course/checks.py:12: check kind loops: award: must return {wrong} for item a; correct the file"
    with pytest.raises(CourseError, match=f"^{re.escape(line)}$"):
        kind.award(None, Observation(item="a", outcome=Outcome.OBSERVED), {})


@pytest.mark.parametrize(
    ("drawn", "problem"),
    [
        ("'fine'", "must give a list of drawings, got 'fine'"),
        ("None", "must give a list of drawings, got None"),
        ("Paragraph(text='one')", "must give a list of drawings, got Paragraph"),
        ("['fine']", "must give drawings, such as a Paragraph, got 'fine'"),
        ("[Paragraph(text=5)]", "Expected `str`, got `int` - at `Paragraph.text`"),
        (
            "[ValueTable(head=['a'], rows=[[1.5]])]",
            "ValueTable: a cell must be a text or a Quantity, and is 1.5",
        ),
        ("[Bars(bars=(1.0,))]", "Bars: must be of Bar(name=…, value=…), and has 1.0"),
        ("[Gauge(value='a', low=1, high=2, needed=3)]", "Expected `float`, got `str` - at `Gauge.value`"),
    ],
)
def test_what_no_report_can_render_is_that_kinds_mistake(load, drawn, problem):
    kind = load(SOURCE.replace("while True: yield Paragraph(text='looks')", f"return {drawn}"))
    line = re.escape(f" check kind loops: show: cannot draw this: TypeError: {problem}")
    with pytest.raises(CourseError, match=rf"^/course/checks\.py:1[45]:{line}.*; correct the file$"):
        kind.show(None, None)


def test_our_own_kinds_are_left_as_they_are():
    kind = Script()
    assert guarded(kind) is kind
    assert not vars(kind)
