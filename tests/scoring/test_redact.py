from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.config.codec import to_plain
from grader.model.evidence import Evidence, WorkerRun
from grader.model.observation import Case, Fault, Observation, Outcome, Quantity
from grader.model.rubric import Item, LatePolicy, Rubric
from grader.model.score import Award, Standing
from grader.model.submission import Submission
from grader.reports.html import Html
from grader.reports.junit import JUnit
from grader.reports.score_json import ScoreJson
from grader.scoring.redact import BESIDE, SHARED, WAITS, closes, staff_view, student_view
from grader.scoring.score import score
from grader.testing.kinds import AwardOnly

NOW = datetime(2024, 12, 24, 12, 0, tzinfo=UTC)
FORMATS = (Html, JUnit, ScoreJson)


class Telling(AwardOnly):
    """A kind that tells everything it sees in its reason, hint and flags, also of items it uses."""

    name = "telling"

    def award(self, options, observation, related):
        told = " ".join(
            case.returned for seen in (observation, *related.values()) for case in seen.cases
        ) + " ".join(related)
        return Award(fraction=observation.facts["share"], reason=told, hint=told, flags=(told,))


KINDS = {"telling": Telling()}


def item(name, **keys):
    values = {"points": 4.0, "title": f"Title of {name}.", **keys}
    return Item(id=name, check="telling", options=SimpleNamespace(of=f"function_of_{name}."), **values)


def seen(name, share=1.0, outcome=Outcome.OBSERVED, also="", **keys):
    """An observation whose every text says whose it is; `also` is what a shared child could know besides."""
    told = f"told_by_{name}. {also}"
    case = Case(
        name=told,
        outcome=outcome,
        agrees={told: share == 1},
        called=told,
        returned=told,
        expected=told,
        note=told,
        inputs=[told],
        quantities={told: Quantity(value=told)},
        changed_inputs=(told,),
    )
    values = {
        "note": told,
        "cases": (case,),
        "output": told,
        "facts": {"share": share, "said": told},
        "quantities": {told: Quantity(value=told)},
        **keys,
    }
    return Observation(item=name, outcome=outcome, **values)


def marked(items, observations, **keys):
    hw = Rubric(
        name="hw",
        assignment="hw",
        points=sum(i.points for i in items if i.counts == "earns"),
        items=tuple(items),
        **keys,
    )
    submission = Submission(
        student="alice", assignment="hw", archive="alice.zip", digest="", files=(), submitted_at=NOW
    )
    run = WorkerRun(id="e", started_at="2024-12-24T10:11:12+00:00", isolation="bubblewrap")
    ev = Evidence(submission=submission, runs=(run,), observations={o.item: o for o in observations})
    return hw, ev, score(hw, ev, KINDS)


def lines(view):
    return {line.item: line for line in view.scorecard.lines}


def everything(view):
    """Whatever any file for the student could say."""
    files = "".join(report().render(view) for report in FORMATS)
    return files + json.dumps(to_plain(replace(view, rubric=replace(view.rubric, items=()))))


@pytest.mark.parametrize(
    ("visible", "now", "published", "shown"),
    [
        ("always", NOW, False, True),
        ("after_due", NOW - timedelta(days=1), False, False),
        ("after_due", NOW, False, False),
        ("after_due", NOW + timedelta(seconds=1), False, True),
        ("after_published", NOW + timedelta(days=9), False, False),
        ("after_published", NOW - timedelta(days=9), True, True),
        ("never", NOW + timedelta(days=9), True, False),
    ],
)
def test_an_item_is_shown_when_its_time_has_come(visible, now, published, shown):
    view = student_view(
        *marked([item("a", visible=visible)], [seen("a")]), now=now, published=published, closes=NOW
    )
    assert ("a" in lines(view)) == shown
    assert view.whole == shown
    assert view.later == (not shown and visible != "never")


def test_without_a_deadline_nothing_is_after_it():
    view = student_view(*marked([item("a", visible="after_due")], [seen("a")]), now=NOW, closes=None)
    assert lines(view) == {}


def test_nobody_sees_after_the_deadline_what_helps_somebody_with_more_time():
    hw, _, _ = marked([item("a")], [seen("a")], due=NOW, late=LatePolicy(grace_s=60.0))
    assert closes(hw, {}) == NOW + timedelta(minutes=1)
    assert closes(hw, {"bob": 86_400.0, "eve": 60.0}) == NOW + timedelta(days=1, minutes=1)
    assert closes(replace(hw, due=None), {"bob": 60.0}) is None


def test_staff_sees_everything():
    case = marked([item("a", visible="never")], [seen("a")])
    view = staff_view(*case)
    assert (view.rubric, view.evidence, view.scorecard) == case
    assert view.whole


def test_sums_are_those_of_what_is_shown_and_not_final():
    items = [
        item("a", points=4.0),
        item("b", points=5.0, visible="never"),
        item("c", counts="bonus", points=2.0),
        item("d", counts="penalty", visible="never"),
    ]
    case = marked(items, [seen("a"), seen("b", 0.0), seen("c"), seen("d", 0.0)])
    card = student_view(*case, now=NOW).scorecard
    assert (card.points.raw, card.points.possible, card.points.penalty) == (6.0, 4.0, 0.0)
    assert (card.totals[0].adjusted, card.totals[0].final) == (6.0, None)


def test_lateness_takes_its_share_of_what_is_shown():
    items = [item("a", points=10.0), item("b", points=10.0, visible="never")]
    late = LatePolicy(per_day=0.1)
    case = marked(items, [seen("a"), seen("b")], due=NOW - timedelta(hours=1), late=late)
    (total,) = student_view(*case, now=NOW).scorecard.totals
    assert (total.adjusted, total.late.lost) == (9.0, 1.0)


def test_flags_are_for_staff():
    case = marked([item("a", on_flag="holds")], [seen("a")])
    view = student_view(*case, now=NOW)
    assert case[2].lines[0].flags
    assert lines(view)["a"].flags == ()
    assert view.scorecard.standing is Standing.HELD


def test_a_gate_that_is_not_shown_is_not_named():
    items = [item("open", needs=("gate",)), item("gate", visible="never")]
    for gate in (seen("gate", 0.0), seen("gate", outcome=Outcome.NOT_OBSERVED)):
        case = marked(items, [seen("open", outcome=Outcome.SKIPPED, note="needs gate"), gate])
        view = student_view(*case, now=NOW)
        assert lines(view)["open"].reason == WAITS
        assert "gate" not in everything(view)


def test_what_an_run_said_of_a_gate_that_has_passed_since_is_not_told():
    items = [item("open", needs=("gate",)), item("gate", visible="never")]
    late = seen(
        "open", outcome=Outcome.NOT_OBSERVED, note="waits for gate", cases=(), output="", quantities={}
    )
    view = student_view(*marked(items, [late, seen("gate")]), now=NOW)
    assert lines(view)["open"].reason == WAITS
    assert "gate" not in everything(view)


def test_a_gate_that_let_the_item_pass_hides_nothing_of_it():
    items = [item("open", needs=("gate",), hint="try"), item("gate", visible="never")]
    view = student_view(*marked(items, [seen("open", 0.5), seen("gate")]), now=NOW)
    assert lines(view)["open"].reason == "told_by_open. "
    assert view.evidence.observations["open"].cases


def test_what_is_judged_together_with_something_hidden_tells_nothing_of_it_at_any_remove():
    items = [
        item("sum", uses=("part",), hint="try"),
        item("part", uses=("hidden",)),
        item("hidden", visible="never"),
    ]
    view = student_view(*marked(items, [seen("sum", 0.5), seen("part"), seen("hidden")]), now=NOW)
    assert {name: line.reason for name, line in lines(view).items()} == {"sum": BESIDE, "part": BESIDE}
    assert (lines(view)["sum"].hint, lines(view)["sum"].points) == ("try", 2.0)
    assert "hidden" not in everything(view).replace("overflow: hidden", "").replace("aria-hidden", "")


def test_what_ran_in_one_child_with_something_hidden_is_not_shown():
    items = [item("a", group="g"), item("b", group="g", visible="never"), item("c", group="other")]
    case = marked(items, [seen("a", 0.0, also="told_by_b."), seen("b"), seen("c")])
    view = student_view(*case, now=NOW)
    assert lines(view)["a"].reason == SHARED
    assert "told_by_b." not in everything(view)
    assert view.evidence.observations["c"].output == "told_by_c. "


NAMES = tuple(f"zq{number}qz" for number in range(6))
"""Ids that stand in no file by chance."""


def test_what_is_judged_by_what_ran_together_with_something_hidden_is_not_told_either():
    items = [item("sum", uses=("part",)), item("part", group="g"), item("b", group="g", visible="never")]
    case = marked(items, [seen("sum"), seen("part", also="told_by_b."), seen("b")])
    view = student_view(*case, now=NOW)
    assert "told_by_b." in case[2].lines[0].reason
    assert "told_by_b." not in everything(view)


@st.composite
def courses(draw):
    """Items that need, use and run together with each other in every way, and what was seen of them."""
    size = draw(st.integers(1, 6))
    items, observations = [], []
    groups = draw(st.lists(st.sampled_from(["", "", "g", "h"]), min_size=size, max_size=size))
    for i in range(size):
        others = [NAMES[k] for k in range(i)]
        links = st.lists(st.sampled_from(others), max_size=2, unique=True) if others else st.just([])
        items.append(
            item(
                NAMES[i],
                needs=tuple(draw(links)),
                uses=tuple(draw(links)),
                visible=draw(st.sampled_from(["always", "after_due", "after_published", "never"])),
                counts=draw(st.sampled_from(["earns", "bonus", "penalty"])),
                group=groups[i],
                hint="",
            )
        )
        outcome = draw(st.none() | st.sampled_from([Outcome.OBSERVED, Outcome.OBSERVED, *Outcome]))
        if outcome is None:
            continue
        share = draw(st.sampled_from([0.0, 0.5, 1.0]))
        # What the worker writes of a gate, and what a program in a shared child could have kept.
        if outcome in (Outcome.SKIPPED, Outcome.NOT_OBSERVED):
            told = {"note": f"needs {' '.join(items[i].needs)}.", "cases": (), "output": "", "quantities": {}}
            told["fault"] = draw(st.none() | st.sampled_from(Fault)) if outcome == "not_observed" else None
        else:
            told = {}
        shared = [f"told_by_{NAMES[k]}." for k in range(size) if groups[i] and groups[k] == groups[i]]
        observations.append(seen(NAMES[i], share, outcome, also=" ".join(shared), **told))
    return items, observations


@given(courses(), st.sampled_from([None, NOW - timedelta(1), NOW + timedelta(1)]), st.booleans())
def test_nothing_of_a_hidden_item_is_anywhere_in_the_files_of_a_student(course, closes_at, published):
    items, observations = course
    case = marked(items, observations)
    view = student_view(*case, now=NOW, published=published, closes=closes_at)
    told = everything(view)
    named = {name for kept in view.rubric.items for name in (kept.id, *kept.needs, *kept.uses)}
    assert named == set(lines(view))
    for hidden in {i.id for i in items} - set(lines(view)):
        assert hidden not in told


@given(courses())
def test_what_nothing_hidden_touches_is_shown_as_it_is(course):
    items, observations = course
    items = [replace(i, visible="always") for i in items]
    observations = [replace(o, fault=None) for o in observations]  # a fault has words of its own
    hw, ev, card = marked(items, observations)
    view = student_view(hw, ev, card, now=NOW)
    assert view.evidence == ev
    assert view.scorecard == replace(card, lines=tuple(replace(line, flags=()) for line in card.lines))
    assert view.rubric == hw
