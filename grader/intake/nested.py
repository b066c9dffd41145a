"""Archives inside an upload: unpacked where there is nothing else, refused where they hold a missing part."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from grader.errors import UsageError
from grader.intake.accept import accepted
from grader.intake.archive import entries
from grader.intake.entry import ArchiveFile, SubmissionRefused
from grader.intake.formats import CHUNK, split_ending
from grader.intake.limits import MIB, ArchiveLimits
from grader.intake.paths import shown

AT_MOST = 4
"""How many are looked into."""
_LONGEST = 32 * MIB
_LIMITS = ArchiveLimits(total_bytes=128 * MIB, file_bytes=64 * MIB)
_LISTED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class NestedArchive:
    """An archive that lies in an upload."""

    path: str
    """Its path in the upload."""
    file: Path
    """The staged copy, whose name has the same ending."""


def staged(entry: ArchiveFile, beside: Path, number: int) -> NestedArchive | str:
    """Copy an entry, if it is an archive of a supported format; return why it is not looked into, or ""."""
    ending = split_ending(entry.path)[1]
    if entry.junk != entry.path or not ending:
        return ""
    if number >= AT_MOST:
        return f"{shown(entry.path)} is one of more than {AT_MOST} archives inside"
    file = beside / f"nested-{number}{ending}"
    left = _LONGEST
    with file.open("xb") as target:
        while left >= 0 and (data := entry.read(CHUNK)):
            left -= len(data)
            target.write(data)
    if left < 0:
        file.unlink()
        return f"{shown(entry.path)} is an archive of more than {_LONGEST // MIB} MiB"
    return NestedArchive(path=entry.path, file=file)


def require_complete(
    nested: Collection[NestedArchive],
    files: Mapping[str, str],
    sha256: Mapping[str, str],
    accepts: Collection[str],
) -> tuple[str, ...]:
    """Check that no accepted file is missing which lies packed beside the others; return unread archives.

    `files` are the accepted files by their paths in the upload, `sha256` their digests by these. An archive
    with another version of one of them, as an older copy or the course's own files, belongs to nothing here.
    One that cannot be read is returned as a text that says why.

    Raises:
        SubmissionRefused: one is missing, and what both have is the same.
    """
    unread = []
    for archive in nested:
        try:
            packed = _digests(archive.file, accepts)
        except (SubmissionRefused, UsageError) as refusal:
            unread.append(f"{shown(archive.path)} {str(refusal).partition(';')[0]}")
            continue
        missing = sorted(packed.keys() - files.keys())
        if missing and all(packed[path] == sha256[files[path]] for path in packed.keys() & files.keys()):
            names = ", ".join(map(shown, missing[:_LISTED])) + (", …" if len(missing) > _LISTED else "")
            raise SubmissionRefused(
                f"holds {shown(archive.path)}, an archive with {names} in it, which would not be graded; "
                "hand in all files in one archive, without an archive inside"
            )
    return tuple(unread)


def _digests(archive: Path, accepts: Collection[str]) -> dict[str, str]:
    """Return the SHA-256 of each accepted file of an archive.

    Raises:
        SubmissionRefused, UsageError: it cannot be read.
    """
    sha256: dict[str, str] = {}
    with closing(entries(archive, _LIMITS)) as files:
        for entry in files:
            if entry.junk:
                continue
            digest = hashlib.sha256()
            while data := entry.read(CHUNK):
                digest.update(data)
            sha256[entry.path] = digest.hexdigest()
    return {file: sha256[path] for file, path in accepted(sha256, tuple(accepts)).items()}
