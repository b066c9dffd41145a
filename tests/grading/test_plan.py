"""Which tasks of a submission are observed beside each other, and which after others."""

from __future__ import annotations

import pytest

from grader.grading.plan import Part, cores_of, exclusive_items, in_order, plan
from grader.model.assignment import Limits
from grader.model.job import Task
from grader.testing.kinds import AwardOnly


class Plain(AwardOnly):
    def award(self, options, observation, related):
        raise NotImplementedError


class Timed(Plain):
    timed = True
    shares_gpu = True


class Shares(Plain):
    shares_gpu = True


KINDS = {"plain": Plain(), "timed": Timed(), "shares": Shares()}
ONE = {"devices": {"gpu": 1}}


def task(item, check="plain", **more):
    return Task(item=item, check=check, options={}, **more)


ON_GPU = tuple(task(f"gpu {number}", "shares", **ONE) for number in range(5))


def planned(*tasks, gpus=0, alone=True):
    """Parts as the names of their items; and of each the names of those that must have ended before."""
    parts = plan(tasks, KINDS, Limits(), gpus=gpus, alone=alone)
    names = [" ".join(task.item for task in part.tasks) for part in parts]
    return {name: {names[n] for n in part.after} for name, part in zip(names, parts, strict=True)}


def test_a_timed_item_waits_with_what_needs_it_and_what_shares_its_program():
    tasks = (
        task("right"),
        task("compiled", group="kernel"),
        task("fast", "timed", needs=("right",), group="kernel"),
        task("elegant", needs=("fast",)),
        task("claimed", uses=("elegant",)),
        task("other", group="other"),
    )
    assert exclusive_items(tasks, KINDS, gpus=0) == {"fast", "compiled", "elegant", "claimed"}


def test_what_is_timed_on_more_gpus_than_there_are_is_not_timed_here_and_waits_for_nobody():
    tasks = (task("compiled", group="kernel"), task("fast", "timed", group="kernel", devices={"gpu": 2}))
    for gpus in (0, 1):
        assert exclusive_items(tasks, KINDS, gpus=gpus) == set()
        assert cores_of(tasks, KINDS, Limits(), gpus=gpus) == 0
    assert exclusive_items(tasks, KINDS, gpus=2) == {"compiled", "fast"}
    assert cores_of(tasks, KINDS, Limits(), gpus=2) == 1


def test_what_needs_a_gpu_waits_where_there_is_one():
    tasks = (task("launch", devices={"gpu": 1}), task("right"))
    assert exclusive_items(tasks, KINDS, gpus=1) == {"launch"}
    assert exclusive_items(tasks, KINDS, gpus=0) == set()


def test_without_a_clock_and_a_gpu_a_submission_is_one_part():
    tasks = task("right"), task("launch", "shares", **ONE)
    for alone in (True, False):
        assert plan(tasks, KINDS, Limits(), gpus=0, alone=alone) == (Part(tasks=tasks),)
    assert plan((), KINDS, Limits(), gpus=0, alone=True) == ()


def test_of_a_class_each_part_comes_after_the_one_before():
    tasks = task("right"), task("fast", "timed", **ONE), *ON_GPU
    assert planned(*tasks, gpus=1, alone=False) == {
        "right": set(),
        "gpu 0 gpu 1 gpu 2 gpu 3 gpu 4": {"right"},
        "fast": {"right", "gpu 0 gpu 1 gpu 2 gpu 3 gpu 4"},
    }


def test_of_a_single_submission_each_part_waits_only_for_those_that_it_needs():
    tasks = (
        task("build"),
        task("trains"),
        task("fast", "timed", needs=("build",)),
        task("elegant", needs=("fast", "build")),
        task("claimed", uses=("trains",)),
    )
    assert planned(*tasks) == {
        "build": set(),
        "fast": {"build"},
        "elegant": {"build", "fast"},
        "trains claimed": set(),
    }


def test_what_only_comes_after_a_timed_item_keeps_nothing_waiting_and_needs_nothing_for_itself():
    tasks = (
        task("trains"),
        task("right"),
        task("fast", "timed", needs=("right",), **ONE),
        task("report", needs=("trains",), uses=("fast",)),
        task("trusted", needs=("report",)),
        task("fast as said", "timed", needs=("trusted",)),
        task("graph", needs=("fast",)),
    )
    parts = plan(tasks[:4], KINDS, Limits(), gpus=1, alone=True)
    assert [(part.tasks[0].item, part.exclusive, part.after) for part in parts] == [
        ("right", False, set()),
        ("trains", False, set()),
        ("fast", True, {0}),
        ("report", False, {1, 2}),
    ], "one worker observes these parts in this order, where none waits"
    assert planned(*tasks, gpus=1)["graph"] == {"fast report trusted fast as said"}, "a timed one needs these"


def test_what_a_needed_item_needs_comes_with_it():
    tasks = task("first"), task("second", needs=("first",)), task("fast", "timed", uses=("second",))
    assert planned(*tasks) == {"first second": set(), "fast": {"first second"}}


def test_what_only_a_timed_item_needs_keeps_nothing_else_waiting():
    tasks = (
        task("build"),
        task("trains", needs=("build",)),
        *(task(one.item, "shares", needs=("build",), **ONE) for one in ON_GPU[:4]),
        task("fast", "timed", needs=("trains",), **ONE),
    )
    assert planned(*tasks, gpus=1) == {
        "build": set(),
        "trains": {"build"},
        "gpu 0 gpu 2": {"build"},
        "gpu 1 gpu 3": {"build"},
        "fast": {"trains"},
    }


def test_of_a_single_submission_half_of_what_may_share_a_gpu_goes_on_beside_the_other():
    build = task("build")
    tasks = build, *(task(one.item, "shares", needs=("build",), **ONE) for one in ON_GPU)
    assert planned(*tasks, gpus=1) == {
        "build": set(),
        "gpu 0 gpu 2 gpu 4": {"build"},
        "gpu 1 gpu 3": {"build"},
    }
    parts = plan(tasks, KINDS, Limits(), gpus=1, alone=True)
    assert [(part.exclusive, part.shares_gpu, part.cores) for part in parts] == [
        (False, False, 0),
        (True, True, 0),
        (True, True, 0),
    ]


def test_of_a_single_submission_what_is_timed_without_a_gpu_does_not_wait_for_one():
    tasks = (
        task("fast", "timed"),
        task("fast on a GPU", "timed", group="gpu", **ONE),
        task("shares its program", group="gpu"),
        task("comes after it", needs=("fast on a GPU",)),
        task("comes after the other", uses=("fast",)),
        task("trains"),
    )
    assert planned(*tasks, gpus=1) == {
        "fast": set(),
        "fast on a GPU shares its program": set(),
        "comes after it comes after the other": {"fast", "fast on a GPU shares its program"},
        "trains": set(),
    }
    parts = plan(tasks, KINDS, Limits(), gpus=1, alone=True)
    assert {(part.cores, part.timed_parts) for part in parts} == {(1, 2)}
    assert {part.timed_parts for part in plan(tasks, KINDS, Limits(), gpus=0, alone=True)} == {1}
    assert len(plan(tasks, KINDS, Limits(), gpus=1, alone=False)) == 2


def test_three_are_not_worth_a_second_program():
    assert planned(*ON_GPU[:3], gpus=1) == {"gpu 0 gpu 1 gpu 2": set()}
    assert not plan(ON_GPU[:3], KINDS, Limits(), gpus=1, alone=False)[0].shares_gpu


@pytest.mark.parametrize("alone", [True, False])
def test_a_gpu_is_shared_only_by_kinds_that_see_the_same_then(alone):
    tasks = (
        task("build"),
        task("after", "shares", needs=("build",), **ONE),
        task("script", **ONE),
        task("fast", "timed", **ONE),
        task("grouped", "shares", group="g", **ONE),
        task("split", "shares", devices={"gpu": 2}),
        task("later", "shares", needs=("fast",), **ONE),
        task("on the CPU", "shares"),
        *ON_GPU,
    )
    parts = plan(tasks, KINDS, Limits(), gpus=2, alone=alone)
    sharing = {task.item for part in parts if part.shares_gpu for task in part.tasks}
    assert sharing == {"after", *(one.item for one in ON_GPU)}
    assert sorted(task.item for part in parts for task in part.tasks) == sorted(task.item for task in tasks)


def test_nothing_shares_a_gpu_that_is_not_there():
    assert planned(*ON_GPU, gpus=0) == {"gpu 0 gpu 1 gpu 2 gpu 3 gpu 4": set()}


def test_the_most_devices_come_first_and_nothing_before_what_it_needs():
    one, two = ({"gpu": n} for n in (1, 2))
    tasks = (
        task("timed"),
        task("first", devices=one),
        task("moves", devices=two),
        task("waits", devices=one),
        task("splits", devices=two, needs=("waits",)),
        task("more than there are", devices={"gpu": 3}),
    )
    names = [task.item for task in in_order(tasks, 2)]
    assert names == ["moves", "first", "waits", "splits", "timed", "more than there are"]


def test_what_is_judged_with_another_one_comes_after_it():
    tasks = task("claimed", uses=("fast",)), task("fast")
    assert [task.item for task in in_order(tasks, 1)] == ["fast", "claimed"]
