"""Machine-wide lock files in a world-writable directory, safe against symlink attacks."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile, mkdtemp

from grader.errors import NotObservedError

VARIABLE = "GRADER_LEASES"
"""Environment variable with the folder, if the usual one is not shared by all who grade on the machine."""

_LOCKS = Path("/run/lock")
_ELSEWHERE = Path("/tmp/grader-leases")  # noqa: S108 - what is made there is guarded against its other users
_OPEN_TO_ALL = stat.S_ISVTX | stat.S_IRWXU | stat.S_IRWXG | stat.S_IRWXO
_SAFE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Flags of open(2) that refuse links and never block on a pipe."""
_READ_BYTES = 4096
_NAME = re.compile(r"[A-Za-z0-9._-]{1,200}")

_open: weakref.WeakSet[Lock] = weakref.WeakSet()


def default_folder(locks: Path = _LOCKS, elsewhere: Path = _ELSEWHERE) -> Path:
    """Return the machine-wide folder.

    It depends on the machine alone and not on the user: two users in two folders would lease one GPU twice.
    """
    try:
        mode = locks.stat().st_mode
    except OSError:
        return elsewhere
    return locks / "grader" if mode & _OPEN_TO_ALL == _OPEN_TO_ALL else elsewhere


class Lock:
    """A locked file (flock); forked children close the descriptor that they inherit."""

    def __init__(self, number: int, writable: bool) -> None:
        self._number = number
        self._writable = writable
        _open.add(self)

    def write(self, text: str) -> None:
        """Write our holder note, if the file is writable."""
        if self._writable:
            _replace(self._number, text)

    def fileno(self) -> int:
        """Return the descriptor of the locked file."""
        return self._number

    def close(self) -> None:
        """Unlock, even if another process inherited the descriptor."""
        if self._number >= 0:
            self.write("")
            fcntl.flock(self._number, fcntl.LOCK_UN)
            self.forget()

    def forget(self) -> None:
        """Close our descriptor without unlocking, for processes that inherited it."""
        os.close(self._number)
        self._number = -1
        _open.discard(self)


def _forget_all() -> None:
    for lock in tuple(_open):
        with suppress(OSError):
            lock.forget()


os.register_at_fork(after_in_child=_forget_all)


class LockFolder:
    """The folder of lock files."""

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self.path = Path(folder or os.environ.get(VARIABLE) or default_folder())

    def exists(self) -> bool:
        """Tell whether the folder exists: whether a lease was ever taken here."""
        try:
            return self.path.is_dir()
        except PermissionError:  # of a folder above it, into which this user may not look
            return False

    def objection(self) -> tuple[str, str]:
        """Return why this user, or others, cannot use the folder, and what helps; empty if all can.

        A file is made in it and removed, or a folder beside it: what rights promise not all systems keep.
        """
        other = f"or name another folder in {VARIABLE} that all who grade here share"
        ours = f"as root: install -d -m 1777 {self.path}; {other}"
        if not os.path.lexists(self.path):  # or lies where this user may not look
            parent = self.path.parent
            why = _refusal(lambda: os.rmdir(mkdtemp(prefix=".grader-", dir=parent)))  # noqa: PTH106 - a name
            return (f"{self.path} is not there and cannot be made ({why})", ours) if why else ("", "")
        if self.path.is_symlink() or not self.path.is_dir():
            return f"{self.path} is no folder of its own", f"remove it; {other}"
        if why := _refusal(lambda: TemporaryFile(dir=self.path).close()):  # rights alone say nothing of /proc
            return f"{self.path} may not be written to ({why})", ours
        if self.path.stat().st_mode & _OPEN_TO_ALL != _OPEN_TO_ALL:
            return "", f"other users can take no leases there: chmod 1777 {self.path}"
        return "", ""

    @contextmanager
    def opened(self) -> Iterator[OpenFolder]:
        """Open the folder by descriptor, so that a changed path has no effect; it is made if it is missing.

        Raises:
            NotObservedError: it cannot be made or used.
        """
        try:
            with suppress(FileExistsError):
                self.path.mkdir()
                self.path.chmod(_OPEN_TO_ALL)
            number = os.open(self.path, os.O_DIRECTORY | os.O_RDONLY | _SAFE)
        except OSError as error:
            raise self._unusable(error) from error
        try:
            yield OpenFolder(number)
        except OSError as error:
            raise self._unusable(error) from error
        finally:
            os.close(number)

    def _unusable(self, error: OSError) -> NotObservedError:
        path = self.path / os.fsdecode(error.filename or "")  # the name alone, of what is in it
        return NotObservedError(
            f"leases: {path}: {error.strerror}; {self.path} must be a folder of mode 1777 for this alone: "
            f"see to that, or name another in {VARIABLE} that all who grade here share"
        )


class OpenFolder:
    """A folder that is open; its functions raise OSError for what cannot be used."""

    def __init__(self, number: int) -> None:
        self._number = number

    def names(self) -> list[str]:
        """Return all files, sorted."""
        with os.scandir(self._number) as entries:
            return sorted(entry.name for entry in entries if _NAME.fullmatch(entry.name))

    def lock(self, name: str) -> Lock | None:
        """Lock a file, made if it is missing; None if somebody else has it."""
        while True:
            number, writable = self._open(name)
            try:
                if not _flocked(number, fcntl.LOCK_EX):
                    os.close(number)
                    return None
                if self._is(name, number):
                    return Lock(number, writable)
            except BaseException:
                os.close(number)
                raise
            os.close(number)  # somebody tidied up between opening and locking: that file is nobody's

    def locked(self, name: str) -> bool:
        """Tell whether any process, ours included, has the file locked."""
        try:
            number = self._existing(name, os.O_RDONLY)
        except OSError:
            return False
        try:
            return not _flocked(number, fcntl.LOCK_SH)
        finally:
            os.close(number)

    def read(self, name: str) -> str:
        """Read the beginning of a file; empty if it is missing or unreadable."""
        try:
            number = self._existing(name, os.O_RDONLY)
        except OSError:
            return ""
        try:
            return os.pread(number, _READ_BYTES, 0).decode(errors="replace")
        finally:
            os.close(number)

    def write(self, name: str, text: str) -> None:
        """Replace the content of a file."""
        number, writable = self._open(name)
        try:
            if not writable:
                raise PermissionError(0, "it is somebody else's and cannot be written", name)
            _replace(number, text)
        finally:
            os.close(number)

    def _open(self, name: str) -> tuple[int, bool]:
        """Return a descriptor, and whether it can be written with.

        Without O_CREAT first: in a folder of mode 1777 the kernel (fs.protected_regular) refuses it for files
        of others, even to root.
        """
        while True:
            with suppress(FileNotFoundError):
                try:
                    return self._existing(name, os.O_RDWR), True
                except PermissionError:
                    return self._existing(name, os.O_RDONLY), False  # enough for a lock
            with suppress(FileExistsError):
                created = os.open(
                    name, os.O_RDWR | os.O_CREAT | os.O_EXCL | _SAFE, 0o666, dir_fd=self._number
                )
                os.fchmod(created, 0o666)  # whatever the umask took away
                return created, True

    def _existing(self, name: str, flags: int) -> int:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name of a lease")
        try:
            number = os.open(name, flags | _SAFE, dir_fd=self._number)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise _astray(name) from error
            raise
        status = os.fstat(number)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            os.close(number)
            raise _astray(name)
        return number

    def _is(self, name: str, number: int) -> bool:
        """Tell whether the path still leads to the file behind our descriptor."""
        try:
            return os.path.samestat(
                os.stat(name, dir_fd=self._number, follow_symlinks=False), os.fstat(number)
            )
        except FileNotFoundError:
            return False


def _refusal(attempt: Callable[[], object]) -> str:
    """Return the reason of the system why an attempt failed; empty if it did not."""
    try:
        attempt()
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _astray(name: str) -> OSError:
    return OSError(errno.EPERM, "it is a link or no file, and should be a file", name)


def _flocked(number: int, how: int) -> bool:
    try:
        fcntl.flock(number, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _replace(number: int, text: str) -> None:
    data = text.encode()[:_READ_BYTES]
    os.pwrite(number, data, 0)
    os.ftruncate(number, len(data))
