"""The weakest layer: a process of its own with limits, for machines that offer nothing better."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import ClassVar


class Running:
    """A started program, alone in its session, whose complaints are kept."""

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str], fds: Sequence[int]) -> None:
        self._complaints = os.memfd_create("complaints")
        self._process = subprocess.Popen(
            argv,
            env=dict(environment),
            pass_fds=fds,
            stdin=subprocess.DEVNULL,
            stdout=self._complaints,
            stderr=self._complaints,
            start_new_session=True,
        )

    def wait(self, timeout_s: float) -> int | None:
        """The exit status, or None if it is still running after `timeout_s` seconds."""
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """End it, and wait until it is gone."""
        self._process.kill()
        self._process.wait()

    def complaints(self) -> str:
        """The end of what it said on its error output."""
        size = os.fstat(self._complaints).st_size
        return os.pread(self._complaints, 2000, max(0, size - 2000)).decode(errors="replace").strip()


class ProcessSandbox:
    """No wall at all: the program sees the machine as its user does. Every check gets a server of its own."""

    name: ClassVar[str] = "process"
    strength: ClassVar[int] = 0
    namespaced: ClassVar[bool] = False

    @property
    def student_uid(self) -> int | None:
        """Nobody else: another user might not be able to read the interpreter."""
        return None

    def available(self) -> str:
        """Always works."""
        return ""

    def launch(
        self,
        argv: Sequence[str],
        *,
        mounts: Mapping[str, str],
        environment: Mapping[str, str],
        fds: Sequence[int],
    ) -> Running:
        """Start the program as an ordinary process."""
        return Running(argv, environment, fds)
