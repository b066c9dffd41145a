"""Pid 1 of one check: sets the stage, starts the student's process, freezes, continues and ends everything.

When this process ends the kernel ends everything in its namespace. It runs no student code, and the student's
process cannot signal, trace or read it.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn, Protocol

from . import linux
from .protocol import ENDED, FAILED, FREEZE, FROZEN, HELLO, MESSAGE_BYTES, RESTLESS, THAW

WORKSPACE = "/workspace"
GIVEN = "/given"
"""The course's own files, for everybody to see."""
STAGE = "/stage"
"""Where the sandbox mounts what the student's process must not see: our code and every workspace."""

STAND_WITHIN_S = 2.0
"""How long stopping everything may take before the observation is void; microseconds are usual."""


def run(control: socket.socket, order: dict[str, Any], student: Callable[[], NoReturn]) -> NoReturn:
    """Be pid 1: never returns.

    `order` has `namespaced`, `workspace`, `uid` (or None) and `limits`; `student` runs in the process below.
    """
    step = "start"
    try:
        linux.prctl(linux.PR_SET_DUMPABLE, 0)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        control.send(HELLO)
        if order["namespaced"]:
            step = "mount"
            _set_stage(order["workspace"])
        else:
            # no PDEATHSIG: we end after whatever descends from us, as soon as the examiner's socket closes
            linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
        step = "start the student's process"
        pid = os.fork()
        if pid == 0:
            control.close()
            student()
        _supervise(control, pid, _Everyone() if order["namespaced"] else _Descendants())
    except BaseException as error:  # pid 1 has nobody above it: say what failed, then end
        control.send(FAILED + f"{step}: {error}".encode()[:2000])
    os._exit(0)


def _set_stage(workspace: str) -> None:
    private = linux.MS_NOSUID | linux.MS_NODEV
    linux.mount("none", "/", flags=linux.MS_REC | linux.MS_PRIVATE)
    linux.mount(workspace, WORKSPACE, flags=linux.MS_BIND)
    linux.mount("proc", "/proc", "proc", private | linux.MS_NOEXEC)
    linux.mount("tmpfs", "/tmp", "tmpfs", private, "size=256m,mode=1777")  # noqa: S108 - a fresh one, just mounted
    linux.mount("tmpfs", "/dev/shm", "tmpfs", private, "size=256m,mode=1777")  # noqa: S108
    linux.mount("tmpfs", STAGE, "tmpfs", private | linux.MS_RDONLY, "size=4k,mode=0555")
    os.chdir(WORKSPACE)


def _supervise(control: socket.socket, pid: int, population: _Population) -> None:
    child = os.pidfd_open(pid)
    wait = select.poll()
    wait.register(control, select.POLLIN)
    wait.register(child, select.POLLIN)
    try:
        while True:
            ready = {fd for fd, _ in wait.poll()}
            if child in ready:
                status = os.waitpid(pid, 0)[1]
                control.send(ENDED + str(status).encode())
                return
            message = control.recv(MESSAGE_BYTES)
            if message == THAW:
                population.signal(signal.SIGCONT)
            elif message == FREEZE:
                control.send(FROZEN if _freeze(population, pid) else RESTLESS)
            else:  # the examiner closed its end, or went away
                return
            _reap_orphans(pid)
    finally:
        while population.members():
            population.signal(signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(-1, 0)


def _reap_orphans(pid: int) -> None:
    """Collect what ended and was left to us, but leave the student's own process to `_supervise`."""
    while True:
        try:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        if ended is None or ended.si_pid == pid:
            return
        os.waitpid(ended.si_pid, 0)


class _Population(Protocol):
    """The processes of one check."""

    def members(self) -> set[int]:
        """Their pids, pid 1 not among them."""
        ...

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to all of them."""
        ...


class _Everyone:
    """In a pid namespace: all but pid 1, in one system call that no fork can slip through."""

    def members(self) -> set[int]:
        return {int(name) for name in os.listdir("/proc") if name.isdigit()} - {1}

    def signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.kill(-1, number)


class _Descendants:
    """Without a namespace: whatever descends from this process; orphans come back to it."""

    def members(self) -> set[int]:
        parents = {}
        for name in os.listdir("/proc"):
            if name.isdigit() and (stat := _stat(f"/proc/{name}")):
                parents[int(name)] = int(stat[1])
        found: set[int] = set()
        while more := {pid for pid, parent in parents.items() if parent in {os.getpid(), *found}} - found:
            found |= more
        return found

    def signal(self, number: signal.Signals) -> None:
        for member in self.members():
            with suppress(ProcessLookupError):
                os.kill(member, number)


def _freeze(population: _Population, pid: int) -> bool:
    """Stop everyone; False if someone still moved after `STAND_WITHIN_S`."""
    deadline = time.monotonic() + STAND_WITHIN_S
    while True:
        population.signal(signal.SIGSTOP)
        os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        others = population.members() - {pid}
        # who was forked while we looked is found by looking again
        if all(map(_stands, others)) and population.members() <= {pid, *others}:
            return True
        if time.monotonic() > deadline:
            return False


_STANDING = frozenset("TtZX")


def _stands(pid: int) -> bool:
    """Whether no thread of a process runs, or can come to run without being continued."""
    with suppress(FileNotFoundError, ProcessLookupError):  # it ended meanwhile
        return all(
            stat is None or stat[0] in _STANDING
            for stat in (_stat(f"/proc/{pid}/task/{task}") for task in os.listdir(f"/proc/{pid}/task"))
        )
    return True


def _stat(folder: str) -> list[str] | None:
    """The fields of a `stat` file from the state on; None if the process is gone."""
    try:
        with open(f"{folder}/stat", errors="replace") as file:
            return file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
