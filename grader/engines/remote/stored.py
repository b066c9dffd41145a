"""Orders as folders that outlive the host, with copies of the submission and of the course.

    <root>/orders/<key>/order.json      the order: its job without seed, cores and paths of the host
                        workspace/      a copy of the submission: the host's is replaced by its next run
                        placement.json  in which batch it went out, and how often it has
    <root>/courses/<digest>/            the course as it was: an edit must not reach an order that waits
    <root>/batches/<name>/              see `batch.py`

Nobody but the user of the host may enter the root.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.config.codec import dumps, from_plain, loads
from grader.contracts.engine import Order
from grader.errors import NotObservedError, UsageError
from grader.files import obstacle, write_whole
from grader.harness.store import digest_of, folder_digest
from grader.model.job import GPU, Job

LEAST_ISOLATION = "namespaces"
"""The weakest sandbox on other machines: behind a weaker one a program might look into the shared folder."""
_ORDER = "order.json"
_PLACEMENT = "placement.json"
_WORKSPACE = "workspace"
_ASSIGNMENTS = "assignments"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wants:
    """Needs of an order; orders of equal needs go out together."""

    exclusive: bool = False
    gpus: int = 0
    cores: int = 0
    """How many cores its timed items need, besides the worker's."""
    gpu_kinds: tuple[str, ...] = ()
    """Parts of the names of GPUs that it may have; empty for any."""

    def cores_of_task(self, least: int) -> int:
        """Return the cores of a task: what its programs are timed on and one for the worker, or more."""
        return max(least, self.cores + 1 if self.cores else 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredOrder:
    """The content of `order.json`."""

    key: str
    outbox: str
    """The results folder on the host, absolute."""
    job: Job
    wants: Wants
    course: str
    """The digest of the course's files."""
    shares_gpu: bool = False

    def covers(self, order: Order, course: str) -> bool:
        """Tell whether this is an order for all that another one asks for, and perhaps more.

        A host that collected some of it, and was killed, asks for less the next time.
        """
        ordered = {(task.item, task.digest) for task in self.job.tasks}
        asked_for = {(task.item, task.digest) for task in order.job.tasks}
        return (
            self.course == course
            and self.job.submission.digest == order.job.submission.digest
            and self.job.seeds == order.job.seeds
            and asked_for <= ordered
        )

    def is_stale(self, order: Order, course: str) -> bool:
        """Tell whether another order of the same results folder says that nobody wants this one any more."""
        digests = {task.item: task.digest for task in order.job.tasks}
        return (
            self.course != course
            or self.job.submission.digest != order.job.submission.digest
            or self.job.seeds != order.job.seeds
            or any(digests.get(task.item, task.digest) != task.digest for task in self.job.tasks)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPlace:
    """The task of a batch in which an order went out."""

    batch: str
    task: int
    sends: int = 1
    """How often it went out."""


def wants_of(order: Order, gpus: int) -> Wants:
    """Return what an order needs for itself, where a worker can lease `gpus`."""
    if not order.exclusive:
        return Wants()
    counts = [task.devices.get(GPU, 0) for task in order.job.tasks]
    most = max((count for count in counts if count <= gpus), default=0)
    kinds = {kind for task in order.job.tasks for kind in task.gpu_kinds} if most else ()
    return Wants(exclusive=True, gpus=most, cores=order.cores, gpu_kinds=tuple(sorted(kinds)))


@dataclass(slots=True)
class OrderStore:
    """The orders of one results folder on a file system that all machines share."""

    root: Path
    """Absolute."""
    _lock: int = -1
    """The folder, open and locked (flock), on the host."""
    _courses: dict[str, str] = field(default_factory=dict)
    """The digests of courses by their folders."""

    @classmethod
    def at(cls, folder: Path) -> OrderStore:
        """Make the folder, for this user alone, and keep others from removing what they do not know.

        Orders that a killed command has not written whole are removed, if no other command is at work there.

        Raises:
            UsageError: it cannot be made, or belongs to somebody else, or others may enter it.
        """
        while True:
            require_private(folder)
            try:
                lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            except FileNotFoundError:  # whoever had nothing to keep there has just removed it
                continue
            except OSError as error:
                raise obstacle(folder, error) from None
            store = cls(folder.absolute(), lock)
            if store._is_alone():
                store._remove_torn()
            fcntl.flock(lock, fcntl.LOCK_SH)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(lock), folder.stat()):
                    return store
            os.close(lock)

    def _is_alone(self) -> bool:
        """Tell whether no other command of this machine uses the folder, and keep it so."""
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _remove_torn(self) -> None:
        for folder in self.root.glob("orders/*"):
            if self.read(folder.name) is None:
                self.remove(folder.name)

    def course(self, job: Job) -> str:
        """Return the digest of a job's course, of which a copy is kept.

        Raises:
            NotObservedError: it cannot be copied.
        """
        if job.course not in self._courses:
            source = Path(job.course) / _ASSIGNMENTS
            digest = folder_digest(source)[:32]
            place = self.course_folder(digest)
            try:
                if not place.exists():
                    beside = place.with_name(f".{digest}.{os.getpid()}")
                    shutil.copytree(
                        source, beside / _ASSIGNMENTS, ignore=shutil.ignore_patterns("__pycache__")
                    )
                    with suppress(FileNotFoundError):
                        shutil.copy(source.parent / "course.yaml", beside)
                    beside.replace(place)
            except OSError as error:
                raise _not_stored(place, error) from None
            self._courses[job.course] = digest
        return self._courses[job.course]

    def store(self, order: Order, wants: Wants) -> StoredOrder:
        """Write an order with a copy of its submission.

        Raises:
            NotObservedError: it cannot be written.
        """
        stored = StoredOrder(
            key=order.key,
            outbox=str(order.outbox.absolute()),
            # nothing secret lies in a shared folder: the seed is drawn where the worker runs
            job=replace(order.job, seed="", cores=(), stage="", workspace="", course=""),
            wants=wants,
            course=self.course(order.job),
            shares_gpu=order.shares_gpu,
        )
        folder = self.folder(order.key)
        try:
            shutil.copytree(order.job.workspace, folder / _WORKSPACE, symlinks=True)
            write_whole(folder / _ORDER, dumps(stored))
        except OSError as error:
            self.remove(order.key)
            raise _not_stored(folder, error) from None
        return stored

    def folder(self, key: str) -> Path:
        """Return the folder of an order."""
        return self.root / "orders" / key

    def course_folder(self, digest: str) -> Path:
        """Return the folder of the copy of a course."""
        return self.root / "courses" / digest

    def read(self, key: str) -> StoredOrder | None:
        """Return an order; None if it was taken back, or never written whole."""
        file = self.folder(key) / _ORDER
        try:
            return from_plain(StoredOrder, loads(file.read_bytes()), where=str(file))
        except (OSError, ValueError, NotObservedError):
            return None

    def all(self) -> Iterator[StoredOrder]:
        """Yield every order that was written whole."""
        for folder in sorted(self.root.glob("orders/*")):
            if order := self.read(folder.name):
                yield order

    def remove(self, key: str) -> None:
        """Take an order back: whoever is still at it ends."""
        folder = self.folder(key)
        with suppress(OSError):  # first: a folder that is half removed is no order
            (folder / _ORDER).unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)

    def place(self, key: str, placement: BatchPlace) -> None:
        """Note in which batch an order goes out.

        Raises:
            OSError: it cannot be written.
        """
        write_whole(self.folder(key) / _PLACEMENT, dumps(placement))

    def place_of(self, key: str) -> BatchPlace | None:
        """Return the batch in which an order went out; None if in none, or if it was taken back."""
        file = self.folder(key) / _PLACEMENT
        try:
            return from_plain(BatchPlace, loads(file.read_bytes()), where=str(file))
        except (OSError, ValueError, NotObservedError):
            return None

    def job(self, stored: StoredOrder) -> Job:
        """Return the job of an order with the paths that hold on this machine."""
        course = self.course_folder(stored.course)
        name = Path(stored.job.assignment_folder).name
        return replace(
            stored.job,
            course=str(course),
            assignment_folder=str(course / _ASSIGNMENTS / name),
            workspace=str(self.folder(stored.key) / _WORKSPACE),
            min_isolation=demanded_isolation(stored.job.min_isolation),
        )

    def close(self) -> None:
        """Remove copies of courses, and all folders that are empty, if no order is left; let go of the rest.

        Where another command is at work it does so: it may have just copied a course for its first order.
        """
        if self._is_alone():
            for name in ("orders", "batches"):
                with suppress(OSError):
                    (self.root / name).rmdir()
            if not (self.root / "orders").exists():
                shutil.rmtree(self.root / "courses", ignore_errors=True)
            with suppress(OSError):
                self.root.rmdir()
        os.close(self._lock)


def require_private(folder: Path) -> None:
    """Make a folder for this user alone.

    Raises:
        UsageError: it cannot be made, or belongs to somebody else, or others may enter it.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError as error:
        raise obstacle(folder, error) from None
    if status.st_uid != os.getuid():
        raise UsageError(f"{folder}: belongs to another user; name another folder")
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise UsageError(f"{folder}: others may enter it, and it holds submissions; chmod 700 it")


def demanded_isolation(least: str) -> str:
    """Return the weakest sandbox that may be used there, where a course or a command demands `least`."""
    from grader.sandbox.builtin import grader_sandboxes

    strengths = {sandbox.name: sandbox.strength for sandbox in grader_sandboxes()}
    weaker = {name for name, strength in strengths.items() if strength < strengths[LEAST_ISOLATION]}
    return LEAST_ISOLATION if not least or least in weaker else least


def root_for(folder: Path, results: Path) -> Path:
    """Return the folder for the orders of one results folder below the one that all share."""
    return folder / digest_of(str(results.absolute()))[:16]


def _not_stored(path: Path, error: OSError) -> NotObservedError:
    """Return the line on what could not be copied: copytree's error lists every file, with the same cause."""
    why = error.strerror or str(error)
    if isinstance(error, shutil.Error) and error.args and isinstance(error.args[0], list):
        *_, why = error.args[0][0]  # source, target and cause of the first one
        why = re.sub(r"^\[Errno \d+\] ", "", str(why)).partition(": ")[0]
    return NotObservedError(f"{path}: cannot be written ({why}); make room there and run again")
