"""What is stopped stays stopped: each way to have the kernel send SIGCONT later is refused to a program.

A program that one of these wakes computes while no clock runs. Each of them works without the filter.
"""

import ctypes
import errno
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

from grader.subject import seccomp

PROGRAM = """
    import ctypes, fcntl, os, signal, socket, sys, termios
    from grader.subject import linux, seccomp

    libc = ctypes.CDLL(None, use_errno=True)
    pipe, queue_name = int(sys.argv[3]), sys.argv[4].encode()
    answer, messages = (socket.socket(fileno=int(number)) for number in sys.argv[1:3])
    CLONE = seccomp.CALLS["clone"][0 if os.uname().machine == "x86_64" else 1]
    SIGCONT_WHEN_DUE = (ctypes.c_int * 16)(0, 0, signal.SIGCONT)
    ME = os.getpid()

    def checked(result):
        if result == -1: raise OSError(ctypes.get_errno(), "refused")
        return result

    def timer():
        number = ctypes.c_void_p()
        checked(libc.timer_create(1, SIGCONT_WHEN_DUE, ctypes.byref(number)))
        every_50_ms = (ctypes.c_long * 4)(0, 50_000_000, 0, 50_000_000)
        checked(libc.timer_settime(number, 0, every_50_ms, None))
        return ME, 0

    def message_queue():
        file = checked(libc.mq_open(queue_name, os.O_CREAT | os.O_RDWR, 0o600, None))
        checked(libc.mq_notify(file, SIGCONT_WHEN_DUE))
        return ME, 0

    def owner_of_a_pipe():
        os.set_blocking(pipe, False)
        try:
            while True: os.write(pipe, bytes(4096))
        except BlockingIOError: pass
        fcntl.fcntl(pipe, fcntl.F_SETOWN, ME)
        fcntl.fcntl(pipe, fcntl.F_SETSIG, signal.SIGCONT)
        fcntl.fcntl(pipe, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
        return ME, 0

    def end_of_the_parent():
        reading, writing = os.pipe()
        if (child := os.fork()) == 0:
            code = 0
            try: linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGCONT)
            except OSError as error: code = error.errno
            os.write(writing, bytes([code]))
            while True: signal.pause()
        if code := os.read(reading, 1)[0]: raise OSError(code, "refused")
        return child, ME

    def end_of_a_child():
        child = checked(libc.syscall(CLONE, int(signal.SIGCONT), 0, 0, 0, 0))
        while child == 0: signal.pause()
        return ME, child

    def terminal():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        socket.send_fds(messages, [b"the other end of it"], [master])
        os.close(master)
        return ME, 0

    if sys.argv[6] == "filtered":
        linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
        seccomp.refuse_calls(network=True)
    try: stopped, other = globals()[sys.argv[5]]()
    except OSError as error: answer.send(f"refused {error.errno}".encode())
    else: answer.send(f"waits {stopped} {other}".encode())
    while True: signal.pause()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program that has prepared to be woken, and the ends that its reader has."""

    answer: tuple[str, ...]
    messages: socket.socket
    pipe: int
    queue: bytes

    @property
    def pids(self) -> list[int]:
        """The process to be stopped, and the one whose end wakes it, or 0."""
        return [int(part) for part in self.answer[1:]] if self.answer[0] == "waits" else []


@contextmanager
def program(way: str, wall: str) -> Iterator[Program]:
    queue = f"/grader-test-{os.getpid()}"
    pipe, pipe_end = os.pipe()
    (answers, answer_end), (messages, message_end) = (
        socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(2)
    )
    fds = [answer_end.fileno(), message_end.fileno(), pipe_end]
    code = [sys.executable, "-c", dedent(PROGRAM), *map(str, fds), queue, way, wall]
    running = subprocess.Popen(code, pass_fds=fds, start_new_session=True)
    for end in (answer_end, message_end):
        end.close()
    os.close(pipe_end)
    with answers, messages:
        answers.settimeout(30)
        one = Program(
            answer=tuple(answers.recv(100).decode().split()),
            messages=messages,
            pipe=pipe,
            queue=queue.encode(),
        )
        try:
            yield one
        finally:
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()
            os.close(pipe)
            _libc.mq_unlink(one.queue)


_libc = ctypes.CDLL(None)


def nothing(one: Program) -> None:
    """The kernel does it by itself."""


def send_to_the_queue(one: Program) -> None:
    file = _libc.mq_open(one.queue, os.O_WRONLY)
    assert _libc.mq_send(file, b"x", 1, 0) == 0
    os.close(file)


def read_what_it_printed(one: Program) -> None:
    os.read(one.pipe, 65536)


def end_the_other(one: Program) -> None:
    os.kill(one.pids[1], signal.SIGKILL)


def read_its_message(one: Program) -> None:
    one.messages.recv(100)


@pytest.mark.parametrize(
    ("way", "wake", "refused_with"),
    [
        ("timer", nothing, errno.ENOSYS),
        ("message_queue", send_to_the_queue, errno.ENOSYS),
        ("owner_of_a_pipe", read_what_it_printed, errno.EINVAL),
        ("end_of_the_parent", end_the_other, errno.EINVAL),
        ("end_of_a_child", end_the_other, errno.EINVAL),
        ("terminal", read_its_message, errno.EPERM),
    ],
)
def test_a_program_cannot_have_itself_continued(
    way: str, wake: Callable[[Program], None], refused_with: int
) -> None:
    if not seccomp.supported():
        pytest.skip("the system calls of this machine are not known")
    with program(way, "open") as one:
        os.kill(one.pids[0], signal.SIGSTOP)
        _until(lambda: _state(one.pids[0]) == "T", "it was not stopped")
        wake(one)
        _until(lambda: _state(one.pids[0]) != "T", "the attack itself does not work")
    with program(way, "filtered") as one:
        assert one.answer == ("refused", str(refused_with))


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def _until(holds: Callable[[], bool], otherwise: str) -> None:
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.001)
