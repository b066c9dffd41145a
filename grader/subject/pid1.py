"""Pid 1 of one check: mounts its view, starts the student's process, stops, continues and kills everything.

When this process ends the kernel ends everything in its namespace. It runs no student code, and the student's
process cannot signal, trace or read it.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, NoReturn

from . import linux, scratch_folder
from .check_processes import (
    CheckProcesses,
    DescendantProcesses,
    NamespaceProcesses,
    thread_folders,
    thread_state,
)
from .core_warmup import CoreWarmup
from .memory_meter import MemoryMeter
from .protocol import (
    AWAKE,
    EXCEEDED,
    FAILED,
    HELLO,
    MESSAGE_BYTES,
    NOT_STOPPED,
    THAW,
    EndMessage,
    Freeze,
    Frozen,
    Wake,
)
from .stopper import CgroupStopper, SignalStopper, Stopper, stop_all
from .usage_watch import ProcessesUsage, UsageWatch, cgroup_usage

WORKSPACE = "/workspace"
COURSE_FILES = "/given"
"""Mount point of the course's own files, which the student's process sees."""
SERVER_FILES = "/stage"
"""Mount point of our code and of every workspace, hidden from the student's process by a tmpfs."""

DISK_FILES = 4
"""How many files of the largest size fit into `/tmp`, and into `/dev/shm`."""
DISK_INODES = 16384

END_WITHIN_S = 8.0
"""How long we wait for killed processes: less than the worker waits for us."""

_LOOK_DUE = b"look"
"""In place of a message: the next look at the usage is due."""


def run(
    control: socket.socket,
    order: dict[str, Any],
    shared_buffer: int,
    freezer: Sequence[int],
    student: Callable[[], NoReturn],
) -> NoReturn:
    """Run as pid 1; never returns.

    `order` has `namespaced`, `workspace`, `given` (or None), `uid` (or None), `limits`, `cores` (empty for
    all) and `arguments_bytes`; `shared_buffer` is the memory for arguments and results; `freezer` are the
    open files of a cgroup, or nothing: `cgroup.freeze`, `cgroup.events`, `cgroup.procs`, `cpu.stat`, its
    folder, and where there is one `cgroup.kill`; `student` runs in the process below.
    """
    step = "start"
    scratch = ""
    try:
        linux.prctl(linux.PR_SET_DUMPABLE, 0)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        control.send(HELLO)
        if order["namespaced"]:
            step = "mount"
            mount_private_view(order["workspace"], order["limits"]["file_mb"])
            if order["given"]:
                _mount_given_anew()
        else:
            step = "make a folder for temporary files"
            scratch = scratch_folder.make(order["uid"])
            # no PDEATHSIG: we end after all our descendants, as soon as the worker's socket closes
            linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
        step = "start the student's process"
        pid, in_cgroup = _fork(freezer)
        if pid == 0:
            if order["cores"]:  # not ourselves: a busy program would keep us from stopping it
                os.sched_setaffinity(0, order["cores"])
            for file in freezer:
                os.close(file)
            control.close()
            student()
        # after the fork, or the program would inherit it: SIGCHLD of a stopped process wakes SignalStopper,
        # and where a program has our user no signal of its may end us (Python handles SIGINT)
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        processes = NamespaceProcesses() if order["namespaced"] else DescendantProcesses()
        stopper = (
            CgroupStopper(processes, *freezer[:2], *freezer[5:]) if in_cgroup else SignalStopper(processes)
        )
        folders = _DISKS if order["namespaced"] else ()
        cores = order["cores"] or os.sched_getaffinity(0)
        used_ns = cgroup_usage(freezer[3]) if in_cgroup else ProcessesUsage()
        watch = UsageWatch(MemoryMeter(shared_buffer, folders), processes, order["limits"], cores, used_ns)
        warmup = CoreWarmup(shared_buffer, order["arguments_bytes"], pid)
        most = 2 * order["limits"]["user_processes"]
        _supervise(control, pid, processes, stopper, watch, warmup, most)
    except BaseException as error:  # no process above handles it: report what failed, then end
        control.send(FAILED + f"{step}: {error}".encode()[:2000])
    if scratch:
        scratch_folder.remove(scratch)
    os._exit(0)


_DISKS = ("/tmp", "/dev/shm")  # noqa: S108 - mounted anew for each check


def mount_private_view(workspace: str, file_mb: int) -> None:
    """Mount what a check may see, in a mount namespace of its own; takes the right to mount."""
    private = linux.MS_NOSUID | linux.MS_NODEV
    linux.mount("none", "/", flags=linux.MS_REC | linux.MS_PRIVATE)
    linux.mount(workspace, WORKSPACE, flags=linux.MS_BIND)
    linux.mount("proc", "/proc", "proc", private | linux.MS_NOEXEC)
    for disk in _DISKS:
        size = f"size={DISK_FILES * file_mb}m,nr_inodes={DISK_INODES},mode=1777"
        linux.mount("tmpfs", disk, "tmpfs", private, size)
    linux.mount("tmpfs", SERVER_FILES, "tmpfs", private | linux.MS_RDONLY, "size=4k,mode=0555")
    os.chdir(WORKSPACE)


@cache
def holds_mounts(folder: str) -> bool:
    """Tell whether anything is mounted below a folder; asked in the server once, for all children."""
    with open("/proc/self/mountinfo") as mounts:
        return any(line.split()[4].startswith(f"{folder}/") for line in mounts)


def _mount_given_anew() -> None:
    """Show the course's files by inodes of this check's own, so that no other check sees a lock on them.

    An overlay shows nothing that is mounted below its folders: such files stay as they are, and so do all
    where the kernel makes no overlay for us.
    """
    if holds_mounts(COURSE_FILES):
        return
    flags = linux.MS_NOSUID | linux.MS_NODEV | linux.MS_RDONLY
    with suppress(OSError):  # it takes two folders, and the second is empty by now
        linux.mount("overlay", COURSE_FILES, "overlay", flags, f"lowerdir={COURSE_FILES}:{SERVER_FILES}")


def _fork(freezer: Sequence[int]) -> tuple[int, bool]:
    """Fork a process, if we may into the cgroup that can be frozen: its pid, and whether it is in there."""
    if not freezer:
        return os.fork(), False
    with suppress(OSError):  # an old kernel does not know how, or a container's filter forbids it
        return linux.fork_into(freezer[4]), True
    pid = os.fork()
    if pid == 0:
        return 0, False
    try:
        # nothing of the student runs before we have answered the worker for the first time
        os.write(freezer[2], str(pid).encode())
    except OSError:  # the owner of the cgroups may forbid it: then signals must do
        return pid, False
    return pid, True


def _supervise(
    control: socket.socket,
    pid: int,
    processes: CheckProcesses,
    stopper: Stopper,
    watch: UsageWatch,
    warmup: CoreWarmup,
    most: int,
) -> None:
    child = os.pidfd_open(pid)
    wait = select.poll()
    wait.register(control, select.POLLIN)
    wait.register(child, select.POLLIN)
    excess = ""
    try:
        while True:
            ready = {fd for fd, _ in wait.poll(watch.due_ms())}
            if child in ready:
                _, status, usage = os.wait4(pid, 0)
                control.send(EndMessage(status, usage.ru_maxrss * 1024).pack())
                return
            message = control.recv(MESSAGE_BYTES) if ready else _LOOK_DUE
            freeze = Freeze.read(message)
            if freeze is not None:
                times = stop_all(stopper, processes, freeze.deadline_ns)
                if times is None:
                    control.send(NOT_STOPPED)
                    return
                delay_ns, cpu_ns = watch.delay_ns(times.members), watch.cpu_ns(times.members)
                cpu = delay_ns, cpu_ns, time.process_time_ns()
                control.send(Frozen(watch.begun_ns, times.stopped_ns, times.charged_ns, *cpu).pack())
                excess = watch.rest(times.members)  # reported when the next call begins: this one is over
            elif message == _LOOK_DUE:
                excess = watch.look()
            elif message == THAW:
                watch.begin()
                stopper.go()
                warmup.end()
            elif (wake := Wake.read(message)) is not None:
                if not excess:
                    warmup.begin(wake.arguments_bytes)
                    control.send(AWAKE)
                    warmup.spin(control.fileno())
            else:  # the worker closed its end, or went away
                return
            if excess and freeze is None:
                control.send(EXCEEDED + excess.encode())
                return
            _reap_orphans(pid)
    finally:
        end(processes, stopper, most)


def end(processes: CheckProcesses, stopper: Stopper, most: int) -> None:
    """Kill everything; what is left after `END_WITHIN_S`, the kernel ends with its namespace.

    None is reaped before all are dead: a chain of processes, each of which forks the next and ends, outruns
    kills one by one, until the defunct ones fill the bound on processes and fork fails. Where more than
    `most` are defunct there is no such bound, as for root, and they are reaped.
    """
    deadline = time.monotonic() + END_WITHIN_S
    before: set[int] | None = None
    while time.monotonic() < deadline:
        stopper.kill()
        members = processes.members()
        living = any(thread_state(folder) not in "ZX" for folder in thread_folders(members))
        if not living and members == before:
            break
        before = members
        if living:
            signal.sigtimedwait({signal.SIGCHLD}, 0.001)
        if len(members) > most:
            _reap()
    _reap()


def _reap() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass


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
