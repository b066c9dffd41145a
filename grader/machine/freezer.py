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
    """An empty cgroup of its own, and what pid 1 of a check needs of it: files that are open.

    Who is forked into its folder is in it, and whose number is written into `procs`; who writes `1` into
    `freeze` freezes everybody in it, and `events` says when they are. Frozen processes can be killed, and
    nothing else wakes them. `cpu.stat` counts the CPU time of all that ever were in it, also of processes for
    which nobody waited.
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
        """Remove it. What is left in it then keeps it, and is removed by a later `freezers`."""
        while self.fds:
            os.close(self.fds.pop())
        with suppress(OSError):
            self._folder.rmdir()


def new_freezer() -> Freezer | None:
    """A fresh one; None where no cgroup v2 may be made."""
    parent = _parent()
    if parent is not None:
        with suppress(OSError):
            return Freezer(parent)
    return None


@cache
def _parent() -> Path | None:
    """The folder of our own cgroup, if one can be made below it; what others left behind is removed there."""
    with suppress(OSError, StopIteration):
        lines = (_OWN / "cgroup").read_text().splitlines()
        own = next(line.removeprefix("0::/") for line in lines if line.startswith("0::/"))
        mounts = (line.split() for line in (_OWN / "mountinfo").read_text().splitlines())
        # a mount of a part of the tree has another root, and our path would mean something else below it
        where = next(m[4] for m in mounts if m[m.index("-") + 1] == "cgroup2" and m[3] == "/")
        parent = Path(where) / own
        for folder in parent.glob(f"{_PREFIX}*-*"):
            if not Path("/proc", folder.name.split("-")[1]).exists():
                with suppress(OSError):
                    folder.rmdir()
        Freezer(parent).close()
        return parent
    return None
