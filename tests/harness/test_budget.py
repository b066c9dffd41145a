"""What a call may use of the clock on the wall, when others keep it waiting."""

import pytest

from grader.harness import budget as budgets
from grader.harness.budget import PATIENCE, CallBudget
from grader.harness.endings import ProgramEnd


@pytest.mark.parametrize(
    ("turns", "answer", "verdict"),
    [
        pytest.param([(5, 0)], "answer", "answer", id="in time"),
        pytest.param([(5, 0)], None, None, id="it may go on"),
        pytest.param([(10.1, 0)], "answer", "late", id="an answer behind its time is late"),
        pytest.param([(10.1, 0.2)], "answer", "answer", id="unless others made it late"),
        pytest.param([(10, 8), (8, 6)], None, None, id="what others took it gets back, again and again"),
        pytest.param([(10, 8), (8.1, 0)], None, "late", id="what it used itself it does not"),
        pytest.param([(10, 50)], None, None, id="no more than it ran can have been others' doing"),
        pytest.param([(5, -3), (5.1, 0)], None, "late", id="nobody is charged for what was not waited"),
        pytest.param([(60, 59), (41, 40)], None, "starved", id="far behind it is tried whose doing it is"),
    ],
)
def test_a_limit_counts_what_the_program_used_itself(turns, answer, verdict):
    budget = CallBudget(10.0)
    for wall_s, delay_s in turns:
        budget.charge(wall_s, delay_s, lambda: True)
    outcome = budget.verdict(answer)
    if verdict in ("late", "starved"):
        assert isinstance(outcome, ProgramEnd)
        assert outcome.starved is (verdict == "starved")
    else:
        assert outcome == verdict


def test_no_call_takes_longer_than_the_bound_on_the_wall():
    budget = CallBudget(10.0)
    while budget.verdict(None) is None:
        budget.charge(budget.left_s, budget.left_s, lambda: True)
        budget.resume(lambda: True)
    assert budget.wall_s <= PATIENCE * 10.0 + 0.1


def test_what_delays_a_program_only_while_it_runs_is_its_own_doing_behind_the_limit():
    budget = CallBudget(10.0)
    while (outcome := budget.verdict(None)) is None:
        budget.resume(lambda: False)
        budget.charge(budget.left_s, budget.left_s, lambda: False)
    assert not outcome.starved
    assert budget.wall_s <= 2 * 10.0


@pytest.mark.parametrize(("before", "after"), [(True, False), (False, True), (True, True)])
def test_others_who_work_at_one_end_of_a_turn_have_delayed_it(before, after):
    budget = CallBudget(10.0)
    budget.charge(10.0, 5.0, lambda: True)
    budget.resume(lambda: before)
    budget.charge(4.0, 3.0, lambda: after)
    assert budget.most_s == 18.0


@pytest.mark.parametrize(("cpu_s", "starved"), [(9.9, True), (10.1, False)])
def test_who_computed_for_as_long_as_the_limit_was_not_kept_from_it(cpu_s, starved):
    budget = CallBudget(10.0)
    budget.charge(101.0, 101.0, lambda: True, cpu_s)
    outcome = budget.verdict(None)
    assert isinstance(outcome, ProgramEnd)
    assert outcome.starved is starved


def test_waiting_beside_others_gives_no_more_cpu_time_than_the_limit_on_every_core():
    budget = CallBudget(10.0, cores=2)
    budget.charge(15.0, 15.0, lambda: True, 19.9)
    assert budget.verdict(None) is None
    budget.charge(1.0, 1.0, lambda: True, 0.2)
    assert isinstance(budget.verdict(None), ProgramEnd)


def use(own=0, children=0, parent=0):
    return budgets._KernelUse(own=own, children=children, core=0, parent=parent)


FORKED = {1: use(), 2: use(parent=1), 3: use(own=10, parent=2), 4: use(own=90, children=5, parent=3)}


@pytest.mark.parametrize(
    ("after", "ticks"),
    [
        ({1: use(), 2: use(parent=1), 3: use(own=10, children=95, parent=2)}, 0),
        ({1: use(), 2: use(children=105, parent=1)}, 0),
        ({1: use(children=95), 2: use(children=10, parent=1)}, 0),
        ({1: use(children=105)}, 0),
        ({1: use(), 2: use(children=112, parent=1)}, 7),
        ({**FORKED, 4: use(own=93, children=5, parent=3)}, 3),
    ],
    ids=["by its parent", "by a sub-reaper", "by pid 1", "all ended", "and one more", "one goes on"],
)
def test_what_a_process_did_in_the_kernel_before_counts_for_nobody_who_waits_for_it(
    monkeypatch, after, ticks
):
    uses = iter([FORKED, after])
    monkeypatch.setattr(budgets._KernelTime, "_uses", lambda _: next(uses))
    assert budgets._KernelTime().since([0]) == pytest.approx(ticks * budgets.tick())
