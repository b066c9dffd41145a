"""The third layer: no namespaces; Landlock and seccomp close files and network to the program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from grader.contracts.sandbox import Promise
from grader.sandbox.process import ProcessSandbox, Running
from grader.sandbox.view import machine

LEAST_ABI = 3
"""ABI 3 (Linux 6.2) restricts truncation; older kernels let a program truncate files by path."""

_READ = ("/proc", "/sys/devices/system/cpu")
_WRITE = ("/dev/shm", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")  # noqa: S108


class LandlockSandbox(ProcessSandbox):
    """It reads the system, the interpreter and its own files alone, has no sockets, and sees processes."""

    name: ClassVar[str] = "landlock"
    strength: ClassVar[int] = 10
    promises: ClassVar[frozenset[Promise]] = frozenset(
        {Promise.FEWER_CALLS, Promise.NO_NETWORK, Promise.HIDES_FILES, Promise.READ_ONLY_PROC}
    )

    def __init__(self) -> None:
        self.paths: Mapping[str, Sequence[str]] = {"read": (), "write": ()}
        """What a student's process may read and write beside its own files; known once it was launched."""

    def available(self) -> str:
        """Return what the kernel lacks; empty if it has all that is needed."""
        from grader.subject import landlock, seccomp  # ctypes with it: only where stronger layers are missing

        if not seccomp.supported():
            return "Landlock alone does not close the network: it needs system-call filters (x86-64, aarch64)"
        version = landlock.abi()
        if version >= LEAST_ABI:
            return ""
        has = f"has version {version}" if version else "has none, or it is switched off"
        return f"Landlock: the kernel {has}; Linux 6.2 with `landlock` among its lsm= has version {LEAST_ABI}"

    def launch(
        self,
        argv: Sequence[str],
        *,
        mounts: Mapping[str, str],
        environment: Mapping[str, str],
        fds: Sequence[int],
        devices: Sequence[str] = (),
    ) -> Running:
        """Start the program as an ordinary process: each child closes the file system for itself."""
        view = machine()
        sites = [outside for inside, outside in mounts.items() if inside.startswith("/python/")]
        self.paths = {
            "read": (*view.folders, *view.optional, *view.links, *_READ, *sites),
            "write": (*_WRITE, *devices),
        }
        return super().launch(argv, mounts=mounts, environment=environment, fds=fds, devices=devices)
