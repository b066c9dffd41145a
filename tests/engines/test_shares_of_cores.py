"""Which cores each lane has, and what waits for the second."""

from __future__ import annotations

import pytest

from grader.engines.cores import divide
from grader.grading.plan import cores_of, exclusive_items
from grader.machine.cores import Cores
from grader.model.assignment import Limits
from grader.model.job import Task
from grader.testing.kinds import AwardOnly


@pytest.fixture
def cores(tmp_path):
    """Physical cores of two threads each, or of one."""

    def make(count, threads=1):
        for core in range(count * threads):
            folder = tmp_path / str(count) / f"cpu{core}" / "topology"
            folder.mkdir(parents=True)
            siblings = ",".join(str(core % count + n * count) for n in range(threads))
            (folder / "thread_siblings_list").write_text(f"{siblings}\n")
        return Cores(range(count * threads), tmp_path / str(count))

    return make


def test_the_first_lane_keeps_off_the_cores_of_the_second(cores):
    found = divide(cores(4), 1, gpus=0)
    assert (found.exclusive, found.shared, found.at_once) == ((1, 2), {0, 3}, 1)


def test_and_off_their_second_threads(cores):
    found = divide(cores(4, threads=2), 1, gpus=0)
    assert (found.exclusive, found.shared) == ((1, 2), {0, 3, 4, 7})


def test_where_the_second_needs_all_there_is_nothing_beside_it(cores):
    found = divide(cores(2), 1, gpus=0)
    assert (found.exclusive, found.shared) == ((0, 1), frozenset())


def test_there_are_as_many_timed_exams_at_once_as_gpus_and_cores_allow(cores):
    enough = divide(cores(16), 1, gpus=4)
    assert (enough.at_once, len(enough.exclusive)) == (4, 8)
    few = divide(cores(6), 1, gpus=4)
    assert (few.at_once, len(few.exclusive), len(few.shared)) == (2, 4, 2)


def test_what_needs_a_gpu_and_is_not_timed_leaves_all_cores_to_both(cores):
    found = divide(cores(4), 0, gpus=2)
    assert (found.shared, found.exclusive, found.at_once) == ({0, 1, 2, 3}, (0, 1, 2, 3), 2)


class Plain(AwardOnly):
    pass


class Timed(AwardOnly):
    timed = True


KINDS = {"plain": Plain(), "timed": Timed()}


def task(item, check="plain", **more):
    return Task(item=item, check=check, options={}, **more)


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
