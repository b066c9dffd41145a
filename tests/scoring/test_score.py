from __future__ import annotations

import math
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.model.evidence import Evidence
from grader.model.observation import STUDENTS_DOING, Case, Observation, Outcome
from grader.model.rubric import Item, LatePolicy, Rubric
from grader.model.score import Award, Standing
from grader.model.submission import Submission
from grader.scoring.score import CHANGED_INPUTS, REASONS, passed, score


class Share:
    """A guest's kind: the observation itself says which share it earns."""

    name = "share"

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        hint: str = ""

    def observe(self, options, bench):
        raise NotImplementedError

    def award(self, options, observation, related):
        return Award(
            fraction=observation.facts["share"],
            reason=f"{observation.facts['share']} beside {sorted(related)}",
            hint=options.hint,
        )


KINDS = {"share": Share()}


def item(name, points=4.0, *, hint_of_kind="", **keys):
    return Item(
        id=name,
        title=f"Title of {name}",
        points=points,
        check="share",
        options=Share.Options(hint=hint_of_kind),
        **keys,
    )


def seen(name, share=1.0, outcome=Outcome.OBSERVED, **keys):
    return Observation(item=name, outcome=outcome, facts={"share": share}, **keys)


def rubric(*items, **keys):
    return Rubric(
        name="hw",
        assignment="hw",
        points=sum(i.points for i in items),
        items=items,
        digest="sha256:r",
        **keys,
    )


def evidence(*observations):
    return Evidence(
        submission=Submission(
            student="alice", assignment="hw", archive="alice.tar.gz", digest="sha256:s", files=("a.py",)
        ),
        exams=(),
        observations={o.item: o for o in observations},
    )


def line_of(card, name):
    return next(line for line in card.lines if line.item == name)


def test_a_card_says_whose_work_under_which_rubric():
    card = score(rubric(item("a")), evidence(seen("a")), KINDS)
    assert (card.student, card.assignment, card.rubric) == ("alice", "hw", "hw")
    assert (card.rubric_digest, card.submission_digest) == ("sha256:r", "sha256:s")


def test_lines_stand_in_the_order_of_the_rubric_whatever_needs_what():
    items = (item("c", needs=("b",)), item("b", needs=("a",)), item("a"))
    card = score(rubric(*items), evidence(seen("a"), seen("b"), seen("c")), KINDS)
    assert [line.item for line in card.lines] == ["c", "b", "a"]
    assert card.points == card.possible == 12.0
    assert card.standing is Standing.FINAL


def test_a_part_of_the_fraction_is_a_part_of_the_points_and_gets_the_hint():
    card = score(rubric(item("a", hint="look again")), evidence(seen("a", 0.75)), KINDS)
    assert line_of(card, "a").points == 3.0
    assert line_of(card, "a").hint == "look again"


def test_the_hint_of_the_kind_knows_more_than_that_of_the_rubric():
    card = score(rubric(item("a", hint="general", hint_of_kind="special")), evidence(seen("a", 0.5)), KINDS)
    assert line_of(card, "a").hint == "special"


def test_who_earned_everything_gets_no_hint():
    card = score(rubric(item("a", hint="general", hint_of_kind="special")), evidence(seen("a")), KINDS)
    assert line_of(card, "a").hint == ""


def test_ten_tenths_are_one_point():
    items = [item(f"a{i}", 0.1) for i in range(10)]
    card = score(rubric(*items), evidence(*(seen(i.id) for i in items)), KINDS)
    assert card.points == 1.0


@pytest.mark.parametrize("outcome", sorted(STUDENTS_DOING))
def test_what_the_program_did_wrong_is_a_final_zero_with_the_words_of_the_observation(outcome):
    card = score(
        rubric(item("a", hint="h"), item("b")),
        evidence(seen("a", outcome=outcome, note="ended in a ZeroDivisionError"), seen("b", outcome=outcome)),
        KINDS,
    )
    a, b = card.lines
    assert (a.points, a.standing, a.outcome) == (0.0, Standing.FINAL, outcome.value)
    assert (a.reason, a.hint) == ("ended in a ZeroDivisionError", "h")
    assert b.reason == REASONS[outcome]
    assert card.pending == 0.0


def test_what_was_not_observed_is_pending_and_not_lost():
    card = score(
        rubric(item("a", hint="h"), item("b", 2.0), item("c")),
        evidence(seen("a", outcome=Outcome.NOT_OBSERVED, note="no GPU here"), seen("c")),
        KINDS,
    )
    a, b, c = card.lines
    assert (a.standing, a.reason, a.hint) == (Standing.PROVISIONAL, "no GPU here", "")
    assert (b.standing, b.outcome) == (Standing.PROVISIONAL, "missing")
    assert c.standing is Standing.FINAL
    assert (card.points, card.pending, card.possible) == (4.0, 6.0, 10.0)
    assert card.standing is Standing.PROVISIONAL


def test_an_item_whose_need_earned_only_a_part_is_not_counted_and_says_why():
    card = score(
        rubric(item("fast", needs=("right",), hint="h"), item("right")),
        evidence(seen("right", 0.99), seen("fast")),
        KINDS,
    )
    fast = line_of(card, "fast")
    assert (fast.points, fast.standing) == (0.0, Standing.FINAL)
    assert fast.reason == "not counted: needs right (Title of right)"
    assert fast.hint == ""


def test_an_item_the_examiner_skipped_stays_skipped_while_its_need_fails():
    card = score(
        rubric(item("fast", needs=("right",)), item("right")),
        evidence(seen("right", outcome=Outcome.CRASHED), seen("fast", outcome=Outcome.SKIPPED)),
        KINDS,
    )
    fast = line_of(card, "fast")
    assert (fast.points, fast.standing) == (0.0, Standing.FINAL)
    assert fast.reason == "skipped: needs right (Title of right)"


def test_a_skipped_item_must_run_again_once_a_changed_rubric_lets_its_need_pass():
    card = score(
        rubric(item("fast", needs=("right",)), item("right")),
        evidence(seen("right"), seen("fast", outcome=Outcome.SKIPPED, note="needs right")),
        KINDS,
    )
    fast = line_of(card, "fast")
    assert fast.standing is Standing.PROVISIONAL
    assert "must run again" in fast.reason
    assert card.pending == 4.0


def test_an_item_is_pending_while_its_need_is():
    card = score(
        rubric(item("fast", needs=("right",)), item("right")),
        evidence(seen("right", outcome=Outcome.NOT_OBSERVED), seen("fast")),
        KINDS,
    )
    fast = line_of(card, "fast")
    assert (fast.points, fast.standing) == (0.0, Standing.PROVISIONAL)
    assert fast.reason == "waits for right (Title of right)"
    assert card.pending == 8.0


def test_one_lost_need_decides_even_while_another_is_open():
    card = score(
        rubric(item("fast", needs=("right", "built")), item("right"), item("built")),
        evidence(seen("right", 0.0), seen("fast")),
        KINDS,
    )
    assert line_of(card, "fast").standing is Standing.FINAL
    assert card.pending == 4.0


def test_a_need_worth_no_points_still_gates():
    card = score(
        rubric(item("right", needs=("built",)), item("built", 0.0)),
        evidence(seen("built", 0.0), seen("right")),
        KINDS,
    )
    assert card.points == 0.0


def test_a_kind_sees_the_observations_it_uses_and_waits_for_those_that_are_open():
    items = (item("report", uses=("fast", "slow")), item("fast"), item("slow"))
    both = score(rubric(*items), evidence(seen("report"), seen("fast"), seen("slow", 0.0)), KINDS)
    one = score(rubric(*items), evidence(seen("report"), seen("fast")), KINDS)
    assert both.lines[0].reason == "1.0 beside ['fast', 'slow']"
    assert (one.lines[0].standing, one.lines[0].reason) == (Standing.PROVISIONAL, "waits for slow")


def test_full_marks_with_changed_inputs_are_flagged_for_a_person():
    case = Case(name="odd", outcome=Outcome.OBSERVED, changed_inputs=("argument 1",))
    items = (item("a"), item("b"), item("c"))
    card = score(
        rubric(*items), evidence(seen("a", cases=(case,)), seen("b", 0.5, cases=(case,)), seen("c")), KINDS
    )
    assert [line.flags for line in card.lines] == [(CHANGED_INPUTS,), (), ()]


@pytest.mark.parametrize("share", [math.nan, math.inf, -0.01, 1.01])
def test_a_fraction_that_is_none_is_our_bug_and_names_kind_and_item(share):
    with pytest.raises(ValueError, match=r"'share'.*'a'"):
        score(rubric(item("a")), evidence(seen("a", share)), KINDS)


@pytest.mark.parametrize("share", [math.nextafter(1.0, 2.0), math.nextafter(1.0, 0.0)])
def test_a_sum_of_weights_that_rounds_beside_one_is_one(share):
    card = score(rubric(item("a", 3.0)), evidence(seen("a", share)), KINDS)
    assert card.points == 3.0
    assert passed(item("a"), seen("a", share), KINDS, {})


def test_lateness_leaves_the_raw_total_alone():
    late = LatePolicy(per_day=0.1)
    card = score(rubric(item("a", 10.0), late=late), evidence(seen("a")), KINDS, late_s=60.0)
    unknown = score(rubric(item("a", 10.0), late=late), evidence(seen("a")), KINDS)
    assert (card.points, card.late_points) == (10.0, 9.0)
    assert unknown.late_points == 10.0


def test_passed_means_everything_was_earned():
    assert passed(item("a"), seen("a"), KINDS, {})
    assert not passed(item("a"), seen("a", 0.999), KINDS, {})
    assert not passed(item("a"), seen("a", outcome=Outcome.CRASHED), KINDS, {})
    assert not passed(item("a"), seen("a", outcome=Outcome.NOT_OBSERVED), KINDS, {})


def test_an_item_that_uses_another_cannot_pass_before_that_one_was_observed():
    report = item("report", uses=("fast",))
    assert not passed(report, seen("report"), KINDS, {})
    assert passed(report, seen("report"), KINDS, {"fast": seen("fast", 0.0)})


@st.composite
def marked(draw):
    """A rubric whose `needs` point anywhere without a circle, and evidence of any kind for it."""
    size = draw(st.integers(0, 8))
    items, observations = [], []
    for i in range(size):
        needs = draw(st.sets(st.integers(0, i - 1), max_size=3)) if i else set()
        points = draw(st.integers(0, 40)) / 4 if draw(st.booleans()) else draw(st.floats(0, 50))
        items.append(item(f"i{i}", points, needs=tuple(f"i{n}" for n in needs)))
        outcome = draw(st.none() | st.sampled_from(Outcome))
        if outcome is not None:
            share = draw(st.sampled_from([0.0, 1.0, 1.0, 1 / 3]) | st.floats(0, 1))
            observations.append(seen(f"i{i}", share, outcome))
    return rubric(*draw(st.permutations(items))), evidence(*observations)


@given(marked())
def test_points_and_pending_points_stay_within_what_is_possible(case):
    card = score(*case, KINDS)
    assert 0 <= card.points <= card.possible
    assert card.pending >= 0
    assert card.points + card.pending <= card.possible + 1e-9
    assert all(0 <= line.points <= line.possible + 1e-9 for line in card.lines)
    assert all(line.points == 0 for line in card.lines if line.standing is Standing.PROVISIONAL)


@given(marked(), st.randoms(use_true_random=False))
def test_the_order_of_the_items_changes_nothing_but_the_order(case, random):
    hw, ev = case
    shuffled = list(hw.items)
    random.shuffle(shuffled)
    one, other = score(hw, ev, KINDS), score(rubric(*shuffled), ev, KINDS)
    assert (one.points, one.pending, one.standing) == (other.points, other.pending, other.standing)
    assert sorted(one.lines, key=lambda line: line.item) == sorted(other.lines, key=lambda line: line.item)


@given(marked())
def test_nothing_unobserved_is_ever_lost_unless_a_need_was(case):
    hw, ev = case
    card = score(hw, ev, KINDS)
    needs = {i.id: i.needs for i in hw.items}
    for line in card.lines:
        if line.outcome in ("missing", "not_observed") and line.standing is Standing.FINAL:
            assert any(line_of(card, need).standing is Standing.FINAL for need in needs[line.item])
            assert "needs" in line.reason
    pending = [line for line in card.lines if line.standing is Standing.PROVISIONAL]
    assert (card.standing is Standing.PROVISIONAL) == bool(pending)
