"""The folder for temporary files of a check that has no `/tmp` of its own."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress

_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def make(uid: int | None) -> str:
    """Make one, for the user whom the program becomes; the program finds it by TMPDIR."""
    folder = os.environ["HOME"] = os.environ["TMPDIR"] = tempfile.mkdtemp(prefix="grader-")
    tempfile.tempdir = folder
    if uid is not None:
        os.chown(folder, uid, uid)
    return folder


def remove(folder: str) -> None:
    """Remove one with all that a program left in it, however deep, and whatever the program allows there.

    It holds one folder open at a time: paths may become too long for the kernel, and recursion too deep.
    What cannot be removed stays.
    """
    with suppress(OSError):
        _empty(folder)
        os.rmdir(folder)


def _empty(folder: str) -> None:
    here = _open(folder)
    above: list[tuple[str, list[str]]] = []
    """The folders on the way here, each with the others that lie beside it."""
    names = _without_files(here)
    try:
        while names or above:
            if names:
                name = names.pop()
                with suppress(OSError):
                    inner = _open(name, here)
                    os.close(here)
                    here = inner
                    above.append((name, names))
                    names = _without_files(here)
            else:
                name, names = above.pop()
                outer = os.open("..", os.O_RDONLY | _FOLDER, dir_fd=here)
                os.close(here)
                here = outer
                with suppress(OSError):
                    os.rmdir(name, dir_fd=here)
    finally:
        os.close(here)


def _open(name: str, within: int | None = None) -> int:
    """Open a folder that its owner may have closed to everybody; never follow a link."""
    path = os.open(name, os.O_PATH | _FOLDER, dir_fd=within)
    try:
        os.chmod(f"/proc/self/fd/{path}", 0o700)
        return os.open(".", os.O_RDONLY | _FOLDER, dir_fd=path)
    finally:
        os.close(path)


def _without_files(folder: int) -> list[str]:
    """Remove what is no folder; the names of the others."""
    names = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                names.append(entry.name)
            else:
                with suppress(OSError):
                    os.unlink(entry.name, dir_fd=folder)
    return names
