"""Opens an upload (an archive, a folder or loose files) as a stream of checked files."""

from __future__ import annotations

import stat
from collections.abc import Generator, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

from grader.errors import UsageError
from grader.intake.entry import ArchiveFile, Member, MemberKind, Read, SubmissionRefused, counted
from grader.intake.formats import CHUNK, members
from grader.intake.junk import junk_part
from grader.intake.limits import MIB, ArchiveLimits, UnpackMeter
from grader.intake.paths import DistinctPaths, safe_path, shown
from grader.intake.upload import LooseFiles, Upload

_ADVICE = {
    MemberKind.SYMBOLIC_LINK: "hand in the file itself",
    MemberKind.HARD_LINK: "hand in the file itself",
    MemberKind.SPARSE: "pack the files without --sparse",
    MemberKind.ENCRYPTED: "pack the files without a password",
    MemberKind.ODDLY_PACKED: "pack the files with the usual method (deflate)",
}

_LISTED = 3


def entries(source: Upload, limits: ArchiveLimits) -> Generator[ArchiveFile, None, None]:
    """Yield every file of an upload, in its order, each path safe and each byte counted.

    Junk is yielded too, for its name, but never read. Close the iterator if it is left early.

    Raises:
        SubmissionRefused: the archive is unsound, or holds something that a submission may not hold.
        UsageError: there is nothing at `source` that can be read.
    """
    names = DistinctPaths()
    with ExitStack() as stack:
        members_found, meter = _opened(source, limits, stack)
        for member in members_found:
            meter.entry()
            path = safe_path(member.name, limits)
            if junk := junk_part(path):
                yield ArchiveFile(path=path, read=member.read, junk=junk)
                continue
            if member.kind is MemberKind.FOLDER:
                continue
            if not path:
                raise SubmissionRefused("holds a file without a name; pack the files again")
            if member.kind is not MemberKind.FILE:
                raise _refusal(member, path, _alike(member.kind, members_found, meter, limits))
            names.add(path)
            read = _bounded(member.read, path, limits)
            yield ArchiveFile(path=path, read=read)
            while read(CHUNK):
                pass


def is_folder(source: Path) -> bool:
    """Tell whether an upload is a folder; otherwise it is a file.

    Raises:
        UsageError: it is neither, or not there, or out of reach.
    """
    try:
        mode = source.stat().st_mode
    except (OSError, ValueError) as error:
        raise _unreadable(source, error) from None
    if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
        raise UsageError(f"{shown(str(source))}: is no file and no folder; give an archive or a folder")
    return stat.S_ISDIR(mode)


def _opened(source: Upload, limits: ArchiveLimits, stack: ExitStack) -> tuple[Iterator[Member], UnpackMeter]:
    if isinstance(source, LooseFiles) or is_folder(source):
        meter = UnpackMeter(limits, None)
        return counted(_lying_open(source), meter.count), meter
    try:
        file = stack.enter_context(source.open("rb"))
    except OSError as error:
        raise _unreadable(source, error) from None
    meter = UnpackMeter(limits, source.stat().st_size)
    return members(file, source.name, meter, stack), meter


def _lying_open(source: Upload) -> Iterator[Member]:
    from grader.intake import folder, upload

    return upload.members(source) if isinstance(source, LooseFiles) else folder.members(source)


def _unreadable(source: Path, error: Exception) -> UsageError:
    why = error.strerror if isinstance(error, OSError) else "no file can have this name"
    denied = isinstance(error, PermissionError)
    advice = "see who may read it" if denied else "give an archive or a folder"
    return UsageError(f"{shown(str(source))}: cannot be read ({why}); {advice}")


def _alike(
    kind: MemberKind, members_left: Iterator[Member], meter: UnpackMeter, limits: ArchiveLimits
) -> Iterator[str]:
    """Yield what else is of a kind that no submission may hold, as far as the rest can be read."""
    with suppress(SubmissionRefused):
        for member in members_left:
            meter.entry()
            path = safe_path(member.name, limits)
            if member.kind is kind and path and not junk_part(path):
                yield _named(member, path)


def _refusal(member: Member, path: str, alike: Iterator[str]) -> SubmissionRefused:
    """Refuse a member that is no file, and name those of its kind, so that nobody hands in for each."""
    others = list(alike)
    listed = ", ".join(others[:_LISTED]) + (", …" if len(others) > _LISTED else "")
    more = f", and {len(others)} more ({listed})" if others else ""
    advice = _ADVICE.get(member.kind, "hand in plain files only")
    return SubmissionRefused(f"holds {member.kind} ({_named(member, path)}){more}; {advice}")


def _named(member: Member, path: str) -> str:
    return f"{shown(path)} -> {shown(member.target)}" if member.target else shown(path)


def _bounded(read: Read, path: str, limits: ArchiveLimits) -> Read:
    left = limits.file_bytes

    def bounded(size: int) -> bytes:
        nonlocal left
        data = read(size)
        left -= len(data)
        if left < 0:
            most = limits.file_bytes // MIB
            raise SubmissionRefused(
                f"holds a file larger than {most} MiB ({shown(path)}); hand in the source files only"
            )
        return data

    return bounded
