"""`results.json` of Gradescope, as its specification has it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from grader.contracts.exporter import Rules
from grader.lms.gradescope import Gradescope, refusal
from grader.model.observation import Outcome
from grader.model.rubric import LatePolicy

FORMATS = {"text", "html", "simple_format", "md", "ansi"}
VISIBILITIES = {"hidden", "after_due_date", "after_published", "visible"}
KEYS = {
    "score": (int, float),
    "output": str,
    "output_format": FORMATS,
    "test_output_format": FORMATS,
    "test_name_format": FORMATS,
    "visibility": VISIBILITIES,
    "stdout_visibility": VISIBILITIES,
    "tests": list,
}
TEST_KEYS = {
    "score": (int, float),
    "max_score": (int, float),
    "status": {"passed", "failed"},
    "name": str,
    "name_format": FORMATS,
    "number": str,
    "output": str,
    "output_format": FORMATS,
    "visibility": VISIBILITIES,
}
DUE = datetime(2024, 12, 20, tzinfo=UTC)


def assert_specified(values, keys):
    for name, value in values.items():
        allowed = keys[name]
        assert value in allowed if isinstance(allowed, set) else isinstance(value, allowed), name


def results(view, **rules):
    read = json.loads(Gradescope().render(view, Rules(**rules)))
    assert_specified(read, KEYS)
    for test in read["tests"]:
        assert_specified(test, TEST_KEYS)
    return read


def test_a_grade_is_a_test_per_item_and_their_score(lms):
    items = [lms.item("a", 2.0), lms.item("b", 3.0, hint="Look again.")]
    read = results(lms.view(items, [lms.observe("a"), lms.observe("b", 1 / 3)]))
    assert read == {
        "score": 3.0,
        "output": "Final.",
        "output_format": "text",
        "test_name_format": "text",
        "test_output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [
            {
                "name": "title of a",
                "name_format": "text",
                "number": "1",
                "output": "earned (2 / 2): reason of a\nprinted:\n| printed by a",
                "output_format": "text",
                "visibility": "visible",
                "max_score": 2.0,
                "score": 2.0,
                "status": "passed",
            },
            {
                "name": "title of b",
                "name_format": "text",
                "number": "2",
                "output": "partly earned (1 / 3): reason of b\nhint: Look again.\ncase of b: note of b\n"
                "  called called b\n  returned returned b\n  expected expected b\nprinted:\n| printed by b",
                "output_format": "text",
                "visibility": "visible",
                "max_score": 3.0,
                "score": 1.0,
                "status": "failed",
            },
        ],
    }


@pytest.mark.parametrize("visible", ["never", "after_due", "after_published"])
def test_nothing_of_a_hidden_item_is_left(lms, visible):
    items = [lms.item("a", 2.0), lms.item("secret", 5.0, visible=visible, hint="secret")]
    view = lms.view(items, due=datetime(2999, 1, 1, tzinfo=UTC))
    text = Gradescope().render(view, Rules())
    assert "secret" not in text
    read = json.loads(text)
    assert (read["score"], len(read["tests"])) == (2.0, 1)
    assert "These are the points of the items that are shown here." in read["output"]
    assert ("1 item is shown later." in read["output"]) == (visible != "never")


def test_an_item_that_is_shown_after_the_deadline_is_there_after_it(lms):
    items = [lms.item("a", 2.0), lms.item("late", 5.0, visible="after_due")]
    assert results(lms.view(items, due=DUE))["score"] == 7.0


def test_the_view_of_staff_is_refused(lms):
    with pytest.raises(ValueError, match="the student's view"):
        Gradescope().render(lms.view(audience="staff"), Rules())


def test_what_is_open_has_no_score_and_no_status_and_is_seen_by_staff_alone(lms):
    items = [lms.item("a", 2.0), lms.item("gpu", 3.0)]
    view = lms.view(items, [lms.observe("a"), lms.observe("gpu", outcome=Outcome.NOT_OBSERVED)])
    read = results(view)
    assert read["visibility"] == "hidden"
    assert read["score"] == 2.0
    assert "3 points still open, neither earned nor lost" in read["output"]
    assert read["tests"][1].keys().isdisjoint({"score", "status"})
    assert results(view, include_provisional=True)["visibility"] == "visible"


def test_what_is_held_is_seen_by_staff_alone_and_says_nothing_of_why(lms):
    view = lms.view([lms.item(on_flag="holds")], [lms.observe(flags=("looks copied",))])
    text = Gradescope().render(view, Rules())
    assert json.loads(text)["visibility"] == "hidden"
    assert "copied" not in text


def test_bonus_and_penalty_make_the_assignment_worth_no_more(lms):
    items = [lms.item("a", 2.0), lms.item("b", 1.0, counts="bonus"), lms.item("c", 1.0, counts="penalty")]
    read = results(lms.view(items, [lms.observe("a"), lms.observe("b"), lms.observe("c", 0.5)]))
    assert [(test["score"], test["max_score"]) for test in read["tests"]] == [(2.0, 2.0), (1.0, 0), (-0.5, 0)]
    assert read["score"] == 2.5
    assert "2 points earned, +1 bonus, -0.5 penalty: 2.5." in read["output"]


def test_the_score_is_after_the_late_rule_which_is_told(lms):
    late = {"due": DUE, "late": LatePolicy(per_day=0.1), "submitted_at": DUE + timedelta(hours=2)}
    read = results(lms.view(**late))
    assert read["score"] == 9.0
    assert "Handed in 2 hours late" in read["output"]


def test_of_a_team_the_one_with_more_time_does_not_lose_and_both_are_told(lms):
    late = {"due": DUE, "late": LatePolicy(per_day=0.1), "submitted_at": DUE + timedelta(hours=2)}
    view = lms.view(members=("ann", "bob"), extensions={"bob": 86_400.0}, **late)
    read = results(view)
    assert read["score"] == 10.0
    assert read["output"].startswith("ann: 9 points\nbob: 10 points\n")


def test_no_character_that_a_terminal_obeys_is_in_any_text(lms):
    hostile = "\x1b[2J\x07\u202e<script>"
    observation = replace(lms.observe(), output=hostile)
    read = results(lms.view([lms.item(title=hostile, hint=hostile)], [observation]))
    (test,) = read["tests"]
    texts = test["name"] + test["output"] + read["output"]
    assert {"\x1b", "\x07", "\u202e"}.isdisjoint(texts)
    assert "\\x1b" in test["name"]
    assert (test["name_format"], test["output_format"]) == ("text", "text"), "never html"


def test_a_long_text_is_cut_in_its_middle(lms):
    observation = replace(lms.observe(), output="x" * 100_000)
    (test,) = results(lms.view(observations=[observation]))["tests"]
    assert len(test["output"]) < 21_000
    assert "characters left out" in test["output"]


def test_who_is_refused_reads_why():
    read = json.loads(refusal("ann.tar.gz: is no archive\x1b[31m"))
    assert_specified(read, KEYS)
    assert (read["score"], read["tests"], read["visibility"]) == (0, [], "visible")
    assert read["output"] == "ann.tar.gz: is no archive\\x1b[31m"
