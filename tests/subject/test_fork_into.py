"""A program is in its cgroup from its first moment on; where that cannot be asked for it is moved there."""

import subprocess
import sys
from contextlib import closing
from textwrap import dedent

import pytest

from grader.machine.freezer import new_freezer

ADOPTS = """
    import errno, os, sys
    from grader.subject import linux, pid1

    freezer = [int(fd) for fd in sys.argv[1:]]
    linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
    us, open_files = os.getpid(), len(os.listdir("/proc/self/fd"))

    def in_its_cgroup(pid):
        with open(f"/proc/{pid}/cgroup") as file: name = file.read().partition("0::")[2].split()[0]
        return os.path.basename(name) == os.path.basename(os.readlink(f"/proc/self/fd/{freezer[4]}"))

    def waits_and_tells():
        os.read(wait, 1)
        print("in" if in_its_cgroup("self") else "out", "ours" if os.getppid() == us else "lost", flush=True)
        os._exit(7)

    def no_clone3(*_, **__): raise OSError(errno.ENOSYS, "no such system call")
    wait, go = os.pipe()
"""

FORKS = """
    pid, entered = pid1._fork(freezer)
    if pid == 0: waits_and_tells()
"""

WHOLE = """
    import random, threading, time
    drawn_before = random.getstate()
    if (pid := linux.fork_into(freezer[4])) == 0:
        # the clock is found by the number that the C library keeps of the thread
        clock = time.pthread_getcpuclockid(threading.get_ident())
        threads = []
        thread = threading.Thread(target=lambda: threads.append(time.clock_gettime(clock) > 0))
        thread.start()
        thread.join()
        print(threads, random.getstate() != drawn_before)
        status = os.waitpid(os.fork() or os._exit(3), 0)[1]
        print(os.waitstatus_to_exitcode(status), flush=True)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""

CANNOT = """
    try: linux.fork_into(os.open("/", os.O_RDONLY))
    except OSError as error: print(errno.errorcode[error.errno])
    try: os.waitpid(-1, 0)
    except ChildProcessError: print("nobody")
    pid, entered = pid1._fork(freezer)
    if pid == 0: waits_and_tells()
"""

ENDS = """
    print(entered, flush=True)
    os.write(go, b".")
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    try: os.waitpid(-1, 0)
    except ChildProcessError: print("nobody", len(os.listdir("/proc/self/fd")) - open_files - 2)
"""


@pytest.fixture
def fds():
    if (freezer := new_freezer()) is None:
        pytest.skip("no cgroup v2 may be made here")
    with closing(freezer):
        yield freezer.fds


def lines_of(fds, *parts: str) -> list[str]:
    code = [sys.executable, "-c", "".join(map(dedent, (ADOPTS, *parts))), *map(str, fds)]
    done = subprocess.run(code, pass_fds=fds, stdout=subprocess.PIPE, text=True, check=True, timeout=60)
    return done.stdout.splitlines()


def test_a_process_begins_in_the_cgroup_as_a_child_of_ours(fds):
    no_move = "real_write = os.write\nos.write = lambda fd, text: fd == freezer[2] or real_write(fd, text)\n"
    assert lines_of(fds, no_move, FORKS, ENDS) == ["True", "in ours", "7", "nobody 0"]


def test_where_the_kernel_does_not_know_how_a_process_is_moved(fds):
    assert lines_of(fds, "linux.syscall = no_clone3\n", FORKS, ENDS) == [
        "True",
        "in ours",
        "7",
        "nobody 0",
    ]


def test_such_a_process_is_a_whole_one(fds):
    assert lines_of(fds, WHOLE) == ["[True] True", "3", "0"]


def test_where_it_cannot_be_forked_nobody_is_left_and_python_goes_on(fds):
    assert lines_of(fds, CANNOT, ENDS)[:2] == ["EBADF", "nobody"]
