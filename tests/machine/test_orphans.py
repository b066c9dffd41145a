"""Orphans fall to this process and are reaped; children that somebody else waits for are left alone."""

import subprocess
import sys
from textwrap import dedent

ORPHAN = "import os, sys\nif os.fork(): os._exit(0)\nos.setsid()\nprint(os.getpid(), flush=True)\n"
"""A program whose child goes on in a session of its own, and says who it is."""


def in_a_process(code: str) -> list[str]:
    """The words that code printed, in a process that is no sub-reaper afterwards."""
    begin = f"import os, subprocess, sys\nfrom grader.machine import orphans\nORPHAN = {ORPHAN!r}\n"
    begin += dedent("""
        orphans.adopt()

        def orphan(then):
            run = subprocess.run([sys.executable, "-c", ORPHAN + then], stdout=subprocess.PIPE, check=True)
            return int(run.stdout)

        def exists(pid):
            return os.path.exists(f"/proc/{pid}")
    """)
    run = [sys.executable, "-c", begin + dedent(code)]
    return subprocess.run(run, capture_output=True, text=True, check=True, timeout=60).stdout.split()


def test_an_orphan_that_ends_is_waited_for_and_leaves_no_defunct_process():
    printed = in_a_process("""
        pid = orphan("")
        orphans.reap(30.0)
        print(exists(pid))
    """)
    assert printed == ["False"]


def test_an_orphan_that_goes_on_is_left_alone_or_killed_as_asked():
    printed = in_a_process("""
        pid = orphan("os.closerange(0, 3); import time; time.sleep(60)")
        orphans.reap(0.0)
        print(exists(pid))
        orphans.reap(30.0, kill=True)
        print(exists(pid))
    """)
    assert printed == ["True", "False"]


def test_what_falls_to_us_when_an_orphan_is_killed_is_killed_as_well():
    printed = in_a_process("""
        fork = "pid = os.fork(); os.closerange(0, 3) if pid else print(os.getpid(), flush=True)\\n"
        fork += "import time; time.sleep(60)"
        run = subprocess.Popen([sys.executable, "-c", ORPHAN + fork], stdout=subprocess.PIPE)
        pids = [int(run.stdout.readline()) for _ in range(2)]
        run.wait()
        orphans.reap(30.0, kill=True)
        print(*map(exists, pids))
    """)
    assert printed == ["False", "False"]


def test_children_that_were_begun_here_keep_their_exit_status():
    printed = in_a_process("""
        exits = [sys.executable, "-c", "raise SystemExit(7)"]
        of_a_session = orphans.start(exits, start_new_session=True)
        of_our_group = subprocess.Popen(exits)
        for process in (of_a_session, of_our_group):
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        orphans.reap(0.0, kill=True)
        print(of_a_session.wait(), of_our_group.wait())
    """)
    assert printed == ["7", "7"]


def test_a_child_with_a_group_of_its_own_goes_on_while_orphans_are_killed():
    printed = in_a_process("""
        cat = orphans.start(["cat"], process_group=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        orphans.reap(0.0, kill=True)
        print(cat.communicate(b"here")[0].decode())
    """)
    assert printed == ["here"]
