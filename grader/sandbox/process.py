"""The weakest layer: a process of its own with limits, for machines that offer nothing better."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from grader.contracts.sandbox import Promise, Sandbox
from grader.machine import orphans
from grader.sandbox.interpreter import interpreter
from grader.sandbox.student import student_uid


class Running:
    """A started program in a session of its own, with its error output."""

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str], fds: Sequence[int]) -> None:
        self._complaints = os.fdopen(os.memfd_create("complaints"), "rb")
        self._process = orphans.start(
            argv,
            env=dict(environment),
            pass_fds=fds,
            stdin=subprocess.DEVNULL,
            stdout=self._complaints,
            stderr=self._complaints,
            start_new_session=True,
        )

    def wait(self, timeout_s: float) -> int | None:
        """Return the exit status, or None if it is still running after `timeout_s` seconds."""
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """End it, and wait until it is gone."""
        self._process.kill()
        self._process.wait()
        self._complaints.close()

    def complaints(self) -> str:
        """Return the end of its error output."""
        number = self._complaints.fileno()
        size = os.fstat(number).st_size
        return os.pread(number, 2000, max(0, size - 2000)).decode(errors="replace").strip()


class ProcessSandbox(Sandbox):
    """No wall but a filter of system calls: it reads what its user may. Every check gets its own server."""

    name: ClassVar[str] = "process"
    strength: ClassVar[int] = 0
    namespaced: ClassVar[bool] = False
    promises: ClassVar[frozenset[Promise]] = frozenset({Promise.FEWER_CALLS, Promise.NO_NETWORK})

    def student_uid(self, folders: Iterable[str]) -> int | None:
        """Return the uid of a student's process.

        Raises:
            RootError: it would be root, because nobody else can read these folders, or the interpreter.
        """
        return student_uid([interpreter().prefix, *folders])

    def available(self) -> str:
        """Return an empty text: this layer always works."""
        return ""

    def launch(
        self,
        argv: Sequence[str],
        *,
        mounts: Mapping[str, str],
        environment: Mapping[str, str],
        fds: Sequence[int],
        devices: Sequence[str] = (),
    ) -> Running:
        """Start the program as an ordinary process, which sees every device anyway."""
        del mounts, devices
        return Running(argv, environment, fds)
