"""What a program used, and for how long others kept it waiting."""

import subprocess
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from grader.machine.freezer import new_freezer
from grader.subject import usage_watch
from grader.subject.usage_watch import FIRST_LOOK_S, ProcessesUsage, ToolLimit, _Delay, cgroup_usage

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
        procs, cpu_stat = freezer.fds[2:4]
        by_processes = ProcessesUsage()
        before_ns = by_processes([])
        argv = [sys.executable, "-c", NOBODY_WAITS, str(procs)]
        with subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[procs]
        ) as program:
            program.stdout.read(1)
            by_cgroup_ns = cgroup_usage(cpu_stat)([program.pid])
            by_processes_ns = by_processes([program.pid]) - before_ns
    assert by_processes_ns < 0.3e9, "the kernel counts them elsewhere, too"
    assert by_cgroup_ns >= 0.3e9


COMPUTES_BESIDE = """
import os, time
child = os.fork()
if child == 0:
    until = time.process_time() + 0.3
    while time.process_time() < until: pass
    os.write(1, b"c")
    os.read(0, 1)
    os._exit(0)
os.waitpid(child, 0)
os.write(1, b"w")
os.read(0, 1)
"""


@contextmanager
def computing_beside():
    """A program that waits for its child; the child writes `c` when it has computed and reads a byte."""
    argv = [sys.executable, "-c", COMPUTES_BESIDE]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as program:
        yield program
        program.stdin.write(b".")


def test_a_process_counts_once_while_it_lives_and_when_its_parent_has_waited_for_it():
    usage = ProcessesUsage()
    with computing_beside() as program:
        assert program.stdout.read(1) == b"c"
        alive_ns = usage([program.pid, *children_of(program.pid)])
        program.stdin.write(b".")
        assert program.stdout.read(1) == b"w"
        waited_for_ns = usage([program.pid])
    assert alive_ns >= 0.3e9
    assert alive_ns <= waited_for_ns < alive_ns + 0.2e9


def test_a_process_that_was_never_seen_counts_once_its_parent_has_waited_for_it():
    usage = ProcessesUsage()
    with computing_beside() as program:
        before_ns = usage([program.pid])
        program.stdin.write(b".")
        assert [program.stdout.read(1) for _ in "cw"] == [b"c", b"w"]
        used_ns = usage([program.pid]) - before_ns
    assert used_ns >= 0.28e9  # the kernel tells of ended children in ticks


def test_what_was_counted_is_not_lost_when_a_process_ends_and_nobody_waits_for_it():
    """Otherwise a program lowers what it used by an old process of its own that ends."""
    usage = ProcessesUsage()
    argv = [sys.executable, "-c", "while __import__('time').process_time() < 0.3: pass\nprint()\ninput()"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        program.stdout.read(1)
        alive_ns = usage([program.pid])
        program.stdin.close()
        assert alive_ns >= 0.3e9
        assert usage([]) == alive_ns


def children_of(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in children.split()]


@pytest.mark.parametrize(
    ("waited_s", "others_s", "over"),
    [
        pytest.param(0, 0, True, id="nobody kept it waiting"),
        pytest.param(6, 6, False, id="others did"),
        pytest.param(6, 0, True, id="its own threads did"),
        pytest.param(0, 6, True, id="it slept beside others"),
    ],
)
def test_a_limit_of_a_tool_counts_no_waiting_for_others(monkeypatch, waited_s, others_s, over):
    counts = {"now": 0.0, "waited": 0, "busy": 0}
    monkeypatch.setattr(usage_watch, "thread_folders", lambda members: ["a thread"])
    monkeypatch.setattr(usage_watch, "run_delay_ns", lambda folder: counts["waited"])
    monkeypatch.setattr(usage_watch, "_busy_ns", lambda cores: counts["busy"] + time.process_time_ns())
    limit = ToolLimit(10.0, used_ns=lambda members: 0, clock=lambda: counts["now"])
    counts["now"] = 0.1
    assert not limit.is_over()
    counts |= {"now": 15.0, "waited": waited_s * 10**9, "busy": others_s * 10**9}
    assert limit.is_over() is over


@pytest.mark.parametrize(
    ("own_s", "granted_s"),
    [(1.0, FIRST_LOOK_S), (0.0, 1.0), (-1.0, FIRST_LOOK_S)],
    ids=["own", "others", "hidden"],
)
def test_a_first_look_that_comes_late_grants_what_others_can_have_used(monkeypatch, own_s, granted_s):
    """A crowd of the program's own keeps pid 1 from looking, and waits for cores meanwhile: it uses them."""
    used = iter([0.0, own_s] if own_s >= 0 else [own_s, own_s])
    monkeypatch.setattr(usage_watch, "thread_folders", lambda members: ["a thread"])
    waits = iter([0, 10**9])
    monkeypatch.setattr(usage_watch, "run_delay_ns", lambda folder: next(waits))
    delay = _Delay([0], lambda members: int(next(used) * 1e9))
    delay.rest([])
    delay.begin(time.monotonic_ns() - 10**9)
    delay.look([])
    assert delay.by_others_ns / 1e9 == pytest.approx(granted_s, abs=0.02)


POLITE = """
import os, sys
os.setsid()
with open("/proc/self/autogroup", "w") as file: file.write("19")
print(flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(
    not Path("/proc/self/autogroup").exists(), reason="no autogroups (CONFIG_SCHED_AUTOGROUP)"
)
def test_a_program_whose_session_lets_others_go_first_was_delayed_by_nobody_else(monkeypatch):
    monkeypatch.setattr(usage_watch, "run_delay_ns", lambda folder: time.monotonic_ns())
    monkeypatch.setattr(usage_watch, "_busy_ns", lambda cores: time.monotonic_ns())
    delay = _Delay([0], lambda members: 0)
    process = subprocess.Popen([sys.executable, "-c", POLITE], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with process:
        delay.begin(time.monotonic_ns())
        for members in ((), (1,), (1,)):
            delay.look(members)
        assert delay.by_others_ns > 0
        process.stdout.readline()
        delay.look([process.pid])
        process.stdin.close()
    delay.look([1])
    assert delay.by_others_ns == 0
