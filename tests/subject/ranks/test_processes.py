"""Who computes, who waits, and when a program is blocked."""

import os
import signal
import time
from pathlib import Path

import pytest

from grader.subject.ranks import processes
from grader.subject.ranks.processes import Standstill, lives, others, waits


@pytest.fixture
def child():
    """Start a function in a process of its own; its pid."""
    started = []

    def start(act):
        pid = os.fork()
        if pid == 0:
            try:
                act()
            finally:
                os._exit(0)
        started.append(pid)
        return pid

    yield start
    for pid in started:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


@pytest.fixture
def patient(monkeypatch):
    """Every process waits for another one."""
    monkeypatch.setattr(processes, "waits", lambda pid: True)


def until(holds):
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        os.sched_yield()


def test_who_reads_from_another_waits_and_who_sleeps_or_computes_does_not(child):
    reading, _ = os.pipe()

    def spin():
        while True:
            pass

    blocked, asleep, busy = (
        child(act) for act in (lambda: os.read(reading, 1), lambda: time.sleep(600), spin)
    )
    until(lambda: waits(blocked))
    until(lambda: _called(asleep) in processes._NANOSLEEPS[os.uname().machine])
    assert not waits(asleep)
    assert not waits(busy)
    os.kill(blocked, signal.SIGSTOP)
    until(lambda: not waits(blocked))


def _called(pid):
    return Path(f"/proc/{pid}/syscall").read_text().split()[0]


def test_who_is_gone_neither_waits_nor_lives(child):
    pid = child(lambda: None)
    assert lives(os.getpid())
    until(lambda: not lives(pid))  # nobody has collected it yet
    assert not waits(pid)
    assert pid not in others([])


def test_those_that_are_left_out_are_not_counted(child):
    reading, _ = os.pipe()
    pid = child(lambda: os.read(reading, 1))
    assert pid in others([])
    assert pid not in others([pid])
    assert os.getpid() not in others([])


def look(watched, *looks):
    for now, used in looks:
        watched.look(now, used)


def test_a_program_is_blocked_when_nobody_computed_for_the_whole_window(patient):
    watched = Standstill(2.0)
    look(watched, (0.0, {7: 1.0, 8: 1.0}), (1.9, {7: 1.0, 8: 1.0}))
    assert not watched.blocked()
    look(watched, (2.0, {7: 1.0, 8: 1.0}))
    assert watched.blocked()
    assert watched.still_s(7) == 2.0


def test_one_that_computes_is_enough_to_go_on(patient):
    watched = Standstill(2.0)
    look(watched, *((0.1 * n, {7: 1.0, 8: 0.05 * n}) for n in range(40)))
    assert not watched.blocked()
    assert watched.still_s(7) == pytest.approx(3.9)
    assert watched.still_s(8) == 0.0


def test_what_libraries_use_up_while_they_wait_is_no_computing(patient):
    watched = Standstill(2.0)
    look(watched, *((0.1 * n, {7: 1.0, 8: 0.01 * (n // 5)}) for n in range(40)))
    assert watched.blocked()


@pytest.mark.parametrize("now", [{7: 1.0}, {7: 1.0, 8: 1.0, 9: 0.0}], ids=["left", "came"])
def test_after_somebody_left_or_came_the_window_begins_anew(patient, now):
    watched = Standstill(2.0)
    look(watched, (0.0, {7: 1.0, 8: 1.0}), (1.5, {7: 1.0, 8: 1.0}), (1.6, now), (3.5, now))
    assert not watched.blocked()
    look(watched, (3.7, now))
    assert watched.blocked()


def test_a_program_of_nobody_is_not_blocked(patient):
    watched = Standstill(2.0)
    look(watched, (0.0, {}), (5.0, {}))
    assert not watched.blocked()
    assert watched.still_s(7) == 0.0


def test_a_program_in_which_somebody_goes_on_by_itself_is_not_blocked(monkeypatch):
    monkeypatch.setattr(processes, "waits", lambda pid: pid != 8)
    watched = Standstill(2.0)
    look(watched, (0.0, {7: 1.0, 8: 1.0}), (9.0, {7: 1.0, 8: 1.0}))
    assert not watched.blocked()
