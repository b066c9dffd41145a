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
from .memory import Meter
from .protocol import ENDED, EXCEEDED, FAILED, FREEZE, FROZEN, HELLO, MESSAGE_BYTES, RESTLESS, THAW

WORKSPACE = "/workspace"
GIVEN = "/given"
"""The course's own files, for everybody to see."""
STAGE = "/stage"
"""Where the sandbox mounts what the student's process must not see: our code and every workspace."""

DISK_FILES = 4
"""How many files of the largest size fit into `/tmp`, and into `/dev/shm`."""
DISK_INODES = 16384

_LOOK = b"look"
"""What this process tells itself."""
FIRST_LOOK_S = 0.05
LOOK_EVERY_S = 0.02
"""A call that is over sooner is not looked at: looking takes a little of what is being timed."""
LOOKING_SHARE = 0.1
"""Of one core, at most, however many processes there are."""

STAND_WITHIN_S = 2.0
"""How long stopping everything may take before the observation is void; microseconds are usual."""


def run(
    control: socket.socket, order: dict[str, Any], arena: int, student: Callable[[], NoReturn]
) -> NoReturn:
    """Be pid 1: never returns.

    `order` has `namespaced`, `workspace`, `uid` (or None), `limits` and `cores` (empty for all); `arena` is
    the shared memory for arguments and results; `student` runs in the process below.
    """
    step = "start"
    scratch = ""
    try:
        linux.prctl(linux.PR_SET_DUMPABLE, 0)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        control.send(HELLO)
        if order["cores"]:
            step = "take the cores"
            os.sched_setaffinity(0, order["cores"])
        if order["namespaced"]:
            step = "mount"
            set_stage(order["workspace"], order["limits"]["file_mb"])
        else:
            step = "make a folder for temporary files"
            scratch = _scratch(order["uid"])
            # no PDEATHSIG: we end after whatever descends from us, as soon as the examiner's socket closes
            linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
        step = "start the student's process"
        pid = os.fork()
        if pid == 0:
            control.close()
            student()
        population = _Everyone() if order["namespaced"] else _Descendants()
        folders = _DISKS if order["namespaced"] else ()
        watch = _Watch(Meter(arena, folders), population, order["limits"])
        _supervise(control, pid, population, watch)
    except BaseException as error:  # pid 1 has nobody above it: say what failed, then end
        control.send(FAILED + f"{step}: {error}".encode()[:2000])
    _remove(scratch)
    os._exit(0)


_DISKS = ("/tmp", "/dev/shm")  # noqa: S108 - mounted anew for each check


def _scratch(uid: int | None) -> str:
    """A folder for temporary files, in place of a `/tmp` of its own; the program finds it by TMPDIR."""
    import tempfile

    folder = os.environ["HOME"] = os.environ["TMPDIR"] = tempfile.mkdtemp(prefix="grader-")
    tempfile.tempdir = folder
    if uid is not None:
        os.chown(folder, uid, uid)
    return folder


def _remove(scratch: str) -> None:
    if scratch:
        import shutil

        with suppress(RecursionError):  # folders in folders in folders
            shutil.rmtree(scratch, ignore_errors=True)


def set_stage(workspace: str, file_mb: int) -> None:
    """Mount what a check may see, in a mount namespace of its own; takes the right to mount."""
    private = linux.MS_NOSUID | linux.MS_NODEV
    linux.mount("none", "/", flags=linux.MS_REC | linux.MS_PRIVATE)
    linux.mount(workspace, WORKSPACE, flags=linux.MS_BIND)
    linux.mount("proc", "/proc", "proc", private | linux.MS_NOEXEC)
    for disk in _DISKS:
        size = f"size={DISK_FILES * file_mb}m,nr_inodes={DISK_INODES},mode=1777"
        linux.mount("tmpfs", disk, "tmpfs", private, size)
    linux.mount("tmpfs", STAGE, "tmpfs", private | linux.MS_RDONLY, "size=4k,mode=0555")
    os.chdir(WORKSPACE)


def _supervise(control: socket.socket, pid: int, population: _Population, watch: _Watch) -> None:
    child = os.pidfd_open(pid)
    wait = select.poll()
    wait.register(control, select.POLLIN)
    wait.register(child, select.POLLIN)
    excess = ""
    try:
        while True:
            ready = {fd for fd, _ in wait.poll(watch.due_ms())}
            if child in ready:
                status = os.waitpid(pid, 0)[1]
                control.send(ENDED + str(status).encode())
                return
            message = control.recv(MESSAGE_BYTES) if ready else _LOOK
            if message == FREEZE:
                control.send(FROZEN if _freeze(population, pid) else RESTLESS)
                excess = watch.rest()  # said when the next call begins: this one is over
            elif message == _LOOK:
                excess = watch.look()
            elif message == THAW:
                watch.begin()
                population.signal(signal.SIGCONT)
            else:  # the examiner closed its end, or went away
                return
            if excess and message != FREEZE:
                control.send(EXCEEDED + excess.encode())
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


class _Watch:
    """Looks now and then, while a call runs, at what all processes of the check use together."""

    def __init__(self, meter: Meter, population: _Population, limits: dict[str, int]) -> None:
        self._meter = meter
        self._population = population
        self._memory = limits["memory_mb"] * 2**20
        self._processes = limits["processes"]
        self._next: float | None = None

    def begin(self) -> None:
        """A call begins."""
        self._next = time.monotonic() + FIRST_LOOK_S

    def rest(self) -> str:
        """Everything stands still, so that looking costs no time of the program's; like `look`."""
        excess = self.look()
        self._next = None
        return excess

    def due_ms(self) -> float | None:
        """Milliseconds until the next look; None for no look."""
        return None if self._next is None else max(0.0, self._next - time.monotonic()) * 1000

    def look(self) -> str:
        """Which limit is exceeded and by how much there is, in words of the protocol; empty for none."""
        begun = time.monotonic()
        members = self._population.members()
        if len(members) > self._processes:  # the kernel counts them too, but never those of root
            return f"processes {len(members)}"
        used = self._meter.used_above(self._memory, members)
        now = time.monotonic()
        self._next = now + max(LOOK_EVERY_S, (now - begun) / LOOKING_SHARE)
        return f"memory {used}" if used else ""


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
