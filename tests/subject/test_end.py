"""Whatever a program has started is dead when its check ends, also what was left to pid 1 or outruns it.

No program here makes more than 30 processes, and each of them ends by itself within 20 seconds.
"""

import os
import subprocess
import sys
from contextlib import closing
from textwrap import dedent

import pytest

from grader.machine.freezer import new_freezer

PID_1 = """
    import os, resource, signal, sys, time
    from grader.subject import linux, pid1
    from grader.subject.check_processes import DescendantProcesses
    from grader.subject.stopper import CgroupStopper, SignalStopper

    freezer = [int(fd) for fd in sys.argv[1:]]
    linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
    start, go = os.pipe()
    alive, living = os.pipe()

    def student():
        signal.alarm(20)
        if freezer: os.write(freezer[2], b"0")
        resource.setrlimit(resource.RLIMIT_NPROC, (NPROC, NPROC))
        if os.geteuid() == 0: os.setuid(61234)
        os.read(start, 1)
        work()

    if os.fork() == 0:
        try: student()
        finally: os._exit(0)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    processes = DescendantProcesses()
    stopper = CgroupStopper(processes, *freezer[:2], *freezer[5:]) if freezer else SignalStopper(processes)
    os.write(go, b".")
    os.close(living)
    begun = os.read(alive, 1)
    pid1.end(processes, stopper, 1000)
    links = len(begun)
    while more := os.read(alive, 100): links += len(more)  # its end: nobody is left who could write
    try: os.waitpid(-1, os.WNOHANG)
    except ChildProcessError: print("ended", links)
"""

CHAIN = """
    NPROC = 10
    def work(number=0):
        signal.alarm(20)
        os.write(living, b".")
        if number == 29 or os.fork(): os._exit(0)
        work(number + 1)
"""

SESSIONS = """
    NPROC = 40
    def work():
        for _ in range(25):
            if os.fork() == 0:
                signal.alarm(20)
                os.setsid()
                os.write(living, b".")
                while True: pass
        signal.pause()
"""


@pytest.fixture(params=["signals", "cgroup"])
def fds(request):
    """The files of a cgroup, or none where signals must do."""
    if request.param == "signals":
        yield ()
        return
    if (freezer := new_freezer()) is None:
        pytest.skip("no cgroup v2 may be made here")
    with closing(freezer):
        yield freezer.fds


def end_of(program: str, fds) -> list[str]:
    code = [sys.executable, "-c", dedent(program) + dedent(PID_1), *map(str, fds)]
    return subprocess.run(
        code, pass_fds=fds, stdout=subprocess.PIPE, text=True, check=True, timeout=60
    ).stdout.split()


@pytest.mark.skipif(os.geteuid() != 0, reason="the bound on processes is of a user who has no others")
def test_a_chain_of_processes_ends_at_the_bound_on_processes_for_the_dead_count(fds):
    ended, links = end_of(CHAIN, fds)
    assert ended == "ended"
    assert int(links) <= 10


def test_a_storm_of_sessions_is_ended(fds):
    assert end_of(SESSIONS, fds)[0] == "ended"
