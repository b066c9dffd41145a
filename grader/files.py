"""Atomic writes of files, and one-line errors for paths that cannot be used."""

from __future__ import annotations

import errno
import os
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from grader.errors import GraderError, NotObservedError, UsageError
from grader.text import one_line

_PUBLIC = frozenset({"/", "/tmp", "/usr", "/usr/local", "/usr/lib", "/opt", "/var", "/home"})  # noqa: S108 - names, nothing is written
"""Folders whose names tell nothing about the machine."""
_OF_THE_MACHINE = frozenset(
    {
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EFBIG,
        errno.EIO,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOMEM,
        errno.ESTALE,
    }
)
"""Errors of the machine and not of the path: the same command may work later."""
_ADVICE = {
    errno.ENOSPC: "make room there, or name another place",
    errno.EDQUOT: "make room there, or name another place",
    errno.EFBIG: "lift the limit on the size of files (ulimit -f)",
    errno.EIO: "see whether the disk is well",
    errno.EACCES: "see who may enter and write there, or name another place",
    errno.EPERM: "see who may enter and write there, or name another place",
    errno.EROFS: "name a place that may be written to",
    errno.ENAMETOOLONG: "take shorter names",
    errno.ELOOP: "its links go in a circle; name another place",
    errno.ENOTDIR: "one of its folders is a file; name another place",
    errno.EEXIST: "a file or a dangling link is there; name a folder",
    errno.EISDIR: "name a file in it",
    errno.ENOENT: "make its folder first, or name another place",
}
_ENVIRONMENT = (_OF_THE_MACHINE | _ADVICE.keys()) - {errno.ENOENT, errno.EEXIST}


def show_path(path: Path) -> str:
    """Return a file's name for a line of text: relative to the working directory if it lies below it."""
    try:
        return one_line(str(path.absolute().relative_to(Path.cwd())))
    except (ValueError, OSError):
        return one_line(str(path))


def obstacle(
    where: object, error: OSError, doing: str = "written", *, kind: type[GraderError] = UsageError
) -> GraderError:
    """Return the error for a path that cannot be used: where, what is wrong and what to do.

    It is of `kind` where another path would do, and a NotObservedError where the machine is at fault: a full
    disk, a quota, a broken one.
    """
    advice = _ADVICE.get(error.errno or 0, "name another place")
    path = where if isinstance(where, Path) else None
    why = cause(error, path)
    if (owner := _other_owner(error, path)) and owner != "root":
        advice = f"have {owner} share it (chmod -R g+w, then umask 002), or name another place"
    if error.errno == errno.EEXIST and str(error.filename) not in str(where):
        why = f"{why}: {error.filename}"  # further up
    line = f"{where}: cannot be {doing} ({why}); {advice}"
    return NotObservedError(line) if error.errno in _OF_THE_MACHINE else kind(line)


def cause(error: OSError, path: Path | None = None) -> str:
    """Return what is wrong, with the owner of the file or folder where another account's refuses writing."""
    why = error.strerror or str(error)
    owner = _other_owner(error, path)
    return f"{why}; belongs to {owner}" if owner else why


def _other_owner(error: OSError, path: Path | None) -> str:
    """Return the account of the file or folder that may not be written; empty if it is ours or unknown.

    That is the innermost on the path which exists and refuses: the folder, of a file that is not there.
    """
    if error.errno not in (errno.EACCES, errno.EPERM):
        return ""
    for name in (path, error.filename2, error.filename):  # the last may be relative to a folder unknown here
        if not isinstance(name, str | Path):
            continue
        whole = Path(name).absolute()
        for place in (whole, *whole.parents):
            with suppress(OSError, ValueError):
                owner = place.lstat().st_uid
                if not os.access(place, os.W_OK, effective_ids=True):
                    return user_name(owner) if owner != os.geteuid() else ""
    return ""


def user_name(number: int) -> str:
    """Return the name of a user in /etc/passwd, or the number where it has none."""
    import pwd

    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:  # as in a container that runs as any number
        return str(number)


def of_the_machine(error: OSError) -> NotObservedError | None:
    """Return the error for an unexpected OSError of the machine; None if it is a bug of ours."""
    if error.errno not in _ENVIRONMENT:
        return None
    where = f"{error.filename}: " if error.filename else ""
    return NotObservedError(
        f"{where}{error.strerror}; see to the disk and to who may write there, and run again"
    )


def holds_file(folder: Path, name: str) -> bool:
    """Tell whether a name that a program chose is that of a file below a folder; False if it leads elsewhere.

    Never fails, however long the name is.
    """
    if name.startswith("/") or ".." in name.split("/"):
        return False
    return is_file(folder / name)


def is_file(path: Path) -> bool:
    """Tell whether a file exists; False if a folder on the way cannot be entered."""
    return os.path.isfile(path)  # noqa: PTH113 - Path.is_file raises an error there


def files_below(folder: Path) -> list[str]:
    """Return the files of a folder, at any depth, by their paths relative to it; none if it is not there."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def holds_files(folder: Path) -> bool:
    """Tell whether a folder is there and has a file in it, at any depth."""
    return any(path.is_file() for path in folder.rglob("*"))


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary file beside `path` that replaces it in the end; after an error the old one stays.

    A link stays, and its target is replaced. A device or pipe cannot be replaced, and is written directly.

    Raises:
        OSError: it cannot be written, or a folder is there.
    """
    target = _replaceable(path)
    if target is None:
        yield path
        return
    # a short name, whatever that of the file
    beside = target.with_name(f".grader-{os.getpid()}-{threading.get_native_id()}")
    try:
        yield beside
        beside.replace(target)
    except BaseException:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise


def _replaceable(path: Path) -> Path | None:
    """Return the file that is to be replaced, behind links; None for what has no other name.

    Raises:
        OSError: a folder is there, or on the way there is none.
    """
    try:
        is_file = stat.S_ISREG(os.lstat(path).st_mode)
    except FileNotFoundError:
        return path
    if is_file:  # nearly always: what follows costs as much as to write a small file
        return path
    target = Path(os.path.realpath(path))
    try:
        status = path.stat()
    except FileNotFoundError:
        return target
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    # /dev/fd/3 leads to what has no other name, be it a pipe or a file that was removed
    is_named = stat.S_ISREG(status.st_mode) and target.exists() and target.samefile(path)
    return target if is_named else None


def write_whole(path: Path, content: str | bytes) -> None:
    """Put a file there, whole or not at all.

    Raises:
        OSError: it cannot be written; an older one is as it was.
    """
    with replacing(path) as beside:
        beside.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def scratch(prefix: str) -> Iterator[Path]:
    """Provide a temporary folder.

    Raises:
        NotObservedError: there is no place for one.
    """
    try:
        folder = TemporaryDirectory(prefix=prefix)
    except OSError as error:
        why = error.strerror or error
        raise NotObservedError(
            f"TMPDIR: no folder can be made there ({why}); set it to one that may be written to"
        ) from None
    with folder as place:
        yield Path(place)


def host_folders(*folders: Path) -> tuple[str, ...]:
    """Return these folders and the private ones of this machine, which students' texts do not name.

    Private are the home, the interpreter's environment and the folder of grader itself. Places that each
    program sees anyway, such as /tmp and /usr, are left out.
    """
    places = (Path.home(), Path(sys.prefix), Path(__file__).parent.parent, *(f.absolute() for f in folders))
    return tuple(str(place) for place in dict.fromkeys(places) if str(place) not in _PUBLIC)
