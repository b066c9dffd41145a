"""Runs a program in namespaces and a root file system of its own, where there is no bubblewrap."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

from . import linux

_OLD, _NEW = "/old", "/new"
_WRITABLE = ("/proc", "/tmp", "/dev/shm")  # noqa: S108 - fresh ones
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_STREAMS = {"fd": "fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}


def main(argv: Sequence[str]) -> NoReturn:
    """Make the root that `argv[0]` describes and run the rest of `argv` in it; never returns.

    The description is JSON: `user` (whether a user namespace is needed), `students` (the first uid and how
    many of them it maps beside ours; empty for none), `folders` ([outside, inside]; all read-only),
    `optional` (the same, where they exist), `links` ([target, path]), `devices` (further ones), `hosts` (what
    `/etc/hosts` says).
    Everything inside ends when this process does. What fails is one line on standard error.
    """
    try:
        linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
        layout = json.loads(argv[0])
        _unshare_namespaces(user=layout["user"], students=layout["students"])
        inner = os.fork()
        if inner == 0:
            linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
            _mount_root(layout)
            os.execv(argv[1], list(argv[1:]))  # noqa: S606 - this process is done, and no shell is wanted
        status = os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1])
        os._exit(status if status >= 0 else 1)
    except OSError as error:
        sys.stderr.write(f"{error.strerror if error.filename is None else error}\n")
        sys.stderr.flush()
    finally:
        os._exit(1)


def _unshare_namespaces(*, user: bool, students: Sequence[int]) -> None:
    """Unshare all namespaces; without the right to mount, first a user namespace in which we are root."""
    if user and students:
        _map_students(*students)
    elif user:
        ours = os.getuid(), os.getgid()
        linux.unshare(linux.CLONE_NEWUSER)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"0 {ours[0]} 1")
        _write("/proc/self/gid_map", f"0 {ours[1]} 1")
    linux.unshare(
        linux.CLONE_NEWNS | linux.CLONE_NEWPID | linux.CLONE_NEWNET | linux.CLONE_NEWIPC | linux.CLONE_NEWUTS
    )
    with suppress(OSError):  # it only hides our cgroup's path: old kernels do without
        linux.unshare(linux.CLONE_NEWCGROUP)


def _map_students(first: int, count: int) -> None:
    """Unshare a user namespace with these users as well, whom only a process outside may map."""
    ours = os.getpid()
    reading, writing = os.pipe()
    outside = os.fork()
    if outside == 0:
        try:
            os.read(reading, 1)
            for map_file in ("uid_map", "gid_map"):
                _write(f"/proc/{ours}/{map_file}", f"0 0 1\n{first} {first} {count}\n")
            os._exit(0)
        except OSError as error:
            os._exit(error.errno or 1)
    linux.unshare(linux.CLONE_NEWUSER)
    os.write(writing, b"x")
    if code := os.waitstatus_to_exitcode(os.waitpid(outside, 0)[1]):
        raise OSError(code, os.strerror(code), "/proc/self/uid_map")
    os.close(reading)
    os.close(writing)


def _mount_root(layout: dict[str, Any]) -> None:
    os.umask(0o022)
    socket.sethostname("grader")
    linux.raise_loopback()
    linux.mount("none", "/", flags=linux.MS_REC | linux.MS_PRIVATE)
    _tmpfs("/tmp", "mode=0755")  # noqa: S108 - hidden from everybody else by the line above
    for folder in (_OLD, _NEW):
        os.mkdir(f"/tmp{folder}")  # noqa: S108
    linux.pivot_root("/tmp", f"/tmp{_OLD}")  # noqa: S108
    _tmpfs(_NEW, "mode=0755")
    for target, path in layout["links"]:
        os.symlink(target, _NEW + path)
    for outside, inside in layout["folders"]:
        _bind(outside, inside)
    for outside, inside in layout["optional"]:
        if os.path.exists(_OLD + outside):
            _bind(outside, inside)
    os.makedirs(f"{_NEW}/etc", exist_ok=True)
    _write(f"{_NEW}/etc/hosts", layout["hosts"])
    _devices(layout["devices"])
    os.mkdir(f"{_NEW}/proc")
    linux.mount("proc", f"{_NEW}/proc", "proc", linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC)
    for folder in ("/tmp", "/dev/shm"):  # noqa: S108
        os.makedirs(_NEW + folder)
        _tmpfs(_NEW + folder, "mode=1777")
    os.mkdir(f"{_NEW}/workspace")
    linux.unmount(_OLD)
    os.chdir(_NEW)
    linux.pivot_root(".", ".")
    linux.unmount(".")
    os.chdir("/")
    _remount_read_only()


def _tmpfs(path: str, options: str) -> None:
    linux.mount("tmpfs", path, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, options)


def _bind(outside: str, inside: str) -> None:
    """Show a folder, or a file, with everything that is mounted below it."""
    place = _NEW + inside
    if os.path.isdir(_OLD + outside):
        os.makedirs(place, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        _write(place, "")
    linux.mount(_OLD + outside, place, flags=linux.MS_BIND | linux.MS_REC)


def _devices(further: Sequence[str]) -> None:
    for path in (*(f"/dev/{name}" for name in _DEVICES), *further):
        _bind(path, path)
    for name, target in _STREAMS.items():
        os.symlink(f"/proc/self/{target}", f"{_NEW}/dev/{name}")


def _remount_read_only() -> None:
    """Make every mount read-only, except those that this root has for itself."""
    for line in _read("/proc/self/mountinfo").splitlines():
        # the kernel writes bytes, and spaces among them in octal
        place = line.split()[4].encode().decode("unicode_escape").encode("latin-1").decode()
        if place not in _WRITABLE and not place.startswith("/proc/"):
            linux.remount_read_only(place)


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def _read(path: str) -> str:
    with open(path) as file:
        return file.read()
