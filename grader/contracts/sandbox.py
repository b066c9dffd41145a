"""The contract of a sandbox, which starts a subject server with less of the machine in sight."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import ClassVar, Protocol


class Promise(StrEnum):
    """One action that the sandbox denies to a submission."""

    FEWER_CALLS = "it cannot mount, trace, load into the kernel or make namespaces"
    NO_NETWORK = "it reaches no network"
    HIDES_FILES = "it reads no file but the system's, the interpreter's and its own"
    READ_ONLY_PROC = "it changes nothing in /proc, so that it stays the first to go when memory runs out"
    OWN_PROCESSES = "it sees and reaches no process but its own"
    FRESH_FOLDERS = "it finds nothing in /tmp and /dev/shm that another check left"
    BOUNDED_DISK = "what it writes counts as memory and ends at a limit"


EVERY_PROMISE = frozenset(Promise)
"""The promises of a sandbox that keeps all of them."""


class Launched(Protocol):
    """A process that a sandbox started."""

    def wait(self, timeout_s: float) -> int | None:
        """Return the exit status, or None if it is still running after `timeout_s` seconds."""
        ...

    def kill(self) -> None:
        """End it, with everything in namespaces of its own, and wait until nothing of that is left."""
        ...

    def complaints(self) -> str:
        """Return the end of its error output."""
        ...


class Sandbox(ABC):
    """One way to start a subject server with less of the machine in sight."""

    name: ClassVar[str]
    """As in `grader doctor` and in the evidence."""
    strength: ClassVar[int]
    """Its rank: the strongest sandbox that works here is taken, one of 0 only where it is named."""
    namespaced: ClassVar[bool] = False
    """Whether it can mount, and its processes may give each check namespaces of its own."""
    promises: ClassVar[frozenset[Promise]] = frozenset()
    """Actions that it denies to a submission; each is attacked by a test."""
    paths: Mapping[str, Sequence[str]] | None = None
    """Folders that Landlock lets a child `read` and `write` beside its own files; None for all."""

    @abstractmethod
    def student_uid(self, folders: Iterable[str]) -> int | None:
        """Return the user that a student's process becomes; None where it stays an ordinary user.

        `folders` are those that this user must be able to read.

        Raises:
            RootError: it would be root.
        """

    @abstractmethod
    def available(self) -> str:
        """Return one line on what is missing and how to get it; empty if the sandbox works here."""

    @abstractmethod
    def launch(
        self,
        argv: Sequence[str],
        *,
        mounts: Mapping[str, str],
        environment: Mapping[str, str],
        fds: Sequence[int],
        devices: Sequence[str] = (),
    ) -> Launched:
        """Start `argv` with nothing but `environment`, and with `fds` kept open under their own numbers.

        `mounts` maps a path inside to a folder outside; all are read-only. A sandbox that is not
        `namespaced` has no paths of its own: its processes get the paths outside. `devices` are
        device files beside those that every program may expect; a sandbox that hides any shows no others.
        """
