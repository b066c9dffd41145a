"""Our end of a subject server: start one in a sandbox, and have it fork children."""

from __future__ import annotations

import json
import os
import re
import resource
import select
import socket
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from grader import subject
from grader.contracts.context import SUBMISSION
from grader.contracts.sandbox import Sandbox
from grader.coursecode import own_modules
from grader.errors import CourseError, GraderError, NotObservedError, PackageError, RootError
from grader.harness.dismissed import Dismissed
from grader.harness.server_spec import ServerSpec
from grader.installed import missing_error
from grader.machine import orphans
from grader.model.assignment import Limits
from grader.model.exit_status import ending
from grader.subject.pid1 import COURSE_FILES, SERVER_FILES
from grader.subject.protocol import MESSAGE_BYTES, NAMESPACED

OPEN_FILES = 4096
"""How many files a program may have open at once."""
END_WITHIN_S = 10.0
START_WITHIN_S = 120.0
"""Importing torch from a cold network file system takes its time."""

# The package is found by its folder: putting that on the path would offer its modules to the student.
_BOOT = (
    "import gc, sys, types; gc.disable(); "
    "p = types.ModuleType('_grader_subject'); p.__path__ = [sys.argv[1]]; "
    "sys.modules[p.__name__] = p; sys.path += sys.argv[2].split(':'); "
    "from _grader_subject.server import main; main(sys.argv[3:])"
)

DRIVER_MB = 2048
"""What the driver of a device and our observer beside the program take of its memory, in MiB: the program is
not charged for it. Seen with driver 580 and CUPTI 13.4: 1,024 MiB were not enough for arrays of 30 MiB."""

PATH = "/usr/local/bin:/usr/bin:/bin"
"""Where programs look for programs."""
_LIBRARY_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class SubjectServer:
    """A process in a sandbox that has imported the preloads and nothing of any student."""

    def __init__(  # noqa: PLR0913 - all that a server is started with, by name
        self,
        sandbox: Sandbox,
        *,
        python: str,
        site: tuple[str, ...],
        setup: ServerSpec,
        workspaces: Mapping[str, Path],
        course_files: Path | None = None,
        limits: Limits,
        as_root: bool = False,
    ) -> None:
        """Start it; `ready` waits until it has imported everything.

        `workspaces` maps the name under which `spawn` asks for a folder to that folder; `course_files` are
        found before the files of any workspace. All are read-only inside.

        Raises:
            RootError: its programs would run as root, and that was not allowed by `as_root`.
        """
        self.within: Mapping[str, str] = {}
        """By that name the part of the folder that is asked for, where it is not the whole."""
        self.dismissed = Dismissed()
        """Children that still end, of other servers of the run too."""
        self.shared = sandbox.namespaced
        """Whether one child leaves nothing behind that another could find."""
        self._sandbox = sandbox
        self._setup = setup
        self._limits = limits
        staged = {name: str(folder) for name, folder in workspaces.items()}
        staged["subject"] = str(Path(subject.__file__).parent)
        mounts = {f"{SERVER_FILES}/{name}": folder for name, folder in staged.items()}
        mounts |= {f"/python/site{number}": folder for number, folder in enumerate(site)}
        mounts |= {COURSE_FILES: str(course_files)} if course_files else {}
        mounts |= dict(setup.mounts)
        inside = {outside: path if sandbox.namespaced else outside for path, outside in mounts.items()}
        self._inside = {name: inside[folder] for name, folder in staged.items()}
        self.course_files = inside[str(course_files)] if course_files else None
        """Where a child finds the course's own files."""
        self.course_folder = course_files
        """Where they are."""
        # a layer without paths of its own has the outside's
        renamed = () if sandbox.namespaced else setup.mounts
        self._extra = [outside for _, outside in renamed]
        self._uid = _user(sandbox, mounts.values(), as_root=as_root)
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.settimeout(START_WITHIN_S)  # a server that takes no more orders must not hold us
        with theirs:
            number = theirs.fileno()
            self._process = sandbox.launch(
                [
                    *(python, "-sPSB", "-c", _BOOT, self._inside["subject"]),
                    ":".join(inside[folder] for folder in site),
                    *(str(number), NAMESPACED if sandbox.namespaced else "", *setup.preloads),
                ],
                mounts=mounts,
                environment=_environment(limits, setup, renamed),
                fds=[number],
                devices=setup.devices,
            )
        self.versions: Mapping[str, Any] = {}

    @property
    def has_devices(self) -> bool:
        """Whether its programs are shown devices."""
        return bool(self._setup.devices)

    def limits_of(self, limits: Limits) -> Limits:
        """The limits of a child of this server: with devices the memory of the driver comes on top."""
        return replace(limits, memory_mb=limits.memory_mb + DRIVER_MB) if self.has_devices else limits

    def ready(self) -> None:
        """Wait until it serves.

        Raises:
            NotObservedError: the sandbox does not work here, or gives checks no namespaces of their own.
            PackageError: a package that is preloaded is not installed here, or cannot be imported.
            CourseError: there is no module of the name of a preload.
        """
        answer: dict[str, Any] = {}
        if select.select([self._control], [], [], START_WITHIN_S)[0]:
            answer = json.loads(self._control.recv(MESSAGE_BYTES) or b"{}")
        if "ready" not in answer:
            if "unfit" in answer:
                why = f"a check would get no namespaces of its own ({answer['unfit']})"
            else:
                why = self._complaints()
            self.close()
            if "failed" in answer:
                raise _preload_error(answer["failed"], self.course_folder)
            raise NotObservedError(f"sandbox {self._sandbox.name}: {why}")
        self.versions = answer["ready"]

    def _complaints(self) -> str:
        status = self._process.wait(1.0)
        ended = "did not start in time" if status is None else ending(status)
        complaints = self._process.complaints().splitlines()
        return f"the subject server {ended}" + (f" ({complaints[-1]})" if complaints else "")

    def spawn(
        self,
        workspace: str,
        *,
        arguments_bytes: int,
        shared_buffer_bytes: int,
        fds: list[int],
        cores: tuple[int, ...] = (),
        limits: Limits | None = None,
    ) -> None:
        """Have it fork a child.

        `fds` are the sockets of pid 1 and child, the shared buffer, the pipe for output, and the files of a
        freezer.

        With `cores` it, and all it starts, stays on these. With `limits` it has others than the server.
        """
        limits = limits or self._limits
        order = {
            "namespaced": self._sandbox.namespaced,
            # what a program leaves in a network, such as a port that waits, must not reach the reference;
            # a network for every program would be 4 ms of CPU time each
            "own_network": workspace != SUBMISSION,
            "submission": self.within.get(SUBMISSION, ""),
            "uid": self._uid,
            "workspace": "/".join(filter(None, (self._inside[workspace], self.within.get(workspace)))),
            "given": self.course_files,
            "limits": asdict(limits)
            | {
                "cpu_s": _cpu_s(limits),
                "open_files": _open_files(),
                "user_processes": self._processes(limits, workspace),
            },
            "paths": self._paths(),
            "arguments_bytes": arguments_bytes,
            "shared_buffer_bytes": shared_buffer_bytes,
            "devices": self.has_devices,
            "cores": list(cores),
        }
        try:
            socket.send_fds(self._control, [json.dumps(order).encode()], fds)
        except OSError as error:
            raise NotObservedError(f"sandbox {self._sandbox.name}: {self._complaints()} ({error})") from None

    def _paths(self) -> dict[str, list[str]] | None:
        """Return the folders that Landlock leaves a child beside its own files; None for all."""
        paths = self._sandbox.paths
        if paths is None:
            return None
        return {"read": [*paths["read"], *self._extra], "write": [*paths["write"]]}

    def _processes(self, limits: Limits, whose: str) -> int:
        """The bound that lets a check have as many as its limits say.

        The kernel counts per user; not those outside of a user namespace, but only since Linux 5.14. All
        children have the same user: what the submission left standing must not keep the reference from
        beginning a thread.
        """
        own_count = self._uid is not None or (self._sandbox.namespaced and _kernel() >= (5, 14))
        bound = limits.processes if whose == SUBMISSION else 2 * limits.processes
        return bound + (0 if own_count else _threads_of(os.getuid()))

    def close(self) -> None:
        """End it and every child that is left."""
        self.dismissed.wait()
        self._process.kill()
        self._control.settimeout(END_WITHIN_S)
        with self._control, suppress(OSError):
            while self._control.recv(MESSAGE_BYTES):  # what is behind a wall ends a moment after the wall
                pass
        # what is left without a pid namespace has escaped from pid 1 of its check
        orphans.reap(END_WITHIN_S, kill=not self._sandbox.namespaced)


def _preload_error(failed: Mapping[str, Sequence[str]], course_files: Path | None) -> GraderError:
    """Return the error of preloads that cannot be imported.

    `failed` has what each of them lacks, and the text of its exception.
    """
    where = "assignment.py: preloads"
    absent = {
        name: lacked for name, (lacked, _) in failed.items() if lacked and f"{name}.".startswith(f"{lacked}.")
    }
    course_modules = own_modules(course_files.parent) if course_files else ()
    if error := missing_error(where, [*absent.values()], course_modules):
        return error
    for name in absent:
        why = f"cannot import {name} ({failed[name][1]}); name a package that is installed"
        return CourseError(f"{where}: {why}")
    lines = [
        f"{where}: cannot import {name} ({why}); {_advice(lacked)}" for name, (lacked, why) in failed.items()
    ]
    return PackageError(*lines)


def _advice(lacked: str) -> str:
    """Return what to do about a package that is here and cannot be imported."""
    return f"install {lacked}" if lacked else "mend it on this machine"


def _user(sandbox: Sandbox, folders: Iterable[str], *, as_root: bool) -> int | None:
    try:
        return sandbox.student_uid(folders)
    except RootError as error:
        if as_root:
            return None
        raise RootError(f"sandbox {sandbox.name}: {error}") from None


def _cpu_s(limits: Limits) -> int:
    """A bound that only a program which escapes every wall clock can reach: an hour of each core."""
    return 3600 * max(1, limits.cores)


def _open_files() -> int:
    """How many files a child may have open, and as many on their way between sockets; raises our own limit.

    The kernel counts those on their way per user, who may be ours, and refuses to send another file when
    there are more than the sender's own limit: a program must not keep us from having children forked.
    """
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard // 4)


def _kernel() -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", os.uname().release)[:2])


def _threads_of(uid: int) -> int:
    """How many threads a user has on this machine; processes that we may not see count as none."""
    threads = 0
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            with suppress(OSError):
                if process.stat().st_uid == uid:
                    threads += process.joinpath("task").stat().st_nlink - 2
    return threads


def _environment(limits: Limits, setup: ServerSpec, renamed: Sequence[tuple[str, str]]) -> dict[str, str]:
    fixed = {
        "CUDA_VISIBLE_DEVICES": "",  # what is lent says otherwise; a weak layer shows the files of all
        "HOME": "/tmp",  # noqa: S108 - the check's own, inside the sandbox
        "LANG": "C.UTF-8",
        "LOGNAME": "student",
        "PATH": PATH,
        "PYTHONHASHSEED": "0",
        "TZ": "UTC",
        "USER": "student",
    }
    cores = str(setup.cores or min(limits.cores, os.cpu_count() or 1))
    variables = {name: _outside(value, renamed) for name, value in setup.environment}
    return fixed | dict.fromkeys(_LIBRARY_THREADS, cores) | variables


def _outside(value: str, renamed: Sequence[tuple[str, str]]) -> str:
    """A path, or several with colons between them, as they are named outside."""
    parts = value.split(":")
    for inside, outside in renamed:
        parts = [
            outside + part.removeprefix(inside) if f"{part}/".startswith(f"{inside}/") else part
            for part in parts
        ]
    return ":".join(parts)
