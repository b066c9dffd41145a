"""What a program used, and for how long others kept it waiting."""

import subprocess
import sys
from contextlib import closing

import pytest

from grader.machine.freezer import new_freezer
from grader.subject import watch
from grader.subject.watch import FIRST_LOOK_S, _Delay, cgroup_usage, processes_usage

NOBODY_WAITS = """
import os, signal, sys, time
os.write(int(sys.argv[1]), b"0")
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
reading, writing = os.pipe()
if os.fork() == 0:
    while time.process_time() < 0.3: pass
    os._exit(0)
os.close(writing)
os.read(reading, 1)  # it has ended
print(flush=True)
sys.stdin.read()
"""


def test_a_cgroup_counts_processes_for_which_nobody_waited():
    """Their time would otherwise be taken for that of others, who stretch every limit: seen to ten times."""
    freezer = new_freezer()
    if freezer is None:
        pytest.skip("no cgroup v2 may be made here")
    with closing(freezer):
        procs, cpu_stat = freezer.fds[2:]
        before_ns = processes_usage([])
        argv = [sys.executable, "-c", NOBODY_WAITS, str(procs)]
        with subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[procs]
        ) as program:
            program.stdout.read(1)
            by_cgroup_ns = cgroup_usage(cpu_stat)([program.pid])
            by_processes_ns = processes_usage([program.pid]) - before_ns
    assert by_processes_ns < 0.3e9, "the kernel counts them elsewhere, too"
    assert by_cgroup_ns >= 0.3e9


def test_a_first_look_that_comes_late_grants_no_more_than_one_that_comes_in_time(monkeypatch):
    """A crowd of the program's own keeps pid 1 from looking, and waits for cores meanwhile."""
    monkeypatch.setattr(watch, "thread_folders", lambda members: ["a thread"])
    monkeypatch.setattr(watch, "run_delay_ns", lambda folder: 10**9)
    delay = _Delay([0], lambda members: 0)
    delay.begin()
    delay.look([])
    assert 0 < delay.by_others_ns <= FIRST_LOOK_S * 1e9
