from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.model.evidence import Evidence
from grader.model.observation import NO_RESULT, STUDENTS_DOING, Case, Observation, Outcome, Quantity
from grader.model.options import FunctionName
from grader.model.rubric import Item, LatePolicy, Rubric
from grader.model.score import Award, Standing
from grader.model.submission import Submission
from grader.reports.words import LineState, state_of
from grader.scoring.judge import CHANGED_INPUTS, REASONS, lasting, passed
from grader.scoring.score import score
from grader.testing.kinds import AwardOnly


class Share(AwardOnly):
    """A guest's kind: the observation itself says which share it earns."""

    name = "share"

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        hint: str = ""

    def award(self, options, observation, related):
        return Award(
            fraction=observation.facts["share"],
            reason=f"{observation.facts['share']} beside {sorted(related)}",
            hint=options.hint,
            flags=tuple(observation.facts.get("flags", ())),
            undecided=observation.facts.get("undecided", False),
            again=observation.facts.get("again", False),
        )


KINDS = {"share": Share()}
NEAR = 1e-8
"""How far a sum of up to 20 numbers may be off, each of which is rounded to nine digits."""


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
        points=sum(i.points for i in items if i.counts == "earns"),
        items=items,
        digest="sha256:r",
        **keys,
    )


def evidence(*observations):
    return Evidence(
        submission=Submission(
            student="alice", assignment="hw", archive="alice.tar.gz", digest="sha256:s", files=("a.py",)
        ),
        runs=(),
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
    assert card.points.raw == card.points.possible == 12.0
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
    assert card.points.raw == 1.0


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
    assert card.points.pending == 0.0


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
    assert (card.points.earned, card.points.pending, card.points.possible) == (4.0, 6.0, 10.0)
    assert card.standing is Standing.PROVISIONAL


def test_an_item_whose_need_earned_only_a_part_is_not_counted_and_says_why():
    card = score(
        rubric(item("fast", needs=("right",), hint="h"), item("right")),
        evidence(seen("right", 0.99), seen("fast")),
        KINDS,
    )
    fast = line_of(card, "fast")
    assert (fast.points, fast.standing) == (0.0, Standing.FINAL)
    assert fast.reason == 'not counted: needs "Title of right"'
    assert fast.hint == ""


def test_an_item_the_worker_skipped_stays_skipped_while_its_need_fails():
    card = score(
        rubric(item("fast", needs=("right",)), item("right")),
        evidence(seen("right", outcome=Outcome.CRASHED), seen("fast", outcome=Outcome.SKIPPED)),
        KINDS,
    )
    fast = line_of(card, "fast")
    assert (fast.points, fast.standing) == (0.0, Standing.FINAL)
    assert fast.reason == 'skipped: needs "Title of right"'


def test_a_skipped_item_must_run_once_a_changed_rubric_lets_its_need_pass():
    card = score(
        rubric(item("fast", needs=("right",)), item("right")),
        evidence(seen("right"), seen("fast", outcome=Outcome.SKIPPED, note="needs right")),
        KINDS,
    )
    fast = line_of(card, "fast")
    assert fast.standing is Standing.PROVISIONAL
    assert "has not run yet: it was skipped" in fast.reason
    assert card.points.pending == 4.0


def test_an_item_is_pending_while_its_need_is():
    card = score(
        rubric(item("fast", needs=("right",)), item("right")),
        evidence(seen("right", outcome=Outcome.NOT_OBSERVED), seen("fast")),
        KINDS,
    )
    fast = line_of(card, "fast")
    assert (fast.points, fast.standing) == (0.0, Standing.PROVISIONAL)
    assert fast.reason == 'waits for "Title of right"'
    assert card.points.pending == 8.0


def test_one_lost_need_decides_even_while_another_is_open():
    card = score(
        rubric(item("fast", needs=("right", "built")), item("right"), item("built")),
        evidence(seen("right", 0.0), seen("fast")),
        KINDS,
    )
    assert line_of(card, "fast").standing is Standing.FINAL
    assert card.points.pending == 4.0


def test_a_need_worth_no_points_still_gates():
    card = score(
        rubric(item("right", needs=("built",)), item("built", 0.0)),
        evidence(seen("built", 0.0), seen("right")),
        KINDS,
    )
    assert card.points.raw == 0.0


def test_a_kind_sees_the_observations_it_uses_and_waits_for_those_that_are_open():
    items = (item("report", uses=("fast", "slow")), item("fast"), item("slow"))
    both = score(rubric(*items), evidence(seen("report"), seen("fast"), seen("slow", 0.0)), KINDS)
    one = score(rubric(*items), evidence(seen("report"), seen("fast")), KINDS)
    assert both.lines[0].reason == "1.0 beside ['fast', 'slow']"
    assert (one.lines[0].standing, one.lines[0].reason) == (Standing.PROVISIONAL, 'waits for "Title of slow"')


def test_a_kind_that_can_do_without_what_it_uses_does_not_wait_for_it():
    class Patient(Share):
        related_optional = True

    kinds = {"share": Patient()}
    items = (item("report", uses=("fast", "slow", "gone")), item("fast"), item("slow"), item("gone"))
    found = evidence(seen("report"), seen("fast"), seen("slow", outcome=Outcome.NOT_OBSERVED))
    line = score(rubric(*items), found, kinds).lines[0]
    assert (line.standing, line.reason) == (Standing.FINAL, "1.0 beside ['fast']")
    assert passed(items[0], seen("report"), kinds, {})


@pytest.mark.parametrize("end", [Outcome.CRASHED, Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY, Outcome.REFUSED])
def test_a_hint_about_results_is_not_given_where_no_call_gave_one(end):
    ended, returned = (Case(name="c", outcome=outcome) for outcome in (end, Outcome.OBSERVED))
    items = (item("a", hint="Try it on 0."), item("b", hint="Try it on 0."), item("c", hint="Try it on 0."))
    card = score(
        rubric(*items),
        evidence(
            seen("a", 0.0, cases=(ended, ended)),
            seen("b", 0.0, cases=(ended, returned)),
            seen("c", 0.0),
        ),
        KINDS,
    )
    assert [line.hint for line in card.lines] == ["", "Try it on 0.", "Try it on 0."]


def test_calls_that_ended_in_different_ways_gave_no_result_either():
    cases = (Case(name="c", outcome=Outcome.CRASHED), Case(name="d", outcome=Outcome.TIMED_OUT))
    card = score(rubric(item("a", hint="Try it on 0.")), evidence(seen("a", 0.0, cases=cases)), KINDS)
    assert card.lines[0].hint == ""


def test_a_hint_about_results_is_not_given_of_an_item_that_ended_with_a_failed_call():
    ended = Observation(item="a", outcome=Outcome.TIMED_OUT, facts={NO_RESULT: True})
    card = score(rubric(item("a", hint="Copy less.")), evidence(ended), KINDS)
    assert (card.lines[0].reason, card.lines[0].hint) == (REASONS[Outcome.TIMED_OUT], "")


def test_full_marks_with_changed_inputs_are_flagged_for_a_person():
    case = Case(name="odd", outcome=Outcome.OBSERVED, changed_inputs=("argument 1",))
    items = (item("a"), item("b"), item("c"))
    card = score(
        rubric(*items), evidence(seen("a", cases=(case,)), seen("b", 0.5, cases=(case,)), seen("c")), KINDS
    )
    assert [line.flags for line in card.lines] == [(CHANGED_INPUTS,), (), ()]


@pytest.mark.parametrize("share", [2.0, math.nan, math.inf, -0.01, 1.01])
def test_a_fraction_that_is_none_is_our_bug_in_a_kind_that_is_not_guarded_and_names_it(share):
    with pytest.raises(ValueError, match=rf"kind share: award must .* got {share}$"):
        score(rubric(item("a")), evidence(seen("a", share)), KINDS)


@pytest.mark.parametrize("share", [math.nextafter(1.0, 2.0), math.nextafter(1.0, 0.0)])
def test_a_sum_of_weights_that_rounds_beside_one_is_one(share):
    card = score(rubric(item("a", 3.0)), evidence(seen("a", share)), KINDS)
    assert card.points.raw == 3.0
    assert passed(item("a"), seen("a", share), KINDS, {})


DUE = datetime(2024, 12, 23, 22, 0, tzinfo=UTC)
LATE = LatePolicy(per_day=0.1)


def handed_in(observations, **of_submission):
    before = evidence(*observations)
    return replace(before, submission=replace(before.submission, **of_submission))


def test_lateness_leaves_the_raw_total_alone():
    hw = rubric(item("a", 10.0), due=DUE, late=LATE)
    known = handed_in([seen("a")], submitted_at=DUE + timedelta(minutes=1))
    (total,) = score(hw, known, KINDS).totals
    assert score(hw, known, KINDS).points.raw == 10.0
    assert (total.adjusted, total.final, total.late.lost) == (9.0, 9.0, 1.0)


def test_an_unknown_time_takes_nothing_off():
    (total,) = score(rubric(item("a", 10.0), due=DUE, late=LATE), evidence(seen("a")), KINDS).totals
    assert (total.adjusted, total.late.submitted_at) == (10.0, None)


def test_without_a_deadline_there_is_no_lateness():
    known = handed_in([seen("a")], submitted_at=DUE)
    (total,) = score(rubric(item("a", 10.0), late=LATE), known, KINDS).totals
    assert (total.adjusted, total.late) == (10.0, None)


def test_a_team_shares_the_evidence_and_each_of_it_has_an_extension_of_its_own():
    team = handed_in(
        [seen("a")], student="red", members=("alice", "bob"), submitted_at=DUE + timedelta(hours=30)
    )
    hw = rubric(item("a", 10.0), due=DUE, late=LATE)
    card = score(hw, team, KINDS, extensions={"bob": 86_400.0})
    assert [(total.student, total.adjusted) for total in card.totals] == [("alice", 8.0), ("bob", 9.0)]
    card = score(hw, team, KINDS, extensions={"bob": 86_400.0, "red": 172_800.0})
    assert [(total.student, total.adjusted) for total in card.totals] == [("alice", 10.0), ("bob", 10.0)]


def test_a_total_is_final_only_when_nothing_is_open():
    hw = rubric(item("a"), item("b"))
    assert score(hw, evidence(seen("a"), seen("b")), KINDS).totals[0].final == 8.0
    assert score(hw, evidence(seen("a")), KINDS).totals[0].final is None


def test_a_bonus_comes_on_top_and_is_not_in_what_is_possible():
    card = score(
        rubric(item("a"), item("b", 2.0, counts="bonus")), evidence(seen("a"), seen("b", 0.5)), KINDS
    )
    assert (card.points.earned, card.points.bonus, card.points.raw) == (4.0, 1.0, 5.0)
    assert card.points.possible == 4.0


def test_an_open_bonus_keeps_the_card_open_but_is_not_missing_from_the_total():
    card = score(rubric(item("a"), item("b", 2.0, counts="bonus")), evidence(seen("a")), KINDS)
    assert (card.points.pending, card.standing) == (0.0, Standing.PROVISIONAL)


def test_a_bonus_goes_no_further_than_the_rubric_lets_it():
    hw = rubric(item("a"), item("b", 2.0, counts="bonus"), at_most=5.0)
    assert score(hw, evidence(seen("a"), seen("b")), KINDS).points.raw == 5.0


def test_a_penalty_takes_the_share_that_is_wrong():
    hw = rubric(item("a"), item("b", 2.0, counts="penalty"))
    card = score(hw, evidence(seen("a"), seen("b", 0.25)), KINDS)
    assert (card.points.penalty, card.points.raw, card.points.possible) == (-1.5, 2.5, 4.0)
    assert (line_of(card, "b").points, line_of(card, "b").possible) == (-1.5, 0.0)
    assert math.copysign(1, score(hw, evidence(seen("a"), seen("b")), KINDS).lines[1].points) == 1


@pytest.mark.parametrize(
    ("floor", "earned", "raw"), [(0.0, 0.25, 0.0), (2.0, 1.0, 2.0), (2.0, 0.25, 1.0), (-9, 0.25, -2.0)]
)
def test_penalties_take_nothing_below_the_floor_and_the_floor_gives_nothing(floor, earned, raw):
    hw = rubric(item("a"), item("b", 3.0, counts="penalty"), floor=floor)
    assert score(hw, evidence(seen("a", earned), seen("b", 0.0)), KINDS).points.raw == raw


def test_a_penalty_for_what_was_never_reached_takes_nothing():
    hw = rubric(item("a"), item("b", 2.0, counts="penalty", needs=("a",)))
    card = score(hw, evidence(seen("a", 0.0), seen("b", outcome=Outcome.SKIPPED)), KINDS)
    assert card.points.penalty == 0.0


@pytest.mark.parametrize(
    ("outcome", "facts"),
    [
        (Outcome.REFUSED, {"missing_file": "a.py was not handed in"}),
        (Outcome.CRASHED, {"not_imported": ""}),
        (Outcome.REFUSED, {"not_imported": ""}),
    ],
    ids=["no file", "a syntax error", "no such function"],
)
def test_a_penalty_takes_nothing_from_whoever_handed_in_nothing_that_could_be_looked_at(outcome, facts):
    absent = Observation(item="b", outcome=outcome, note="why", facts=facts)
    for counts, lost in (("penalty", 0.0), ("earns", 2.0)):
        card = score(rubric(item("a"), item("b", 2.0, counts=counts)), evidence(seen("a"), absent), KINDS)
        line = line_of(card, "b")
        assert line.possible - line.points == lost
        assert (line.reason, card.points.penalty) == ("why", 0.0)
        assert (state_of(line) is LineState.SKIPPED) == (counts == "penalty")


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """Options that name a function, as most kinds' do."""

    hint: str = ""
    of: FunctionName


@pytest.mark.parametrize(
    ("penalty", "other", "ran_s", "share", "doubted"),
    [
        ("a.f", "a.f", 0.1, 0.5, True),
        ("a.f", "driver.f", 0.1, 1.0, True),
        ("driver.f", "a.f", 0.1, 1.0, True),
        ("a.f", "a.f", 0.0, 1.0, False),
        ("a.f", "a.f", 0.1, 0.0, False),
        ("a.f", "b.f", 0.1, 1.0, False),
    ],
    ids=["one file", "beside a driver", "of a driver", "nothing ran", "earned nothing", "another file"],
)
def test_a_penalty_that_found_no_program_is_flagged_where_another_item_ran_it(
    penalty, other, ran_s, share, doubted
):
    absent = Observation(item="b", outcome=Outcome.CRASHED, note="why", facts={"not_imported": ""})
    of_both = evidence(seen("a", share, program_s=ran_s), absent)
    of_both = replace(of_both, submission=replace(of_both.submission, files=("a.py", "b.py")))
    for on_flag, standing in (("notes", Standing.FINAL), ("holds", Standing.HELD)):
        rule = replace(item("b", counts="penalty", on_flag=on_flag), options=Calls(of=FunctionName(penalty)))
        ran = replace(item("a"), options=Calls(of=FunctionName(other)))
        line = line_of(score(rubric(ran, rule), of_both, KINDS), "b")
        assert (line.points, bool(line.flags)) == (0.0, doubted)
        assert line.standing is (standing if doubted else Standing.FINAL)


def test_a_penalty_takes_what_a_program_did_wrong_however_it_ended():
    ended = Observation(item="b", outcome=Outcome.TIMED_OUT)
    card = score(rubric(item("a"), item("b", 2.0, counts="penalty")), evidence(seen("a"), ended), KINDS)
    assert card.points.penalty == -2.0


def test_a_negative_total_has_nothing_left_to_lose_by_lateness():
    hw = rubric(item("a"), item("b", 6.0, counts="penalty"), floor=-10.0, due=DUE, late=LATE)
    known = handed_in([seen("a"), seen("b", 0.0)], submitted_at=DUE + timedelta(days=3))
    assert score(hw, known, KINDS).totals[0].adjusted == -2.0


def test_what_a_simulator_shows_is_told_and_earns_nothing_yet():
    hw = rubric(item("a", hint="h"), item("b", needs=("a",)))
    card = score(hw, evidence(seen("a", simulated=True), seen("b", simulated=True)), KINDS)
    a, b = card.lines
    assert (a.points, a.standing, a.fraction) == (0.0, Standing.PROVISIONAL, None)
    assert (a.reason, a.simulated) == ("needs a GPU; right in the simulator: 1.0 beside []", 1.0)
    assert (b.reason, b.simulated) == ("needs a GPU; right in the simulator: 1.0 beside []", 1.0)
    failed = score(hw, evidence(seen("a", 0.0, simulated=True), seen("b", simulated=True)), KINDS)
    assert failed.lines[0].reason.startswith("needs a GPU; wrong in the simulator: ")
    assert (failed.lines[1].simulated, failed.lines[0].fraction) == (None, None)
    half = score(hw, evidence(seen("a", 0.5, simulated=True)), KINDS)
    assert half.lines[0].reason.startswith("needs a GPU; partly right in the simulator: ")
    assert failed.lines[1].reason == 'waits for "Title of a"'
    real = score(hw, evidence(seen("a", simulated=True), seen("b")), KINDS)
    assert real.lines[1].reason == 'waits for "Title of a"'
    crashed = score(hw, evidence(seen("a", outcome=Outcome.CRASHED, note="boom", simulated=True)), KINDS)
    assert (crashed.lines[0].standing, crashed.lines[0].reason) == (
        Standing.PROVISIONAL,
        "needs a GPU; wrong in the simulator: boom",
    )
    assert (crashed.points.pending, crashed.lines[0].hint) == (8.0, "h")


def test_what_a_simulator_shows_opens_the_gate_to_what_else_is_simulated():
    assert passed(item("a"), seen("a", simulated=True), KINDS, {})
    assert not passed(item("a"), seen("a", 0.5, simulated=True), KINDS, {})


def test_a_rubric_may_let_a_simulator_decide():
    card = score(rubric(item("a", simulated="earns")), evidence(seen("a", simulated=True)), KINDS)
    assert (card.points.raw, card.standing) == (4.0, Standing.FINAL)


def test_a_kinds_own_flags_are_kept_whatever_was_earned():
    items = (item("a"), item("b"))
    flagged = {"facts": {"share": 1.0, "flags": ["odd"]}}, {"facts": {"share": 0.5, "flags": ["odd"]}}
    card = score(
        rubric(*items),
        evidence(*(replace(seen(i.id), **keys) for i, keys in zip(items, flagged, strict=True))),
        KINDS,
    )
    assert [line.flags for line in card.lines] == [("odd",), ("odd",)]
    assert card.standing is Standing.FINAL


def test_a_flag_holds_the_card_if_the_rubric_says_so_and_its_points_stay():
    hw = rubric(item("a", on_flag="holds"), item("b", needs=("a",)), item("c", on_flag="holds"))
    odd = replace(seen("a"), facts={"share": 1.0, "flags": ["odd"]})
    card = score(hw, evidence(odd, seen("b"), seen("c")), KINDS)
    assert [line.standing for line in card.lines] == [Standing.HELD, Standing.FINAL, Standing.FINAL]
    assert (card.standing, card.points.raw, card.totals[0].final) == (Standing.HELD, 12.0, None)


def by_person(observation, points, **facts):
    quantities = {
        "points_given": Quantity(value=points, unit="points", taken_by="Ada"),
        "points_possible": Quantity(value=4.0, unit="points", taken_by="Ada"),
    }
    return replace(observation, quantities=quantities, facts={**observation.facts, **facts})


def test_whoever_gives_points_for_a_held_item_has_looked_and_its_flags_stay():
    hw = rubric(item("a", on_flag="holds"), item("b", needs=("a",)))
    odd = by_person(replace(seen("a"), facts={"share": 1.0, "flags": ["odd"]}), 3.0, comment="half of it")
    card = score(hw, evidence(odd, seen("b")), KINDS)
    assert card.lines[0].standing is Standing.FINAL
    assert card.lines[0].points == 3.0
    assert card.lines[0].flags == ("odd",)
    assert card.lines[0].reason == "a person gave 3 of 4: half of it"
    assert card.lines[1].reason.startswith('not counted: needs "Title of a"')


def test_the_points_of_a_person_for_a_penalty_are_those_that_stay():
    hw = rubric(item("a"), item("b", counts="penalty", on_flag="holds"))
    for stay, took in ((4.0, 0.0), (1.0, 3.0)):
        odd = by_person(replace(seen("b", 0.0), facts={"share": 0.0, "flags": ["odd"]}), stay)
        card = score(hw, evidence(seen("a"), odd), KINDS)
        assert (card.points.penalty, card.lines[1].reason) == (-took, f"a person took {took:g} of 4")


def test_a_person_judges_what_no_kind_could():
    bare = Observation(item="a", outcome=Outcome.OBSERVED, facts={"before_points": ["crashed", "", None]})
    card = score(rubric(item("a")), evidence(by_person(bare, 2.0)), KINDS)
    assert (card.points.raw, card.standing) == (2.0, Standing.FINAL)


def test_a_held_need_that_lost_a_part_gates_like_any_other():
    hw = rubric(item("a", on_flag="holds"), item("b", needs=("a",)))
    odd = replace(seen("a"), facts={"share": 0.5, "flags": ["odd"]})
    card = score(hw, evidence(odd, seen("b")), KINDS)
    assert (line_of(card, "b").points, line_of(card, "b").standing) == (0.0, Standing.FINAL)


def test_evidence_that_cannot_decide_leaves_the_points_open():
    undecided = replace(seen("a"), facts={"share": 0.0, "undecided": True})
    (line,) = score(rubric(item("a")), evidence(undecided), KINDS).lines
    assert (line.standing, line.points, line.fraction) == (Standing.PROVISIONAL, 0.0, None)


def test_what_another_look_may_decide_does_not_last():
    facts = {"share": 0.0, "undecided": True}
    for_a_person, for_the_next_run = (replace(seen("a"), facts=facts | {"again": again}) for again in (0, 1))
    assert lasting([item("a")], {"a": for_a_person}, KINDS) == {"a": False}
    assert lasting([item("a")], {"a": for_the_next_run}, KINDS) == {}
    assert lasting([item("a")], {"a": for_the_next_run}, KINDS, looked_at={"a"}) == {"a": False}
    (line,) = score(rubric(item("a")), evidence(for_the_next_run), KINDS).lines
    assert (line.standing, line.points, line.fraction) == (Standing.PROVISIONAL, 0.0, None)


@pytest.mark.parametrize(
    ("observation", "lasts", "in_this_run"),
    [
        (seen("a"), {"a": True}, {"a": True}),
        (seen("a", 0.0), {"a": False}, {"a": False}),
        (seen("a", outcome=Outcome.CRASHED), {"a": False}, {"a": False}),
        (seen("a", outcome=Outcome.SKIPPED), {}, {}),
        (seen("a", outcome=Outcome.NOT_OBSERVED), {}, {}),
        (seen("a", simulated=True), {}, {"a": True}),
        (seen("a", outcome=Outcome.NOT_OBSERVED, simulated=True), {}, {"a": False}),
    ],
)
def test_what_was_not_seen_on_a_device_or_not_at_all_does_not_last(observation, lasts, in_this_run):
    assert lasting([item("a"), item("b")], {"a": observation}, KINDS) == lasts
    assert lasting([item("a")], {"a": observation}, KINDS, looked_at={"a"}) == in_this_run


class ByHand(Share):
    """A kind whose doubt a person settles."""

    by_hand = True


DOUBT = {"share": 0.0, "undecided": True}


@pytest.mark.parametrize(
    ("item_", "observation", "waits"),
    [
        (item("a"), seen("a"), False),
        (item("a"), replace(seen("a"), facts=DOUBT), True),
        (item("a"), replace(seen("a"), facts=DOUBT | {"again": True}), False),
        (item("a"), replace(seen("a"), facts=DOUBT, simulated=True), False),
        (item("a"), seen("a", simulated=True), False),
        (item("a"), seen("a", outcome=Outcome.NOT_OBSERVED), False),
        (item("a", on_flag="holds"), replace(seen("a"), facts={"share": 1.0, "flags": ("odd",)}), True),
        (item("a", needs=("b",)), replace(seen("a"), facts=DOUBT), False),
        (replace(item("a"), check="manual"), seen("a", outcome=Outcome.NOT_OBSERVED), True),
    ],
)
def test_a_line_tells_whether_a_person_decides_it_or_the_next_run(item_, observation, waits):
    hw = rubric(item_, item("b"))
    kinds = dict.fromkeys(("share", "manual"), ByHand())
    card = score(hw, evidence(observation, seen("b", simulated=True)), kinds)
    assert line_of(card, "a").for_person == waits


def test_only_what_is_undecided_can_be_looked_at_again():
    with pytest.raises(ValueError, match="again"):
        Award(fraction=1.0, reason="", again=True)


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
        keys = {
            "counts": draw(st.sampled_from(["earns", "earns", "bonus", "penalty"])),
            "simulated": draw(st.sampled_from(["earns", "informs"])),
            "on_flag": draw(st.sampled_from(["holds", "notes"])),
        }
        items.append(item(f"i{i}", points, needs=tuple(f"i{n}" for n in needs), **keys))
        outcome = draw(st.none() | st.sampled_from(Outcome))
        if outcome is not None:
            share = draw(st.sampled_from([0.0, 1.0, 1.0, 1 / 3]) | st.floats(0, 1))
            found = seen(f"i{i}", share, outcome, simulated=draw(st.booleans()))
            flags = ["odd"] if draw(st.booleans()) else []
            observations.append(replace(found, facts={**found.facts, "flags": flags}))
    bounds = {"floor": draw(st.floats(-50, 50)), "at_most": draw(st.none() | st.floats(60, 500))}
    return rubric(*draw(st.permutations(items)), **bounds), evidence(*observations)


@given(marked())
def test_points_stay_within_what_is_possible(case):
    card = score(*case, KINDS)
    points, worth = card.points, {i.id: i.points for i in case[0].items}
    assert 0 <= points.earned <= points.possible
    assert 0 <= points.pending <= points.possible
    assert points.earned + points.pending <= points.possible + NEAR
    for line in card.lines:
        low = -worth[line.item] if line.counts == "penalty" else 0
        assert low <= line.points <= line.possible
        if line.standing is Standing.PROVISIONAL:
            assert (line.points, line.fraction) == (0, None)


@given(marked())
def test_the_total_is_the_sum_of_the_lines_within_the_bounds_of_the_rubric(case):
    hw, _ = case
    card = score(*case, KINDS)
    points = card.points
    # sums are rounded, and penalties may be smaller than what that leaves
    assert points.earned + points.bonus + points.penalty == pytest.approx(
        sum(line.points for line in card.lines), abs=NEAR
    )
    assert points.bonus >= 0 >= points.penalty
    before = points.earned + points.bonus
    most = math.inf if hw.at_most is None else hw.at_most
    assert points.raw <= min(before, most) + NEAR
    assert points.raw >= min(hw.floor, before, most) - NEAR
    if points.penalty == 0:
        assert points.raw == pytest.approx(min(before, most), abs=NEAR)


@given(marked(), st.floats(0, 1))
def test_doing_better_never_lowers_the_total(case, share):
    hw, ev = case
    better = {
        name: replace(
            seen_before, facts={**seen_before.facts, "share": max(share, seen_before.facts["share"])}
        )
        for name, seen_before in ev.observations.items()
    }
    items = tuple(
        replace(i, needs=()) if i.counts == "penalty" else i for i in hw.items
    )  # a gate may save one
    hw = replace(hw, items=items)
    now = score(hw, replace(ev, observations=better), KINDS).points.raw
    assert now >= score(hw, ev, KINDS).points.raw - NEAR


@given(marked(), st.integers(-100, 2000))
def test_lateness_takes_between_nothing_and_everything(case, hours):
    hw, ev = case
    hw = replace(hw, due=DUE, late=LATE)
    ev = replace(ev, submission=replace(ev.submission, submitted_at=DUE + timedelta(hours=hours)))
    card = score(hw, ev, KINDS)
    (total,) = card.totals
    assert min(0, card.points.raw) <= total.adjusted <= card.points.raw
    assert total.adjusted == pytest.approx(card.points.raw - total.late.lost)
    assert (total.final is None) == (card.standing is not Standing.FINAL)


@given(marked(), st.randoms(use_true_random=False))
def test_the_order_of_the_items_changes_nothing_but_the_order(case, random):
    hw, ev = case
    shuffled = list(hw.items)
    random.shuffle(shuffled)
    one, other = score(hw, ev, KINDS), score(replace(hw, items=tuple(shuffled)), ev, KINDS)
    assert (one.points, one.standing) == (other.points, other.standing)
    assert sorted(one.lines, key=lambda line: line.item) == sorted(other.lines, key=lambda line: line.item)


@given(marked())
def test_nothing_unobserved_is_ever_lost_unless_a_need_was(case):
    hw, ev = case
    card = score(hw, ev, KINDS)
    needs = {i.id: i.needs for i in hw.items}
    for line in card.lines:
        if line.outcome in ("missing", "not_observed") and line.standing is Standing.FINAL:
            decided = [line_of(card, need) for need in needs[line.item]]
            assert any(need.fraction is not None and need.fraction < 1 for need in decided)
            assert "needs" in line.reason
    pending = [line for line in card.lines if line.standing is Standing.PROVISIONAL]
    held = [line for line in card.lines if line.standing is Standing.HELD]
    assert (card.standing is Standing.PROVISIONAL) == bool(pending and not held)
    assert (card.standing is Standing.HELD) == bool(held)
