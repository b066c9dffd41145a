"""Archives of what a task needs, for machines that share no folder with the host."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from grader.engines.remote.batch import Batch, folder_of
from grader.engines.remote.stored import OrderStore


def task_archive(root: Path, batch: Batch, task: int) -> bytes:
    """Return an archive of a batch and of the orders of one of its packs.

    Raises:
        OSError: a file cannot be read.
    """
    store = OrderStore(root)
    folders = [store.folder(key) for key in batch.packs[task]]
    return _archive(root, (folder_of(root, batch.name) / "batch.json", *folders))


def course_archive(root: Path, digest: str) -> bytes:
    """Return an archive of the copy of a course.

    Raises:
        OSError: a file cannot be read.
    """
    return _archive(root, [OrderStore(root).course_folder(digest)])


def courses_of(root: Path, batch: Batch, task: int) -> frozenset[str]:
    """Return the digests of the courses of the orders of a pack."""
    store = OrderStore(root)
    return frozenset(stored.course for key in batch.packs[task] if (stored := store.read(key)))


def _of_nobody(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Leave out who owns a file here: there it is the user who unpacks it."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def _archive(root: Path, paths: Iterable[Path]) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for path in paths:
            with suppress(FileNotFoundError):  # an order that was taken back
                archive.add(path, path.relative_to(root), filter=_of_nobody)
    return content.getvalue()
