"""A plugin's kind draws through the same door as the built-in ones, and no report knows a kind."""

from __future__ import annotations

import ast
import math
import re
from pathlib import Path

import pytest

from grader import reports
from grader.model.drawing import (
    Advice,
    Bar,
    Bars,
    Breakdown,
    CurveLine,
    Curves,
    Gauge,
    Paragraph,
    Pictures,
    ValueTable,
)
from grader.model.observation import Outcome, Quantity
from grader.plugins import Plugins
from grader.reports import layout
from grader.reports.html import Html
from grader.reports.score_json import document
from grader.scoring.redact import staff_view, student_view
from grader.testing.kinds import AwardOnly

ALL = (
    Gauge(
        title="Bandwidth", value=310.0, low=290.0, high=330.0, needed=250.0, unit="GB/s", caption="310 GB/s"
    ),
    Bars(bars=(Bar(name="mine", value=Quantity(value=2.0, unit="s"), samples=(1.9, 2.1)),)),
    Breakdown(title="Where it goes", parts=(Bar(name="reading", value=Quantity(value=0.3, unit="s")),)),
    Curves(
        title="Over sizes",
        across="elements",
        unit="s",
        lines=(CurveLine(name="mine", role="measured", points=((1, 1.0), (1024, 2.0))),),
        needed=((1024, 4.0),),
    ),
    ValueTable(
        head=("Size", "Bytes"), rows=(("large", Quantity(value=2**20, unit="bytes")),), caption="Sizes."
    ),
    Paragraph(text="Measured twice.", quantities=frozenset({"bandwidth"})),
    Advice(text="Reading in order."),
)


class Bandwidth(AwardOnly):
    """A plugin's kind."""

    name = "bandwidth"
    drawings = ALL

    def award(self, options, observation, related):
        raise NotImplementedError

    def show(self, options, observation):
        return self.drawings


@pytest.fixture
def views(make):
    """The views of staff and student of an item that a plugin's kind draws so."""

    def views(*drawings, **keys):
        kind = type("Kind", (Bandwidth,), {"drawings": drawings, **keys})()
        quantities = {"bandwidth": make.quantity(310.0, "GB/s"), "other": make.quantity(1)}
        card = make.graded([make.item("a", "A")], [make.seen("a", 0.0, quantities=quantities)])
        values = (card.rubric, card.evidence, card.scorecard)
        kinds = {"share": kind}
        return staff_view(*values, kinds=kinds), student_view(*values, kinds=kinds, now=make.now)

    return views


def test_all_that_a_plugins_kind_shows_is_on_the_page(views):
    for view in views(*ALL):
        source = Html().render(view)
        for text in (
            "needed: 250 GB/s", "310 GB/s", "mine: 2 s, median of 2", "reading: 300 ms", ">elements<",
            ">1024<", "1 MiB", "Sizes.", "Measured twice.", "Reading in order.",
        ):  # fmt: skip
            assert text in source
        assert source.count('role="img"') == 3
        assert re.findall(r"<li>(.*?)</li>", source) == ["other: 1"]  # what is drawn is not listed again
        assert document(view)["items"][0]["look_at"] == "Reading in order."


def test_what_is_for_staff_alone_is_on_no_students_page(views):
    staff, student = views(
        Paragraph(text="The model answer is 42.", for_staff=True), Paragraph(text="Twice.")
    )
    assert "The model answer is 42." in Html().render(staff)
    assert "The model answer" not in Html().render(student)
    assert "Twice." in Html().render(student)


def test_a_mistake_in_a_plugins_show_costs_the_drawing_and_not_the_report(views):
    def show(self, options, observation):
        yield Paragraph(text="Before.")
        raise KeyError("samples")

    staff, student = map(Html().render, views(show=show))
    assert "share cannot draw this observation: KeyError: &#39;samples&#39;" in staff
    assert "KeyError" not in student
    assert "other: 1" in student


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0, 0.0, 1e300, "text", None, True])
def test_no_value_that_a_kind_may_give_breaks_a_page(views, value):
    quantity = Quantity(value=value, unit="s")
    drawings = (
        Gauge(value=value, low=value, high=value, needed=value),
        Bars(bars=(Bar(name="b", value=quantity, samples=(value,)), Bar(name="c", value=quantity))),
        Bars(title="t", whole=1.0, bars=(Bar(name="b", value=quantity),)),
        Breakdown(parts=(Bar(name="b", value=quantity),)),
        Curves(
            across="n",
            unit="s",
            lines=(CurveLine(name="l", role="measured", points=((1, 1.0), (value, value), (2, 1.0))),),
            needed=((value, value),),
        ),
        ValueTable(head=("", ""), rows=(("", quantity),), groups=(("g", 1),)),
        ValueTable(head=("",), rows=()),
    )
    for drawing in drawings:
        for view in views(drawing):
            source = Html().render(view)
            assert "nan%" not in source
            assert "inf%" not in source
            assert "cannot draw" not in source


def test_a_wrong_case_says_where_to_look_after_what_the_kind_says(make, views):
    (staff, _) = views(Advice(text="First."), Advice(text="Second."))
    assert document(staff)["items"][0]["look_at"] == "First."
    (staff, _) = views(Advice(text="Never here.", applies="decided"))
    assert document(staff)["items"][0]["look_at"] == "Never here."


def test_values_are_written_in_units_that_suit_them():
    cells = (
        ("text", "text"),
        (Quantity(value=None, unit="s"), "-"),
        (Quantity(value=0.0021, unit="s"), "2.1 ms"),
        (Quantity(value=0.5, unit="share"), "50%"),
        (Quantity(value=12_000), "12,000"),
        (Quantity(value=math.nan, unit="s"), "nan s"),
    )
    for cell, text in cells:
        assert layout.value(cell) == text


def test_no_report_names_a_kind_or_a_quantity():
    """A report that knew one would draw nothing of a plugin's kind that measures the same."""
    kinds = set(Plugins().checks)
    quantities = {"ratio", "ratio_low", "ratio_high", "threshold", "of_s", "over_s", "launches", "kernels_s"}
    facts = {"watched", "samples", "parts", "left_out", "times_beside"}
    shared = {"report", "files", "script", "manual"}  # words of plain English, too
    for path in Path(reports.__file__).parent.rglob("*.py"):
        texts = {
            node.value for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, ast.Constant)
        }
        known = texts & ((kinds | quantities | facts) - shared)
        assert known == set(), path.name


def test_the_end_of_a_program_is_advised_on_for_any_kind(make, views):
    late = make.seen("a", outcome=Outcome.TIMED_OUT, note="f() did not end within 10 s")
    card = make.graded([make.item("a", "A")], [late])
    view = staff_view(card.rubric, card.evidence, card.scorecard, kinds={"share": Bandwidth()})
    assert document(view)["items"][0]["look_at"].startswith("Loops, and waiting")


def test_a_picture_is_whole_however_long_its_text_is(views):
    png = "iVBORw0KGgo" + "A" * 30_000
    (staff, _) = views(Pictures(title="Page 1", pictures=(png, '"><script>')))
    source = Html().render(staff)
    assert f'src="data:image/png;base64,{png}"' in source
    assert "<script" not in source


@pytest.mark.parametrize(
    ("draw", "says"),
    [
        (lambda: Bar(name="mine", value=3), "value must be a Quantity, and is 3"),
        (lambda: CurveLine(name="mine", role="mine", points=()), "role must be one of measured, ideal,"),
    ],
)
def test_what_no_report_could_draw_is_refused_where_it_is_made(draw, says):
    with pytest.raises((TypeError, ValueError), match=says):
        draw()


def test_text_that_looks_like_a_template_is_text(views):
    text = "{{ 7 * 6 }}{% for x in y %}{{ config }}{# gone #}"
    drawings = (Paragraph(text=text, title=text), ValueTable(title=text, head=(text,), rows=((text,),)))
    for view in views(*drawings):
        source = Html().render(view)
        assert source.count(text) == 5  # the title of a table is its label as well
