"""The strongest layer: bubblewrap mounts the interpreter, our side of the wire and the workspaces only.

As root it mounts as root, and every student's process becomes an ordinary user of its own. As an ordinary
user it works in a user namespace. Either way the server keeps the right to make namespaces, because every
check gets its own; the student's process loses all rights before any of its code runs.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from grader.contracts.sandbox import EVERY_PROMISE, Promise, Sandbox
from grader.errors import NotObservedError, RootError
from grader.sandbox.process import Running
from grader.sandbox.student import is_root, may_mount, student_uid
from grader.sandbox.view import HOSTS, machine


class BubblewrapSandbox(Sandbox):
    """No network, no other process, no file but the mounted ones, everything read-only."""

    name: ClassVar[str] = "bubblewrap"
    strength: ClassVar[int] = 30
    namespaced: ClassVar[bool] = True
    promises: ClassVar[frozenset[Promise]] = EVERY_PROMISE

    def student_uid(self, folders: Iterable[str]) -> int | None:
        """Return the uid of a student's process; None in a user namespace, which has only one.

        Every folder is mounted where that user can read it.

        Raises:
            RootError: it would be root.
        """
        del folders
        if may_mount():
            return student_uid()
        if is_root():
            raise RootError("a program would run as root: only who may mount gets a second user from it")
        return None

    def available(self) -> str:
        """Return why bubblewrap is missing; empty if it is installed, tried only when a server starts."""
        if shutil.which("bwrap"):
            return ""
        return "bubblewrap is not installed (Debian, Ubuntu: apt install bubblewrap)"

    def launch(
        self,
        argv: Sequence[str],
        *,
        mounts: Mapping[str, str],
        environment: Mapping[str, str],
        fds: Sequence[int],
        devices: Sequence[str] = (),
    ) -> Running:
        """Start the program behind the wall."""
        bwrap = shutil.which("bwrap")
        if bwrap is None:
            raise NotObservedError(f"sandbox: {self.available()}")
        with os.fdopen(os.memfd_create("hosts"), "w") as hosts:
            hosts.write(HOSTS)
            hosts.flush()
            hosts.seek(0)
            arguments = _arguments(mounts, environment, devices, hosts.fileno())
            return Running([bwrap, *arguments, "--", *argv], {}, [*fds, hosts.fileno()])


def _arguments(
    mounts: Mapping[str, str], environment: Mapping[str, str], devices: Sequence[str], hosts: int
) -> Iterator[str]:
    if not may_mount():
        yield from ("--unshare-user", "--uid", "0", "--gid", "0", "--cap-add", "ALL")
    for namespace in ("pid", "net", "ipc", "uts", "cgroup-try"):
        yield f"--unshare-{namespace}"
    yield from ("--die-with-parent", "--new-session", "--hostname", "grader", "--clearenv")
    for name, value in environment.items():
        yield from ("--setenv", name, value)
    view = machine()
    # parents of a mount are made 0700 unless they are made first, and then the student's user is locked out
    for folder in _parents([*view.optional, *mounts, *view.folders]):
        yield from ("--perms", "0755", "--dir", folder)
    for folder in view.folders:
        yield from ("--ro-bind", folder, folder)
    for link, target in view.links.items():
        yield from ("--symlink", target, link)
    for file in view.optional:
        yield from ("--ro-bind-try", file, file)
    yield from ("--proc", "/proc", "--dev", "/dev")
    # no terminals: the kernel's own threads work for them, and their time is nobody's
    yield from ("--tmpfs", "/dev/pts", "--remount-ro", "/dev/pts")
    for device in devices:
        yield from ("--dev-bind", device, device)
    yield from ("--perms", "1777", "--tmpfs", "/tmp")  # noqa: S108 - inside the sandbox
    yield from ("--perms", "1777", "--tmpfs", "/dev/shm")  # noqa: S108
    yield from ("--perms", "0755", "--dir", "/workspace")
    yield from ("--perms", "0644", "--ro-bind-data", str(hosts), "/etc/hosts")
    for inside, outside in mounts.items():
        yield from ("--ro-bind", outside, inside)
    yield from ("--remount-ro", "/dev", "--remount-ro", "/")


def _parents(paths: Sequence[str]) -> list[str]:
    """Return every folder above these paths, the highest first, without what the system provides."""
    above = {str(folder) for path in paths for folder in Path(path).parents}
    return sorted(folder for folder in above if folder != "/" and not folder.startswith("/usr"))
