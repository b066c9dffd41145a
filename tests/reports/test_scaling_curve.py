"""The time over the number of cores as a drawing, with the same in words for whoever does not see it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from grader.checks.drawings.cores import cores_left_out, curves_over_cores
from grader.model.drawing import listed
from grader.reports.html import Html
from grader.reports.layout import BOTTOM, LEFT, RIGHT, TOP

ASKED = {"4": 3.0}
NOTHING = {}


@pytest.fixture
def scaling_curve(make):
    return lambda observation, at_least: make.rendered(curves_over_cores(observation, at_least))


def lines(source, name):
    """The ends of the lines of one curve."""
    drawing = source.partition("<figcaption")[0]
    found = re.findall(
        rf'<line class="{name}" x1="([\d.]+)%" x2="([\d.]+)%" y1="([\d.]+)" y2="([\d.]+)"/>', drawing
    )
    return [tuple(map(float, ends)) for ends in found]


@pytest.fixture
def observed(make):
    return lambda *times, **keys: make.seen("a", **make.curve(*times, **keys))


def test_the_curve_is_told_in_words(observed, scaling_curve):
    source = scaling_curve(observed(0.4, 0.2, 0.16), ASKED)
    assert 'role="img" aria-label="Time over cores: 400 ms on 1, 200 ms on 2, 160 ms on 4"' in source
    assert "On 2 cores 2 times faster than on 1; on 4 cores 2.5 times faster than on 1 (3 needed)." in source


def test_half_the_time_on_twice_the_cores_is_a_straight_line(observed, scaling_curve):
    source = scaling_curve(observed(0.4, 0.2, 0.1), NOTHING)
    own, ideal = lines(source, "measured"), lines(source, "ideal")
    assert own == ideal
    (x1, x2, y1, y2), (x3, x4, y3, y4) = own
    assert (x1, x4) == (LEFT, RIGHT)
    assert TOP <= y1 < y2 == y3 < y4 <= BOTTOM
    assert (x2 - x1, y2 - y1) == pytest.approx((x4 - x3, y4 - y3), abs=0.2)


def test_what_does_not_get_faster_stays_above_the_ideal(observed, scaling_curve):
    source = scaling_curve(observed(0.4, 0.4), NOTHING)
    assert lines(source, "measured")[0][3] < lines(source, "ideal")[0][3]


def test_what_is_needed_is_marked_where_it_is_asked_for_now(observed, scaling_curve):
    observation = observed(0.4, 0.2, 0.16)
    ((x1, x2, y1, y2),) = lines(scaling_curve(observation, ASKED), "needed")
    assert x1 < x2 == RIGHT
    assert (
        y1 == y2 > lines(scaling_curve(observation, ASKED), "measured")[1][3]
    )  # faster than it is: further down
    assert "needed" not in scaling_curve(observation, NOTHING)


def test_every_sample_is_drawn(observed, scaling_curve):
    assert scaling_curve(observed(0.4, 0.2), NOTHING).count("<circle") == 10


def test_a_reference_that_was_not_timed_is_not_drawn(observed, scaling_curve):
    observation = observed(0.4, 0.2)
    assert lines(scaling_curve(observation, NOTHING), "reference")
    samples = {name: ones for name, ones in observation.facts["samples"].items() if "ref" not in name}
    facts = dict(observation.facts) | {"samples": samples}
    alone = scaling_curve(replace(observation, facts=facts), NOTHING)
    assert not lines(alone, "reference")
    assert "the reference" not in alone


def test_labels_that_would_cover_each_other_are_left_out(make, scaling_curve):
    quantities = {f"seconds_{n}": make.quantity(1 / n, "s") for n in range(1, 17)}
    facts = {"cores": list(range(1, 17))}
    source = scaling_curve(make.seen("a", quantities=quantities, facts=facts), NOTHING)
    assert ">1</text>" in source
    assert ">16</text>" not in source


@pytest.mark.parametrize("value", ["fast", None, True, 0.0, -1.0, float("nan"), float("inf")])
def test_what_is_no_time_makes_no_curve(make, scaling_curve, value):
    quantities = {"seconds_1": make.quantity(1.0), "seconds_2": make.quantity(value)}
    seen = make.seen("a", quantities=quantities, facts={"cores": [1, 2]})
    assert "<svg" not in scaling_curve(seen, NOTHING)


def test_cores_that_were_not_there_are_named(observed):
    (sentence,) = cores_left_out(observed(0.4, left_out=(8, 16)))
    assert "8, 16 cores, which this machine did not have" in sentence.text
    assert not list(cores_left_out(observed(0.4)))


def test_only_what_is_drawn_is_not_listed_again(make):
    quantities = {"seconds_1", "seconds_2", "factor_2"}
    assert listed(curves_over_cores(make.seen("a", **make.curve(0.4, 0.2)), NOTHING)) >= quantities
    items = [make.item("a", "A", check="scaling", options=make.curve_options)]
    both = Html().render(make.graded(items, [make.seen("a", **make.curve(0.4, 0.2))]).staff)
    one = Html().render(make.graded(items, [make.seen("a", **make.curve(0.4, left_out=(2,)))]).staff)
    assert "seconds 1" not in both
    assert "seconds 1: 400 ms" in one
