"""Desired grades contain nothing that students may not see."""

from __future__ import annotations

from decimal import Decimal
from types import SimpleNamespace

import pytest

from grader.cli.desired import _criteria, criteria_of
from grader.contracts.platform import Target
from grader.errors import CourseError
from grader.model.score import Line, Standing


def line(item, *, visible="always", fraction=0.5):
    return Line(
        item=item,
        title=item,
        points=1.5,
        possible=3.0,
        reason="",
        standing=Standing.FINAL,
        outcome="observed",
        visible=visible,
        fraction=fraction,
    )


def criteria(*lines, **named):
    return _criteria(SimpleNamespace(card=SimpleNamespace(lines=lines)), named, "course.yaml: here")


def test_points_of_items_go_to_their_criteria_but_for_those_that_are_open():
    points = criteria(line("a"), line("b", fraction=None), line("c"), a="_1", b="_2")
    assert points == {"_1": Decimal("1.5")}


@pytest.mark.parametrize("visible", ["after_due", "after_published", "never"])
def test_an_item_that_students_do_not_always_see_cannot_be_one(visible):
    with pytest.raises(CourseError, match=r"course\.yaml: here\.a: students do not always see this item"):
        criteria(line("a", visible=visible), a="_1")


def test_where_the_platform_takes_none_there_are_none():
    assert criteria_of({"a": "_1"}, Target(key="k", title="t"), "here") == {}
    target = Target(key="k", title="t", criteria={"_1": "Right"})
    assert criteria_of({"a": "_1"}, target, "here") == {"a": "_1"}
    with pytest.raises(
        CourseError, match=r"here\.a: no criterion there is called _2; there are _1 \(Right\)"
    ):
        criteria_of({"a": "_2"}, target, "here")
