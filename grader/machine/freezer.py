"""A cgroup (v2) for the processes of one check, so that the kernel freezes them all with one write."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

_PREFIX = "grader-"
_OWN = Path("/proc/self")


class Freezer:
    """A new cgroup, with the open control files that pid 1 of a check needs.

    Processes enter it by clone3(CLONE_INTO_CGROUP), or by a pid written into `procs`. Writing `1` into
    `freeze` freezes all of them, and `events` reports when they are frozen; SIGKILL still ends them, and
    nothing else wakes them. `cpu.stat` counts the CPU time of all members, also of processes that nobody
    waited for.
    """

    def __init__(self, parent: Path) -> None:
        """Make one below `parent`.

        Raises:
            OSError: we may not.
        """
        self._folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=parent))
        self.fds: list[int] = []
        """Of `cgroup.freeze`, `cgroup.events`, `cgroup.procs`, `cpu.stat` and the folder itself; from Linux
        5.14 on also of `cgroup.kill`."""
        try:
            for name, mode in (
                ("cgroup.freeze", os.O_WRONLY),
                ("cgroup.events", os.O_RDONLY),
                ("cgroup.procs", os.O_WRONLY),
                ("cpu.stat", os.O_RDONLY),
                (".", os.O_RDONLY | os.O_DIRECTORY),
            ):
                self.fds.append(os.open(self._folder / name, mode | os.O_CLOEXEC))
            with suppress(FileNotFoundError):
                self.fds.append(os.open(self._folder / "cgroup.kill", os.O_WRONLY | os.O_CLOEXEC))
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        """Remove the cgroup. One that still has processes stays, and a later run removes it."""
        while self.fds:
            os.close(self.fds.pop())
        with suppress(OSError):
            self._folder.rmdir()


def new_freezer() -> Freezer | None:
    """Create a freezer; None if no cgroup v2 may be made."""
    parent = _parent()
    if parent is not None:
        with suppress(OSError):
            return Freezer(parent)
    return None


@cache
def _parent() -> Path | None:
    """Return the folder of our own cgroup if children can be made there; remove stale ones."""
    with suppress(OSError, StopIteration):
        lines = (_OWN / "cgroup").read_text().splitlines()
        cgroup = next(line.removeprefix("0::/") for line in lines if line.startswith("0::/"))
        mounts = (line.split() for line in (_OWN / "mountinfo").read_text().splitlines())
        # a mount of a part of the tree has another root, and our path would mean something else below it
        where = next(m[4] for m in mounts if m[m.index("-") + 1] == "cgroup2" and m[3] == "/")
        parent = Path(where) / cgroup
        for folder in parent.glob(f"{_PREFIX}*-*"):
            if not Path("/proc", folder.name.split("-")[1]).exists():
                with suppress(OSError):
                    folder.rmdir()
        Freezer(parent).close()
        return parent
    return None
