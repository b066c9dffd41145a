"""The subject server: imports what an assignment preloads, calls none of them, forks a child per check."""

from __future__ import annotations

import gc
import importlib
import json
import mmap
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import product
from typing import Any, NoReturn

from . import child, landlock, linux, pid1, seccomp, standins
from .kernel_memory import KernelMemory
from .protocol import FAILED, HELLO, MESSAGE_BYTES, NAMESPACED, Calls

_FDS = 12
"""With an order come at most so many open files."""


def main(argv: Sequence[str]) -> NoReturn:
    """Serve on the socket whose number is given, until the worker closes it; never returns.

    `argv` is the socket's number, NAMESPACED or something else, then the modules to import.
    """
    control = socket.socket(fileno=int(argv[0]))
    # this process holds nothing secret, but a child that could write to it would reach the next check
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    if select.select([control], [], [], 0)[0]:  # the worker sends nothing before we are ready: it is gone
        os._exit(1)
    # children collect themselves; pid 1 of a check puts this back
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    sys.dont_write_bytecode = True
    trial = _try_namespaces() if argv[1] == NAMESPACED else -1
    started = time.monotonic()
    _redirect_numba()
    if failed := dict(_import_all(argv[2:])):
        _send(control, {"failed": failed})
        os._exit(1)
    if trial >= 0 and (why := _namespace_problem(trial)):
        _send(control, {"unfit": why})
        os._exit(1)
    facts = {
        "python": sys.version.split()[0],
        "preload_s": time.monotonic() - started,
        "seccomp": seccomp.supported(),
        "landlock_abi": landlock.abi(),
    }
    for network, pinned in product((True, False), repeat=2) if seccomp.supported() else ():
        seccomp.program(network=network, pinned=pinned)  # made once, for all children
    KernelMemory(0, own_network=argv[1] == NAMESPACED)  # reads settings of the kernel, for all children
    pid1.holds_mounts(pid1.COURSE_FILES)  # reads a file of the kernel's, for all children
    linux.forbid_capabilities()  # here, for all children: each would need 65 system calls
    gc.freeze()  # children share these pages as long as no collection writes to them
    gc.enable()  # off since the start: importing throws hardly anything away
    _send(control, {"ready": facts})
    before = None
    while True:
        message, fds, _, _ = socket.recv_fds(control, MESSAGE_BYTES, _FDS, socket.MSG_CMSG_CLOEXEC)
        if not message:
            os._exit(0)
        order = json.loads(message)
        _spawn(control, order, fds, another=before not in (None, order["submission"]))
        before = order["submission"]


def _import_all(names: Sequence[str]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Import modules; yield each that fails, with what it lacks (empty if nothing) and the error."""
    for name in names:
        try:
            importlib.import_module(name)
        except Exception as error:  # a library without its driver raises anything
            lacked = error.name if isinstance(error, ModuleNotFoundError) else None
            yield name, (lacked or "", str(error)[:500])


def _redirect_numba() -> None:
    """Make `numba.cuda` that of numba-cuda, where it is installed.

    It asks for this by a `.pth` file, and such files are not read: one could hold anybody's code.
    """
    with suppress(ImportError):
        importlib.import_module("_numba_cuda_redirector")


def _send(control: socket.socket, plain: dict[str, Any]) -> None:
    control.send(json.dumps(plain).encode())


def _fork_pid1(
    run: Callable[[], object], say: Callable[[str], object], *, namespaced: bool, network: bool
) -> None:
    """Fork pid 1 of a check, which runs `run` in namespaces of its own; `say` gets an error's text.

    With `network` that is one of them; otherwise it is in the server's, with all that it forks.
    """
    pid = -1
    try:
        pid = _fork_into_pid_namespace() if namespaced else os.fork()
        if pid == 0:
            if namespaced:
                linux.unshare(linux.CLONE_NEWNS | linux.CLONE_NEWIPC)
            if namespaced and network:
                linux.new_network()
            run()
    except BaseException as error:  # no process above would report it
        say(getattr(error, "strerror", None) or str(error))
    finally:
        if pid == 0:
            os._exit(1)


def _fork_into_pid_namespace() -> int:
    """Fork pid 1 of a new pid namespace: its pid, and 0 in the process itself.

    The namespace is made for whom this process forks next, and then it goes back to its own: a process that
    entered the new one itself would have to fork once more, which takes a millisecond and as long to undo.
    """
    ours = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    pid = -1
    try:
        linux.unshare(linux.CLONE_NEWPID)
        try:
            pid = os.fork()
        finally:
            if pid != 0:
                linux.setns(ours, linux.CLONE_NEWPID)
    finally:
        os.close(ours)
    return pid


def _try_namespaces() -> int:
    """Begin to try, while we import, what every check needs; the pipe that `_namespace_problem` reads."""
    reading, writing = os.pipe()

    def try_mounts() -> None:
        pid1.mount_private_view(pid1.WORKSPACE, file_mb=1)
        os.write(writing, HELLO)

    _fork_pid1(try_mounts, lambda why: os.write(writing, why.encode()), namespaced=True, network=True)
    os.close(writing)
    return reading


def _namespace_problem(trial: int) -> str:
    """Return how the try went: empty if checks will get their namespaces."""
    answer = os.read(trial, MESSAGE_BYTES)
    os.close(trial)
    return "" if answer == HELLO else answer.decode() or "the process that tried it ended"


def _spawn(control: socket.socket, order: dict[str, Any], fds: list[int], *, another: bool) -> None:
    """Start pid 1 of one check, in a new network where it is of another submission than the last one.

    A program leaves ports that wait for a minute in a network.

    `fds` are the sockets of pid 1 and child, shared buffer, pipe for output, pipes for requests and replies,
    and the files of a freezer.
    """
    pid1_socket, greeting = (socket.socket(fileno=fd) for fd in fds[:2])

    def run() -> None:
        control.close()
        calls = Calls(*fds[4:6])
        pid1.run(pid1_socket, order, fds[2], fds[6:], lambda: _student(order, greeting, calls, *fds[2:4]))

    def say(why: str) -> None:
        pid1_socket.send(FAILED + f"namespaces: {why}".encode()[:2000])

    try:
        if another and order["namespaced"]:
            linux.new_network()
    except OSError as error:
        say(error.strerror or str(error))
    else:
        _fork_pid1(run, say, namespaced=order["namespaced"], network=order["own_network"])
    pid1_socket.detach()
    greeting.detach()
    for fd in fds:
        os.close(fd)


def _prefer_as_oom_victim() -> None:
    """Set `oom_score_adj` to 1000: when the machine has no memory left, this program is killed first.

    Who has CAP_SYS_RESOURCE makes this the least value for good; read-only /proc does so for others.
    """
    linux.prctl(linux.PR_SET_DUMPABLE, 1)  # otherwise an ordinary user's own files in /proc are root's
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def _student(
    order: dict[str, Any], greeting: socket.socket, calls: Calls, memory: int, outputs: int
) -> NoReturn:
    try:
        shared_buffer = mmap.mmap(memory, order["shared_buffer_bytes"])
        workspace = pid1.WORKSPACE if order["namespaced"] else order["workspace"]
        folders = [order["given"], workspace] if order["given"] else [workspace]
        _prefer_as_oom_victim()
        if order["namespaced"] and not order["devices"]:  # CUDA names its threads there, or does not start
            linux.remount_read_only("/proc")
        if order["uid"] is not None:
            os.fchown(outputs, order["uid"], -1)  # a program opens /dev/stdout by its name
        child.prepare(order, outputs, folders)
        if standins.active_player is not None:
            standins.active_player.install()
        for fd in (memory, outputs):
            os.close(fd)
    except BaseException as error:  # a fault of ours or of the machine: it must not look like the student's
        greeting.send(FAILED + f"set-up: {error}".encode()[:2000])
        os._exit(1)
    greeting.send(HELLO)
    greeting.close()
    try:
        child.serve(calls, shared_buffer, order, folders)
    finally:
        os._exit(0)
