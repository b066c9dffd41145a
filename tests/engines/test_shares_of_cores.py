"""Which cores shared and exclusive orders have."""

from __future__ import annotations

import pytest

from grader.engines.cores import divide
from grader.machine.cores import Cores


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


def test_shared_orders_keep_off_the_cores_of_exclusive_ones(cores):
    found = divide(cores(4), 1, gpus=0)
    assert (found.exclusive, found.shared, found.at_once) == ((1, 2), {0, 3}, 1)


def test_and_off_their_second_threads(cores):
    found = divide(cores(4, threads=2), 1, gpus=0)
    assert (found.exclusive, found.shared) == ((1, 2), {0, 3, 4, 7})


def test_where_exclusive_orders_need_all_there_is_nothing_beside_them(cores):
    found = divide(cores(2), 1, gpus=0)
    assert (found.exclusive, found.shared) == ((0, 1), frozenset())


def test_there_are_as_many_timed_runs_at_once_as_gpus_and_cores_allow(cores):
    enough = divide(cores(16), 1, gpus=4)
    assert (enough.at_once, len(enough.exclusive)) == (4, 8)
    few = divide(cores(6), 1, gpus=4)
    assert (few.at_once, len(few.exclusive), len(few.shared)) == (2, 4, 2)


def test_what_needs_a_gpu_and_is_not_timed_leaves_all_cores_to_both(cores):
    found = divide(cores(4), 0, gpus=2)
    assert (found.shared, found.exclusive, found.at_once) == ({0, 1, 2, 3}, (0, 1, 2, 3), 2)
