"""A file that was not handed in is said once, at the top, with what it costs; no hint speaks of a program."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from grader.model.evidence import Evidence
from grader.model.observation import MISSING_FILE, Observation, Outcome
from grader.model.rubric import Item, Rubric
from grader.model.score import Award
from grader.model.submission import Submission
from grader.reports.html import Html
from grader.reports.score_json import ScoreJson
from grader.reports.terminal import table
from grader.reports.words import missing_files
from grader.scoring.redact import staff_view, student_view
from grader.scoring.score import score
from grader.testing.kinds import AwardOnly

SENTENCE = "work.py was not handed in, but src/work.py was: it must lie in the top folder"
HINT = "Try it on paper."


class Earned(AwardOnly):
    def award(self, options, observation, related):
        return Award(fraction=1.0, reason="right")


def item(name: str, points: float, **more) -> Item:
    return Item(
        id=name,
        title=f"Item {name}",
        points=points,
        check="k",
        options=SimpleNamespace(),
        hint=HINT,
        **more,
    )


def lost(name: str, sentence: str = SENTENCE) -> Observation:
    note = f"{sentence.partition(' ')[0]} was not handed in"
    return Observation(item=name, outcome=Outcome.REFUSED, note=note, facts={MISSING_FILE: sentence})


def card_of(items, observations):
    rubric = Rubric(name="hw", assignment="hw", points=10.0, items=tuple(items), digest="sha256:0")
    submission = Submission(
        student="ivan", assignment="hw", archive="i.zip", digest="sha256:0", files=("a.py",)
    )
    evidence = Evidence(submission=submission, runs=(), observations={one.item: one for one in observations})
    return rubric, evidence, score(rubric, evidence, {"k": Earned()})


THREE = [item("a", 3), item("b", 2.5), item("c", 4.5)]
SEEN = [lost("a"), lost("b"), Observation(item="c", outcome=Outcome.OBSERVED)]
COSTS = f"{SENTENCE}. This costs 5.5 points in 2 items."


def test_the_card_says_it_once_before_all_items():
    _, _, card = card_of(THREE, SEEN)
    lines = table(card).splitlines()
    assert "\n".join(lines[:7]) == (
        "hw  ivan\n\n"
        "  work.py was not handed in, but src/work.py was: it must lie in the top folder. This costs 5.5\n"
        "  points in 2 items.\n\n"
        "  ✗ Item a      0 / 3\n"
        "  ✗ Item b    0 / 2.5"
    )
    assert HINT not in table(card)


def test_files_that_one_item_lacks_together_are_told_with_all_that_they_cost():
    both = f"more.py was not handed in; {SENTENCE}"
    fourth = item("d", 2)
    seen = [lost("a"), lost("b", "more.py was not handed in"), lost("c", "x.py was not handed in")]
    for order in ([*seen, lost("d", both)], [lost("d", both), *seen]):
        _, _, card = card_of([*THREE, fourth], order)
        told = list(missing_files(card))
        assert min(told, key=len) == "x.py was not handed in. This costs 4.5 points in 1 item."
        (together,) = [text for text in told if not text.startswith("x.py")]
        assert together.endswith(". This costs 7.5 points in 3 items.")
        assert together.count("more.py was not handed in") == together.count(SENTENCE) == 1


def test_two_files_are_two_sentences():
    _, _, card = card_of(THREE, [lost("a"), lost("b", "more.py was not handed in"), SEEN[2]])
    text = " ".join(table(card).split())
    assert f"{SENTENCE}. This costs 3 points in 1 item." in text
    assert "more.py was not handed in. This costs 2.5 points in 1 item." in text


def test_a_file_that_is_missing_is_told_beside_what_the_item_needs_and_was_lost():
    """The page says both at once: who mends the one would hear of the other a round later."""
    items = [THREE[0], replace(THREE[1], needs=("a",)), replace(THREE[2], needs=("a",))]
    broken = Observation(item="a", outcome=Outcome.NOT_BUILT, note="a.cpp:3: expected ;")
    skipped = Observation(item="c", outcome=Outcome.SKIPPED, note="needs a")
    rubric, evidence, card = card_of(items, [broken, lost("b"), skipped])
    text = " ".join(table(card).split())
    assert f"{SENTENCE}. This costs 2.5 points in 1 item." in text
    assert [line.reason for line in card.lines] == [
        "a.cpp:3: expected ;",
        "work.py was not handed in",
        'skipped: needs "Item a"',
    ]
    page = Html().render(student_view(rubric, evidence, card, now=datetime(2026, 1, 1, tzinfo=UTC)))
    assert "7.5 points lost" in page
    assert "Nothing else could be looked at in 1 item: mend this first." in page


def test_what_needs_an_item_without_its_file_is_part_of_the_cost():
    items = [THREE[0], replace(THREE[1], needs=("a",)), replace(THREE[2], needs=("b",))]
    skipped = [Observation(item=name, outcome=Outcome.SKIPPED, note="") for name in "bc"]
    _, _, card = card_of(items, [lost("a"), *skipped])
    assert f"{SENTENCE}. This costs 10 points in 3 items." in " ".join(table(card).split())


def test_pages_and_json_say_it_as_well():
    rubric, evidence, card = card_of(THREE, SEEN)
    view = staff_view(rubric, evidence, card)
    assert Html().render(view).count(f'<p class="missing">{COSTS}</p>') == 1
    assert json.loads(ScoreJson().render(view))["missing"] == [COSTS]


def test_where_nothing_is_missing_nothing_is_said():
    rubric, evidence, card = card_of(THREE[2:], SEEN[2:])
    view = staff_view(rubric, evidence, card)
    assert 'class="missing"' not in Html().render(view)
    assert json.loads(ScoreJson().render(view))["missing"] == []
    assert "handed in" not in table(card)


@pytest.mark.parametrize("hidden", [{"visible": "never"}, {"uses": ("z",)}])
def test_what_a_student_must_not_see_is_not_counted(hidden):
    items = [THREE[0], replace(THREE[1], **hidden), THREE[2], item("z", 1, visible="never")]
    rubric, evidence, card = card_of(items, [*SEEN, Observation(item="z", outcome=Outcome.OBSERVED)])
    view = student_view(rubric, evidence, card, now=datetime(2026, 1, 1, tzinfo=UTC))
    assert json.loads(ScoreJson().render(view))["missing"] == [f"{SENTENCE}. This costs 3 points in 1 item."]
