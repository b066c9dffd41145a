"""The node's side: carries a parcel there, runs its worker, and carries lines back.

Ray gets this module by value, and it imports the standard library and Ray alone: so it runs also where
another version of grader is installed, or none, and the worker's own check says what is missing.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

BEGUN, LINES, LOG = "begun", "lines", "log"
"""Kinds of letters: the name of the node, whole or torn lines of a journal, the end of the error output."""
PREFIX = "grader-ray-"
"""Begins the names of the folders on a node."""
LOCK = "lock"
POLL_S = 0.2
LATE_S = 60.0
"""A worker that is so late behind the limit of its task is ended."""
STOP_S = 20.0
"""Seconds that a worker may take to end its programs."""
LOG_BYTES = 4000

Letter = tuple[str, int, str, bytes]
"""The name of a batch, the number of a task, the kind and the content."""


class Inbox:
    """Letters on their way to the host: one actor for all tasks, on the host's node."""

    def __init__(self) -> None:
        self._letters: list[Letter] = []

    def put(self, batch: str, task: int, kind: str, content: bytes) -> float:
        """Keep a letter, and return the time by the host's clock."""
        self._letters.append((batch, task, kind, content))
        return time.time()

    def take(self) -> list[Letter]:
        """Return the letters that have come since the last call."""
        letters, self._letters = self._letters, []
        return letters


def carry(parcel: bytes, courses: Mapping[str, Sequence[Any]], settings: str, inbox: Any) -> bool:
    """Run one task; return whether it ended within its time.

    Args:
        parcel: the archive of a batch and the orders of a pack.
        courses: by digest, a reference to the archive of a course: Ray brings it to each node once.
        settings: JSON: the batch, the task, its limit in seconds, and the script that runs the worker.
        inbox: the actor.
    """
    import ray

    task = json.loads(settings)
    place = task["batch"], task["task"]
    node = _node_name()
    ahead_s = time.time() - ray.get(inbox.put.remote(*place, BEGUN, node.encode()))

    def post(kind: str, content: bytes) -> None:
        ray.get(inbox.put.remote(*place, kind, content))  # waited for, so that letters keep their order

    with _folder() as (root, lock):
        _unpack(parcel, root)
        for references in courses.values():
            _unpack(ray.get(references[0]), root)
        journal = root / task["journal"]
        journal.parent.mkdir(parents=True, exist_ok=True)
        environment = _environment() | {
            "GRADER_NODE": node,
            "GRADER_CLOCK_AHEAD": f"{ahead_s:.3f}",
            "GRADER_ORDERS": str(root),
            "GRADER_TASK": str(task["task"]),
            "GRADER_PYTHON": sys.executable,
        }
        with (root / "log").open("w+b") as log:
            process = subprocess.Popen(
                ["/bin/sh", "-c", task["script"]],
                stdin=subprocess.PIPE,  # closed with us, however we end, and then the worker ends
                stdout=log,
                stderr=log,
                cwd=root,
                env=environment,
                start_new_session=True,
                pass_fds=(lock,),
            )
            try:
                ends_at = time.monotonic() + task["time_s"] + LATE_S
                read = 0
                while True:
                    ended = process.poll() is not None
                    read += _post_new(journal, read, post)
                    if ended or time.monotonic() > ends_at:
                        break
                    time.sleep(POLL_S)
            finally:
                with _uninterrupted():
                    _stop(process)
            log.seek(max(0, log.seek(0, os.SEEK_END) - LOG_BYTES))
            post(LOG, log.read())
    return ended


def _node_name() -> str:
    """Return the name of this node in Ray, or else the machine's."""
    import ray

    number = ray.get_runtime_context().get_node_id()
    names = [node.get("NodeName") for node in ray.nodes() if node["NodeID"] == number]
    return next(filter(None, names), os.uname().nodename)


def _environment() -> dict[str, str]:
    """Return what Ray was started with, without its own variables: they may hold its token."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("RAY_") and name != "OMP_NUM_THREADS"  # Ray sets it for each of its workers
    }


@contextmanager
def _folder() -> Iterator[tuple[Path, int]]:
    """Make a folder for this user alone, with the descriptor of its lock, and remove what others have left.

    The worker inherits the lock: a folder that nobody has locked is left over from a task that was killed.
    """
    with _uninterrupted():
        for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
            with suppress(OSError):
                _remove_abandoned(folder)
        new = Path(tempfile.mkdtemp(prefix=f".{PREFIX}"))  # hidden from others until it is locked
        lock = os.open(new / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        root = new.rename(new.with_name(new.name[1:]))
    try:
        yield root, lock
    finally:
        with _uninterrupted():
            shutil.rmtree(root, ignore_errors=True)
            os.close(lock)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ignore SIGINT, by which Ray cancels a task, for a moment."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _remove_abandoned(folder: Path) -> None:
    """Remove a folder unless somebody has its lock; one without a lock was being removed.

    Raises:
        OSError: somebody has, or it belongs to another user.
    """
    if folder.lstat().st_uid != os.getuid():
        return
    with suppress(FileNotFoundError), (folder / LOCK).open("r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    shutil.rmtree(folder, ignore_errors=True)


def _unpack(content: bytes, root: Path) -> None:
    """Unpack an archive; what `tarfile` calls filters is too new for the oldest Python 3.11.

    Raises:
        ValueError: a member would lie outside of the folder.
    """
    root = root.resolve()
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        archive.extraction_filter = lambda member, path: member
        for member in archive:
            if not (root / member.name).parent.resolve().is_relative_to(root):
                raise ValueError(f"{member.name!r} would lie outside of {root}")
            archive.extract(member, root)


def _post_new(journal: Path, read: int, post: Any) -> int:
    """Post what a journal has behind so many bytes; return how many these were."""
    try:
        with journal.open("rb") as file:
            file.seek(read)
            content = file.read()
    except FileNotFoundError:
        return 0
    if content:
        post(LINES, content)
    return len(content)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Have a worker end its programs, unless it has ended."""
    if process.stdin:
        process.stdin.close()
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
