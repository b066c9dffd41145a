"""Cores on machines with and without hardware threads, by fake trees of /sys."""

import os

import pytest

from grader.machine.cores import Cores, parse_list, quota


def machine(folder, siblings):
    """A tree in which each core has the given list of siblings."""
    for core, text in siblings.items():
        (topology := folder / f"cpu{core}" / "topology").mkdir(parents=True)
        (topology / "thread_siblings_list").write_text(f"{text}\n")
    return folder


@pytest.fixture
def threads(tmp_path):
    """Four physical cores of two threads each: 0 and 4, 1 and 5, 2 and 6, 3 and 7."""
    return machine(tmp_path, {core: f"{core % 4},{core % 4 + 4}" for core in range(8)})


def test_one_thread_of_each_physical_core_is_a_candidate_and_core_0_is_left_alone(threads):
    cores = Cores(range(8), threads)
    assert cores.pick(1) == cores.pick(3) == (1, 2, 3)


def test_the_core_of_core_0_comes_when_the_others_do_not_suffice(threads):
    assert Cores(range(8), threads).pick(4) == (1, 2, 3, 0)


def test_second_threads_come_when_the_physical_cores_do_not_suffice(threads):
    assert Cores(range(8), threads).pick(5) == (1, 2, 3, 0, 4, 5, 6, 7)


def test_the_sibling_of_core_0_is_as_busy_even_where_we_may_not_use_core_0(threads):
    assert Cores([4, 5], threads).pick(1) == (5,)
    assert Cores([4, 5], threads).pick(2) == (5, 4)


def test_a_machine_with_one_core_has_one_candidate(tmp_path):
    assert Cores([0], machine(tmp_path, {0: "0"})).pick(1) == (0,)
    assert Cores([0], tmp_path).pick(2) == (0,)


def test_where_the_kernel_does_not_tell_of_threads_each_core_stands_alone(tmp_path):
    cores = Cores(range(3), tmp_path)
    assert cores.siblings(1) == ()
    assert cores.pick(2) == (1, 2)


def test_siblings_are_the_others(threads):
    assert Cores(range(8), threads).siblings(6) == (2,)


def test_without_being_told_it_takes_our_affinity():
    assert set(Cores().allowed) == os.sched_getaffinity(0)


@pytest.mark.parametrize(
    ("text", "numbers"), [("0-2,8\n", (0, 1, 2, 8)), ("5", (5,)), ("\n", ()), ("0,64", (0, 64))]
)
def test_lists_of_the_kernel_are_understood(text, numbers):
    assert parse_list(text) == numbers


def test_governors_are_named_once(tmp_path):
    assert Cores([0, 1], tmp_path).governors() == ()
    for core, name in enumerate(("powersave", "performance", "powersave")):
        (folder := tmp_path / f"cpu{core}" / "cpufreq").mkdir(parents=True)
        (folder / "scaling_governor").write_text(f"{name}\n")
    assert Cores(range(3), tmp_path).governors() == ("performance", "powersave")


@pytest.mark.parametrize(("text", "share"), [("150000 100000\n", 1.5), ("max 100000\n", None), (None, None)])
def test_the_bound_of_a_container_counts_in_cores(tmp_path, text, share):
    if text:
        (tmp_path / "cpu.max").write_text(text)
    assert quota(tmp_path) == share


def test_apart_from_some_cores_is_what_shares_no_physical_core_with_them(threads):
    assert Cores(range(8), threads).apart((1, 6)) == {0, 3, 4, 7}
    assert Cores([0, 1, 5], threads).apart(()) == {0, 1, 5}
