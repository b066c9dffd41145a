"""The strong layer: bubblewrap shows the interpreter, our side of the wire and the workspaces; nothing else.

As root it mounts as root, and every student's process becomes an ordinary user of its own. As an ordinary
user it works in a user namespace. Either way the server keeps the right to make namespaces, because every
check gets its own; the student's process loses all rights before any of its code runs.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from grader.errors import NotObservedError
from grader.sandbox.interpreter import interpreter
from grader.sandbox.process import Running

STUDENT_UID = 60001
"""A user that owns nothing on the machine."""

_ROOTS = tuple(map(Path, ("/bin", "/sbin", "/lib", "/lib32", "/lib64")))
_FILES = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")


class BubblewrapSandbox:
    """No network, no other process, no file but the mounted ones, everything read-only."""

    name: ClassVar[str] = "bubblewrap"
    strength: ClassVar[int] = 30
    namespaced: ClassVar[bool] = True

    @property
    def student_uid(self) -> int | None:
        """Whom a student's process becomes; an ordinary user cannot become anybody else."""
        return STUDENT_UID if os.geteuid() == 0 else None

    def available(self) -> str:
        """Whether the program is there; that it works here shows when a server starts."""
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
    ) -> Running:
        """Start the program behind the wall."""
        bwrap = shutil.which("bwrap")
        if bwrap is None:
            raise NotObservedError(f"sandbox: {self.available()}")
        return Running([bwrap, *_arguments(mounts, environment), "--", *argv], {}, fds)


def _arguments(mounts: Mapping[str, str], environment: Mapping[str, str]) -> Iterator[str]:
    if os.geteuid() != 0:
        yield from ("--unshare-user", "--uid", "0", "--gid", "0", "--cap-add", "ALL")
    for namespace in ("pid", "net", "ipc", "uts", "cgroup-try"):
        yield f"--unshare-{namespace}"
    yield from ("--die-with-parent", "--new-session", "--hostname", "grader", "--clearenv")
    for name, value in environment.items():
        yield from ("--setenv", name, value)
    # parents of a mount are made 0700 unless they are made first, and then the student's user is locked out
    for folder in _parents([*_FILES, *mounts, interpreter().prefix]):
        yield from ("--perms", "0755", "--dir", folder)
    yield from ("--ro-bind", "/usr", "/usr")
    for root in _ROOTS:
        if root.is_symlink():
            yield from ("--symlink", str(root.readlink()), str(root))
        elif root.is_dir():
            yield from ("--ro-bind", str(root), str(root))
    for file in _FILES:
        yield from ("--ro-bind-try", file, file)
    if interpreter().prefix != "/usr":
        yield from ("--ro-bind", interpreter().prefix, interpreter().prefix)
    yield from ("--proc", "/proc", "--dev", "/dev")
    yield from ("--perms", "1777", "--tmpfs", "/tmp")  # noqa: S108 - inside the sandbox
    yield from ("--perms", "1777", "--tmpfs", "/dev/shm")  # noqa: S108
    yield from ("--perms", "0755", "--dir", "/workspace")
    for inside, outside in mounts.items():
        yield from ("--ro-bind", outside, inside)
    yield from ("--remount-ro", "/dev", "--remount-ro", "/")


def _parents(paths: Sequence[str]) -> list[str]:
    """Every folder above these paths, the highest first, without what the system provides."""
    above = {str(folder) for path in paths for folder in Path(path).parents}
    return sorted(folder for folder in above if folder != "/" and not folder.startswith("/usr"))
