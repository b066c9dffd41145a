"""The plan of a re-scoring tells of every total that changes, says why, and says nothing of any other."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.cli.rescore import Tally
from grader.gradebook.rescore import rescore
from grader.model.observation import Case, Observation, Outcome
from grader.model.rubric import LatePolicy
from grader.reports.changed_totals import changed_totals
from grader.scoring.changes import differences

DUE = datetime(2024, 12, 20, 12, tzinfo=UTC)
LATE = datetime(2024, 12, 21, 11, tzinfo=UTC)
A_DAY_S = 86_400.0
TENTH = LatePolicy(per_day=0.1)
HALF = LatePolicy(per_day=0.5)


def plan(book, judge, **how):
    """What is told of each total, and then the sums, without what to do next."""
    lines, tally = [], Tally()
    for rescored in rescore(book, judge, **how):
        tally.add(rescored, rescored.differences)
        lines += changed_totals(rescored.after, rescored.differences)
    return [*lines, *tally.text(applied=False).splitlines()[:-1]]


@pytest.fixture
def planned(book, tiny):
    """Record evidence by one rubric, and plan with another; applied, the plan says that nothing changes."""

    def between(of, before, after, *, was=(), **now):
        book.record(of, tiny.card(of, before, **dict(was)), how="run")
        judge = tiny.judge(replace(after, digest="sha256:r2"), **now)
        lines = plan(book, judge)
        assert plan(book, judge, apply=True) == lines
        assert plan(book, judge) == []
        return lines

    return between


@pytest.fixture
def marked(tiny):
    """`double` and `square`, 2 points each."""
    return tiny.rubric(tiny.item("double"), tiny.item("square"))


def wrong(tiny, name, *right):
    return tiny.observe(name, "sha256:w1", right or (False, False))


@pytest.mark.parametrize(
    ("before", "after", "line", "cause"),
    [
        (
            {"late": TENTH},
            {"late": HALF},
            "3.6 -> 2 / 4  -1.6  (late rule: 0.4 -> 2 points off)",
            "late rule",
        ),
        (
            {"late": TENTH},
            {"late": replace(TENTH, grace_s=A_DAY_S)},
            "3.6 -> 4 / 4  +0.4  (late rule: 0.4 -> 0 points off)",
            "late rule",
        ),
        (
            {"late": TENTH},
            {"late": TENTH, "due": datetime(2024, 12, 19, 12, tzinfo=UTC)},
            "3.6 -> 3.2 / 4  -0.4  (deadline: 0.4 -> 0.8 points off)",
            "deadline",
        ),
        (
            {"late": TENTH},
            {"late": HALF, "due": datetime(2024, 12, 19, 12, tzinfo=UTC)},
            "3.6 -> 0 / 4  -3.6  (deadline and late rule: 0.4 -> 4 points off)",
            "deadline (1 total), late rule",
        ),
        (
            {"late": TENTH, "due": None},
            {"late": TENTH},
            "4 -> 3.6 / 4  -0.4  (deadline: 0 -> 0.4 points off)",
            "deadline",
        ),
        ({}, {"at_most": 3.0}, "4 -> 3 / 4  -1  (at_most: 0 -> -1)", "at_most"),
        ({"at_most": 3.0}, {}, "3 -> 4 / 4  +1  (at_most: -1 -> 0)", "at_most"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_changes_a_total_without_changing_an_item_is_told_with_its_cause(
    planned, tiny, marked, before, after, line, cause
):
    of = tiny.evidence("ann", submitted_at=LATE)
    old, new = (replace(marked, **{"due": DUE, **keys}) for keys in (before, after))
    lines = planned(of, old, new)
    assert lines[0] == f"ann  {line}"
    assert lines[2] == f"because of: {cause} (1 total)"
    assert "no points change" not in " ".join(lines)


def test_a_floor_that_was_raised_is_told(planned, tiny, marked):
    items = (replace(marked.items[0], points=1.0), replace(marked.items[1], points=6.0, counts="penalty"))
    old = replace(marked, items=items, floor=-3.0)
    of = tiny.evidence("ann", wrong(tiny, "double", True, True), wrong(tiny, "square"))
    assert planned(of, old, replace(old, floor=0.0)) == [
        "ann  -3 -> 0 / 1  +3  (floor: 2 -> 5)",
        "1 submission, 1 total: 1 rises by 3 points",
        "because of: floor (1 total)",
    ]


def test_an_extension_for_one_of_a_team_is_told_of_that_one(planned, tiny, marked):
    old = replace(marked, due=DUE, late=TENTH)
    of = tiny.evidence("ann+ben", submitted_at=LATE)
    assert planned(of, old, old, extensions={"ben": A_DAY_S}) == [
        "ben of ann+ben  3.6 -> 4 / 4  +0.4  (deadline: 0.4 -> 0 points off)",
        "1 submission, 2 totals: 1 rises by 0.4 points, 1 stays",
        "because of: deadline (1 total)",
    ]


def test_an_extension_up_to_a_time_that_has_not_come_is_the_cause_that_nothing_is_held(planned, tiny, marked):
    old = replace(marked, due=DUE, late=TENTH)
    of = tiny.evidence("ann", submitted_at=LATE, in_future=True)
    assert planned(of, old, old, extensions={"ann": A_DAY_S}) == [
        "ann  4 / 4  held -> final  (deadline)",
        "1 submission, 1 total: 1 stays",
        "because of: deadline (1 total)",
        "standing: 1 held -> final",
    ]


def test_a_team_for_whose_members_the_same_changes_has_one_line(planned, tiny, marked):
    of = tiny.evidence("ann+ben")
    assert planned(of, marked, replace(marked, at_most=3.0))[:2] == [
        "ann+ben  4 -> 3 / 4  -1  (at_most: 0 -> -1)",
        "1 submission, 2 totals: 2 fall by 2 points together",
    ]


def test_a_time_zone_that_makes_it_another_day_is_told(planned, tiny, marked):
    """The clocks of Berlin go back on 27 October: that day has 25 hours there."""
    old = replace(marked, due=datetime(2024, 10, 26, 12, tzinfo=UTC), late=TENTH)
    of = tiny.evidence("ann", submitted_at=datetime(2024, 10, 27, 12, 30, tzinfo=UTC))
    assert planned(of, old, old, zone=ZoneInfo("Europe/Berlin"))[0] == (
        "ann  3.2 -> 3.6 / 4  +0.4  (time zone: 0.8 -> 0.4 points off)"
    )


def test_lateness_that_costs_more_because_more_was_earned_is_no_cause(planned, tiny, marked):
    old = replace(marked, due=DUE, late=TENTH)
    of = tiny.evidence("ann", submitted_at=LATE)
    more = replace(old, items=(tiny.item("double", 4.0), marked.items[1]))
    assert planned(of, old, more) == [
        "ann  3.6 / 4 -> 5.4 / 6  +1.8  (double 2 / 2 -> 4 / 4, lateness: 0.4 -> 0.6 points off)",
        "1 submission, 1 total: 1 rises by 1.8 points",
        "because of: items (1 total)",
    ]


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ({"counts": "bonus"}, "4 / 4 -> 4 / 2  (square 2 earns -> 2 bonus)"),
        (
            {"counts": "penalty"},
            "4 / 4 -> 2 / 2  -2  (square 2 / 2 earns -> 0 / 0 penalty)",
        ),
        ({"points": 2.001}, "4 / 4 -> 4.001 / 4.001  +0.001  (square 2 / 2 -> 2.001 / 2.001)"),
    ],
    ids=["bonus", "penalty", "hardly more"],
)
def test_what_an_item_counts_for_is_told_with_its_points(planned, tiny, marked, keys, line):
    other = replace(marked, items=(marked.items[0], replace(marked.items[1], **keys)))
    assert planned(tiny.evidence("ann"), marked, other)[0] == f"ann  {line}"


def test_an_item_that_earned_nothing_and_is_worth_more_lowers_the_share_that_was_earned(
    planned, tiny, marked
):
    of = tiny.evidence("ann", wrong(tiny, "double"), wrong(tiny, "square", True, True))
    dearer = replace(marked, items=(replace(marked.items[0], points=3.0), marked.items[1]))
    assert planned(of, marked, dearer) == [
        "ann  2 / 4 -> 2 / 5  (double 0 / 2 -> 0 / 3)",
        "1 submission, 1 total: 1 stays",
        "because of: items (1 total)",
    ]


def test_a_flag_that_now_holds_the_total_is_told_though_no_points_move(planned, tiny, marked):
    observation = tiny.observe("double", "sha256:w1")
    flagged = replace(
        observation, cases=tuple(replace(case, changed_inputs=("x",)) for case in observation.cases)
    )
    of = tiny.evidence("ann", flagged, tiny.observe("square", "sha256:w1"))
    holds = replace(marked, items=(replace(marked.items[0], on_flag="holds"), marked.items[1]))
    assert planned(of, marked, holds) == [
        "ann  4 / 4  final -> held  (double 2 -> 2 held)",
        "1 submission, 1 total: 1 stays",
        "because of: items (1 total)",
        "standing: 1 final -> held",
    ]


def test_an_item_for_a_person_makes_the_total_provisional(planned, tiny, marked):
    more = replace(marked, items=(*marked.items, tiny.by_hand("style")))
    assert planned(tiny.evidence("ann"), marked, more)[0] == (
        "ann  4 / 4 -> 4 / 8  final -> provisional  (style absent -> open)"
    )


def test_points_by_hand_that_are_worth_more_are_told(planned, tiny):
    of = tiny.evidence("ann", tiny.judged(tiny.observe("style", "sha256:w1"), 3.0))
    old, new = (tiny.rubric(tiny.by_hand("style", points)) for points in (4.0, 8.0))
    assert planned(of, old, new)[0] == "ann  3 / 4 -> 6 / 8  +3  (style 3 / 4 -> 6 / 8)"


def test_points_that_move_between_items_are_told_though_the_total_stays(planned, tiny, marked):
    of = tiny.evidence("ann")
    items = (replace(marked.items[0], points=1.0), replace(marked.items[1], points=3.0))
    assert planned(of, marked, replace(marked, items=items))[:2] == [
        "ann  4 / 4  (double 2 / 2 -> 1 / 1, square 2 / 2 -> 3 / 3)",
        "1 submission, 1 total: 1 stays",
    ]


@pytest.mark.parametrize("raw", [0, 4])
def test_a_late_rule_that_costs_nobody_anything_changes_no_points(book, tiny, marked, raw):
    """Nothing was earned, or it came in time."""
    right = (bool(raw), bool(raw))
    observations = [tiny.observe(name, "sha256:w1", right) for name in ("double", "square")]
    of = tiny.evidence("ann", *observations, submitted_at=DUE if raw else LATE)
    old, new = (replace(marked, due=DUE, late=rule) for rule in (TENTH, HALF))
    book.record(of, tiny.card(of, old), how="run")
    (rescored,) = rescore(book, tiny.judge(new))
    assert (rescored.changes, rescored.differences) == (True, ())
    tally = Tally()
    tally.add(rescored, ())
    assert tally.text(applied=False).splitlines() == [
        "1 submission, 1 total: no points change",
        "1 score would be new, 1 of them with another deadline or late rule that moves no points; "
        "--apply records them",
    ]


def test_who_has_left_a_team_is_not_counted_with_it(book, keep, tiny):
    keep(tiny.evidence("ann+ben"))
    alone = tiny.observe("double", "sha256:w2")
    keep(tiny.evidence("ann", alone, work="sha256:w2", run="e2", began="2024-12-23T11:00:00+00:00"))
    capped = replace(tiny.RUBRIC, at_most=3.0, digest="sha256:r2")
    assert plan(book, tiny.judge(capped)) == [
        "ben of ann+ben  4 -> 3 / 8  -1  (at_most: 0 -> -1)",
        "2 submissions, 2 totals: 1 falls by 1 point, 1 stays until items have run again",
        "because of: at_most (1 total)",
        "square must run again for 1 submission: grade the archives again",
    ]


def test_a_total_that_another_version_of_grader_worked_out_otherwise_is_told(tiny, marked):
    after = tiny.card(tiny.evidence("ann"), marked)
    before = replace(after, totals=(replace(after.totals[0], adjusted=3.5),))
    (difference,) = differences(before, after, ["ann"])
    assert list(changed_totals(after, [difference])) == [
        "ann  3.5 -> 4 / 4  +0.5  (another version of grader)"
    ]


def test_a_change_has_two_decimals_or_as_many_as_show_it(tiny, marked):
    after = tiny.card(tiny.evidence("ann"), marked)
    cases = (4 - 0.8 / 3, "+0.27"), (4 + 1 / 3, "-0.33"), (4 - 1e-7, "+1e-07"), (4 - 0.375, "+0.37")
    for adjusted, shown in cases:  # 3.625 is shown as 3.63
        before = replace(after, totals=(replace(after.totals[0], adjusted=adjusted),))
        (line,) = changed_totals(after, differences(before, after, ["ann"]))
        assert f"  {shown}  (" in line


@st.composite
def rubrics(draw, tiny):
    """Everything of a rubric that decides on points."""
    items = []
    for name in draw(st.lists(st.sampled_from(["double", "square", "cube"]), min_size=1, unique=True)):
        counts, on_flag = (
            draw(st.sampled_from(["earns", "bonus", "penalty"])),
            draw(st.sampled_from(["holds", "notes"])),
        )
        credit = draw(st.sampled_from(["all", "per_case"]))
        points = draw(st.sampled_from([0.0, 1.0, 3.0]))
        items.append(tiny.item(name, points, counts=counts, on_flag=on_flag, options={"credit": credit}))
    floor = draw(st.sampled_from([0.0, -1.0]))
    late = LatePolicy(per_day=draw(st.sampled_from([0.0, 0.1, 1.0])))
    at_most, due = draw(st.sampled_from([None, 2.0])), draw(st.sampled_from([None, DUE, LATE]))
    return tiny.rubric(*items, floor=floor, at_most=at_most, due=due, late=late)


@st.composite
def observations(draw, name):
    outcome = draw(
        st.sampled_from([Outcome.OBSERVED, Outcome.OBSERVED, Outcome.CRASHED, Outcome.NOT_OBSERVED])
    )
    cases = tuple(
        Case(name=str(i), outcome=Outcome.OBSERVED, agrees={name: right}, changed_inputs=("x",) * (i == 2))
        for i, right in enumerate(draw(st.lists(st.booleans(), min_size=1, max_size=3)))
    )
    return Observation(item=name, outcome=outcome, cases=cases)


def figures(card):
    """Everything that a student, or a gradebook, sees of a card but texts."""
    lines = {n.item: (n.points, n.fraction is None, n.possible, n.standing, n.counts) for n in card.lines}
    lost = [total.late.lost if total.late else 0.0 for total in card.totals]
    return lines, card.points.raw, card.standing, lost, [(t.adjusted, t.final) for t in card.totals]


@given(st.data())
def test_whatever_two_rubrics_say_a_plan_is_empty_exactly_if_all_figures_are_the_same(tiny, data):
    drawn = [
        data.draw(observations(name)) for name in data.draw(st.sets(st.sampled_from(["double", "square"])))
    ]
    of = tiny.evidence("ann+ben", *drawn, submitted_at=data.draw(st.sampled_from([None, DUE, LATE])))
    cards = [tiny.card(of, data.draw(rubrics(tiny)), extensions={"ben": A_DAY_S}) for _ in range(2)]
    changes = differences(*cards, ["ann", "ben"])
    assert bool(changes) == (figures(cards[0]) != figures(cards[1]))
    text = " ".join(changed_totals(cards[1], changes))
    assert all(name in text for name in (change.student for change in changes))
    assert all(change.causes for change in changes)
    assert "another version" not in text
