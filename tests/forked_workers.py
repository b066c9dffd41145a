"""Starts workers by forking a process that has imported theirs: 0.4 s of CPU time less for each of them.

Everything else is as `grader.engines.process` starts them: arguments, streams, variables, folder, cores, a
process group of its own, and this process as their parent.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

from grader.machine import orphans

_CLONE_PARENT = 0x8000
"""Of clone(2): the new process is a brother of the one that makes it, and a child of ours."""
_SERVE = f"""
import ctypes, gc, json, os, signal, socket, sys

import grader.worker.__main__ as worker
import grader.worker.run, grader.worker.items, grader.worker.quiet, grader.harness.process_pool
from grader.checks.builtin import grader_checks

grader_checks()  # imports all kinds
gc.collect()
gc.freeze()  # who is forked would otherwise copy every page by looking for garbage
libc = ctypes.PyDLL(None)  # keeps the interpreter's lock, as os.fork does
clone = {{"x86_64": 56, "aarch64": 220}}[os.uname().machine]
orders = socket.socket(fileno=int(sys.argv[1]))
while True:
    order, fds, _, _ = socket.recv_fds(orders, 2**20, 3)
    if not order:
        break
    ctypes.pythonapi.PyOS_BeforeFork()
    pid = libc.syscall(clone, {_CLONE_PARENT} | signal.SIGCHLD, 0, 0, 0, 0)
    if pid:
        ctypes.pythonapi.PyOS_AfterFork_Parent()
        orders.send(str(pid).encode())
        for fd in fds:
            os.close(fd)
        continue
    ctypes.pythonapi.PyOS_AfterFork_Child()
    orders.close()
    os.setpgid(0, 0)
    for number, fd in enumerate(fds):
        os.dup2(fd, number)
        os.close(fd)
    order = json.loads(order)
    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(order["folder"])
    os.sched_setaffinity(0, order["cores"])
    sys.argv = order["argv"]
    sys.exit(worker.main())
"""


class ForkedWorkers:
    """The process that is forked, started with the first command."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._orders: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Have the local executor start its workers here."""
        workers = self
        if self._orders is None:
            self._start()

        class Forked(subprocess.Popen[str]):
            def _execute_child(self, args, *more):
                # of subprocess.Popen, which knows no other way to be given a process
                if "grader.worker" in args:
                    stdin, _, _, stdout, _, stderr = more[9:15]
                    self.pid = workers.fork(args, [stdin, stdout, stderr])
                    self._child_created = True
                    self._close_pipe_fds(*more[9:15])
                else:
                    super()._execute_child(args, *more)

        with patch.object(orphans, "subprocess", SimpleNamespace(Popen=Forked)):
            yield

    def fork(self, args: list[str], fds: list[int]) -> int:
        """Fork one and return its number; it is a child of this process."""
        order = {
            "argv": args[args.index("grader.worker") :],
            "environment": dict(os.environ),
            "folder": str(Path.cwd()),
            "cores": sorted(os.sched_getaffinity(0)),
        }
        assert self._orders is not None
        with self._lock:  # many submissions are graded in threads
            socket.send_fds(self._orders, [json.dumps(order).encode()], fds)
            return int(self._orders.recv(64))

    def _start(self) -> None:
        """Start the process by the main thread: where a thread began it, its end is an end of the parent."""
        self._orders, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        usual = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        usual["PYTHONPATH"] = os.pathsep.join(sys.path)  # where grader is found if it is not installed
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _SERVE, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                env=usual | {"OPENBLAS_NUM_THREADS": "1"},  # its threads would be missing in what is forked
            )

    def close(self) -> None:
        """End the process; its workers have ended with their commands."""
        if self._orders is not None and self._process is not None:
            self._orders.close()
            self._process.wait()


WORKERS = ForkedWorkers()
"""Of this worker."""
