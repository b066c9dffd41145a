"""Whether an ordinary user may make namespaces here, and what forbids it if not."""

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
"""Switches of the kernel: the value that forbids, and what an administrator does about it."""


def tried() -> bool:
    """Whether a process of ours gets a user namespace, and rights in it."""
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
    """What forbids them, and what to do about it: one of the kernel's switches, or whatever is around us."""
    for name, (forbidding, advice) in _SETTINGS.items():
        switch = sysctl / name
        if switch.is_file() and switch.read_text().strip() == forbidding:
            return f"{name.replace('/', '.')} is {forbidding}", advice
    return "the container or a security module", "a profile for it that allows unshare and mount"
