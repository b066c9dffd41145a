"""Paths in archives: made safe, shown on one line, checked for duplicates."""

from __future__ import annotations

import re

from grader.intake.entry import SubmissionRefused
from grader.intake.limits import ArchiveLimits
from grader.text import one_line

_SHOWN = 80
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_DRIVE = re.compile("[A-Za-z]:")


def shown(name: str) -> str:
    r"""Return a name as one line of bounded length, with bytes that are not UTF-8 as `\xff`."""
    if len(name) > _SHOWN:
        name = f"{name[: _SHOWN // 2]}…{name[-_SHOWN // 2 :]}"
    return one_line(name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"))


def safe_path(name: str, limits: ArchiveLimits) -> str:
    r"""Convert a member's name to a relative path in NFC; empty for the top folder itself.

    Backslashes count as separators: some programs on Windows write them.

    Raises:
        SubmissionRefused: it is absolute, climbs with `..`, is too long or deep, or is no readable text.
    """
    if _SURROGATE.search(name):
        raise SubmissionRefused(
            f"holds a name that is not UTF-8 ({shown(name)}); rename the file in plain letters"
        )
    if _CONTROL.search(name):
        raise SubmissionRefused(f"holds a name with a control character ({shown(name)}); rename the file")
    if not name.isascii():
        from unicodedata import normalize

        name = normalize("NFC", name)
    if len(name.encode()) > limits.path_bytes:
        raise SubmissionRefused(
            f"holds a path longer than {limits.path_bytes} bytes ({shown(name)}); use shorter names"
        )
    path = name.replace("\\", "/")
    if path.startswith("/") or _DRIVE.match(path):
        raise SubmissionRefused(
            f"holds an absolute path ({shown(name)}); pack the files relative to their folder"
        )
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if ".." in parts:
        raise SubmissionRefused(
            f"holds a path that leads outside ({shown(name)}); pack the files without `..`"
        )
    if len(parts) > limits.depth:
        raise SubmissionRefused(
            f"holds a path of more than {limits.depth} parts ({shown(name)}); pack the homework's own folder"
        )
    return "/".join(parts)


class DistinctPaths:
    """Set of paths of which no two may be the same file on any file system."""

    def __init__(self) -> None:
        self._files: dict[str, str] = {}
        self._folders: set[str] = set()

    def add(self, path: str) -> None:
        """Note a file.

        Raises:
            SubmissionRefused: it is there already, perhaps in other letters, or as a folder.
        """
        key = _folded(path)
        if key in self._files:
            other = self._files[key]
            if other == path:
                raise SubmissionRefused(f"holds {shown(path)} twice; pack each file once")
            raise SubmissionRefused(
                f"holds both {shown(other)} and {shown(path)}, one file on some machines; hand in one of them"
            )
        above = key.rpartition("/")[0]
        while above and above not in self._folders:
            self._folders.add(above)
            above = above.rpartition("/")[0]
        both = self._folders.intersection((key,)) or self._files.keys() & _above(key)
        if both:
            raise SubmissionRefused(
                f"holds {shown(both.pop())} both as a file and as a folder; pack the files again"
            )
        self._files[key] = path


def _above(path: str) -> set[str]:
    parts = path.split("/")
    return {"/".join(parts[:count]) for count in range(1, len(parts))}


def _folded(path: str) -> str:
    """Fold case and Unicode form, so that names that some file system takes as one become equal."""
    if path.isascii():
        return path.lower()
    from unicodedata import normalize

    return normalize("NFD", normalize("NFD", path).casefold())
