"""User namespaces for ordinary users: whether they are allowed, and the setting that forbids them."""

from __future__ import annotations

import os
from pathlib import Path

_SETTINGS = {
    "user/max_user_namespaces": ("0", "sysctl user.max_user_namespaces=10000"),
    "kernel/unprivileged_userns_clone": ("0", "sysctl kernel.unprivileged_userns_clone=1"),
    "kernel/apparmor_restrict_unprivileged_userns": (
        "1",
        "install bubblewrap with an AppArmor profile that says `userns`, or "
        "sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    ),
}
"""Kernel settings: the value that forbids user namespaces, and the advice for an administrator."""


def tried() -> bool:
    """Tell whether a child process gets a user namespace with capabilities in it."""
    from grader.subject import linux

    pid = os.fork()
    if pid == 0:
        try:
            linux.unshare(linux.CLONE_NEWUSER)
            linux.unshare(linux.CLONE_NEWNS)  # AppArmor gives the first and forbids what it is for
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(pid, 0)[1] == 0


def obstacle(sysctl: Path = Path("/proc/sys")) -> tuple[str, str]:
    """Return the cause and advice: one of the kernel's settings, or the container or security module."""
    for name, (forbidding, advice) in _SETTINGS.items():
        switch = sysctl / name
        if switch.is_file() and switch.read_text().strip() == forbidding:
            return f"{name.replace('/', '.')} is {forbidding}", advice
    return "the container or a security module", "a profile for it that allows unshare and mount"
