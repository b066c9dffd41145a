"""Run a command as on a machine that offers less: `weak_machine.py [OPTION]... COMMAND`.

no-namespaces: no right to mount, and no user namespaces, as in most containers
no-landlock: a kernel without Landlock
no-other-user: root that may not become another user
open=PATH: this folder, and the way to it, can be read by every user; so can the interpreter, and grader
user=UID: an ordinary user runs the command, who can read the interpreter and grader
"""

import errno
import os
import stat
import sys
from itertools import takewhile
from pathlib import Path

from grader.subject import linux, seccomp

ROOT = Path(__file__).parents[1]
NAMESPACES = (
    seccomp.SyscallRule("unshare", errno.EPERM),
    seccomp.SyscallRule("clone", errno.EPERM, (seccomp.Where(0, bits=0x7E020000),)),
    seccomp.SyscallRule("clone3", errno.ENOSYS),
    seccomp.SyscallRule("mount", errno.EPERM),
)


def open_up(paths: list[Path]) -> None:
    """Put an open folder over the first closed one above each path, in a mount namespace of ours."""
    linux.unshare(linux.CLONE_NEWNS)
    linux.mount("none", "/", flags=linux.MS_REC | linux.MS_PRIVATE)
    handles = {path: os.open(path, os.O_PATH) for path in paths}
    closed = [folder for path in paths for folder in reversed(path.parents) if not is_open(folder)]
    for folder in closed:
        if folder.is_dir() and not is_open(folder):
            linux.mount("tmpfs", str(folder), "tmpfs", 0, "mode=0755")
    for path, handle in handles.items():
        path.mkdir(mode=0o755, parents=True, exist_ok=True)
        linux.mount(f"/proc/self/fd/{handle}", str(path), flags=linux.MS_BIND | linux.MS_REC)
        os.close(handle)


def is_open(folder: Path) -> bool:
    return bool(folder.stat().st_mode & stat.S_IXOTH)


def main(arguments: list[str]) -> None:
    options = list(takewhile(lambda argument: argument.startswith("--"), arguments))
    command = arguments[len(options) :]
    opened = [Path(option.removeprefix("--open=")) for option in options if "--open=" in option]
    users = [int(option.removeprefix("--user=")) for option in options if "--user=" in option]
    if opened or users:
        open_up([*opened, Path(sys.base_prefix), Path(sys.prefix), ROOT])
    for uid in users:
        linux.become(uid)
        linux.prctl(linux.PR_SET_DUMPABLE, 1)  # its files in /proc are its own again
        linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
    lost = [f"-{name}" for name in ("setuid", "setgid") if "--no-other-user" in options]
    lost += ["-sys_admin"] if "--no-namespaces" in options else []
    rules = NAMESPACES if "--no-namespaces" in options else ()
    if "--no-landlock" in options:
        rules = (*rules, seccomp.SyscallRule("landlock_create_ruleset", errno.ENOSYS))
    if rules:
        seccomp.install(seccomp.assembled(rules))
    wrapped = ["setpriv", f"--bounding-set={','.join(lost)}", *command] if lost else command
    os.execvp(wrapped[0], wrapped)


main(sys.argv[1:])
