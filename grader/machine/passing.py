"""Folders that are gone with whoever made them: those of a killed process are removed by the next one.

Each is locked (flock) by the process that made it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path


@contextmanager
def passing_folder(parent: Path, prefix: str, mode: int) -> Iterator[Path]:
    """Make a folder of a mode, after removing what killed processes have left under this prefix.

    Raises:
        OSError: it cannot be made.
    """
    remove_abandoned(parent, prefix)
    place, lock = locked_folder(parent, prefix)
    try:
        place.chmod(mode)
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
        os.close(lock)


def locked_folder(parent: Path, prefix: str) -> tuple[Path, int]:
    """Make a folder, and return it with the lock on it, which ends with this process.

    Raises:
        OSError: it cannot be made.
    """
    for number in count():
        parent.mkdir(parents=True, exist_ok=True)  # again: whoever else has nothing to keep there removes it
        place = parent / f"{prefix}{os.getpid()}-{threading.get_native_id()}-{number}"
        try:
            place.mkdir()
            lock = _lock(place)
        except (FileExistsError, FileNotFoundError, BlockingIOError):  # a dead one's, or just taken for that
            continue
        if place.exists():
            return place, lock
        os.close(lock)
    raise AssertionError("numbers do not end")


def remove_abandoned(parent: Path, prefix: str) -> None:
    """Remove the folders of this user under a prefix that nobody has locked."""
    for place in parent.glob(f"{prefix}*"):
        try:
            if place.lstat().st_uid != os.geteuid():
                continue
            lock = _lock(place)
        except OSError:
            continue
        shutil.rmtree(place, ignore_errors=True)
        os.close(lock)


def _lock(place: Path) -> int:
    lock = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise
    return lock
