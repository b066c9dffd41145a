"""Downloads of a class: a folder of archives, or the zip that Canvas or Moodle gives out."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from grader.errors import CourseError, NotObservedError, SubmissionError, UsageError
from grader.intake.archive import is_folder
from grader.intake.entry import Member, MemberKind, SubmissionRefused, counted
from grader.intake.formats import CHUNK, ZIP, split_ending
from grader.intake.junk import is_litter
from grader.intake.limits import MIB, ArchiveLimits, UnpackMeter
from grader.intake.names import made_by_moodle, named_by_platform, sender_of
from grader.intake.paths import DistinctPaths, safe_path, shown
from grader.intake.upload import packed

CLASS_LIMITS = ArchiveLimits(
    total_bytes=64 << 30,
    file_bytes=1 << 30,
    ratio=1032,
    ratio_from_bytes=64 * MIB,
    entries=100_000,
    depth=ArchiveLimits().depth + 2,
)
"""Limits of a platform's zip; the archives in it have limits of their own."""
_TYPED_IN = re.compile(r"[^A-Z]*_[A-Za-z0-9]+_(?:text|link)\.html|.*_assignsubmission_onlinetext(?:_.*)?")
"""Names of the files that Canvas and Moodle make from a text or a link typed into a form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """The uploads that a list of paths contains."""

    uploads: tuple[Path, ...]
    several: bool = False
    """Whether one of the paths was a folder or a zip of uploads."""
    problems: tuple[str, ...] = ()
    """A line for each part that is no submission or cannot be read."""
    unread: tuple[str, ...] = ()
    """Names of these parts, in a form that says who handed them in."""


def spread(paths: Iterable[Path], place: Callable[[], Path], students: Collection[str] = ()) -> Spread:
    """Expand paths: a folder of uploads, or a platform's zip of them, becomes its uploads.

    Any other path is one upload, whether it exists or not. A zip is unpacked below the folder that `place`
    returns when it is first needed. A folder or a zip beside uploads is one as well, whatever the files in it
    are called: of `submissions/*` each is a student's, who may have named a file in it after another student.
    So is what is called as one of the `students` on the roster, or as a team of them, and a folder with an
    archive among others like it.

    Raises:
        SubmissionError: a platform's zip holds what none holds.
        NotObservedError: it cannot be unpacked for want of space.
    """
    uploads: list[Path] = []
    problems: list[str] = []
    unread: list[str] = []
    listed = _not_of_students([(path, [] if _is_of(path, students) else _lying(path)) for path in paths])
    found = [(path, lying, None if _is_of(path, students) else _zipped(path)) for path, lying in listed]
    only_classes = all(lying or zipped for _, lying, zipped in found)
    for number, (path, lying, zipped) in enumerate(found):
        folder, names = path, lying
        if zipped and only_classes:
            above, tops = zipped
            broken = _unpack(path, place() / str(number), above)
            folder, names = place() / str(number) / above, [top for top in tops if top not in broken]
            problems += broken.values()
            unread += broken
        elif not (lying and only_classes):
            uploads.append(path)
            names = []
        for name in names:
            if _TYPED_IN.fullmatch(name):
                problems.append(f"{shown(name)}: was typed into the platform and is no file; read it there")
                unread.append(_as_a_file(name))
            else:
                uploads.append(folder / name)
    several = only_classes and bool(found)
    return Spread(uploads=tuple(uploads), several=several, problems=tuple(problems), unread=tuple(unread))


def _is_of(path: Path, students: Collection[str]) -> bool:
    """Tell whether a path is called as a student, or as a team of these."""
    try:
        sender = sender_of(Path(os.path.abspath(path)).name)  # noqa: PTH100 - as in `receive`
    except (UsageError, CourseError):
        return False
    return all(name in students for name in sender.members or (sender.student,))


def class_in(folder: Path, students: Collection[str]) -> tuple[list[str], bool]:
    """List the folders and archives in a folder that is one upload to `spread`, if they look like a class.

    If several are called as `students` of the roster it lists those, and true stands beside the list. Else
    one of the folders has an archive in it, as a student's has and a part of one homework seldom. A file
    beside them makes the folder one submission, as does its own name if a student has it: the list is empty.
    """
    if _is_of(folder, students) or _lying(folder):
        return [], False
    try:
        tops = sorted(path for path in folder.iterdir() if not is_litter(path.name))
        folders = [path for path in tops if is_folder(path)]
        if len(tops) < 2 or not all(path in folders or _is_archive(path) for path in tops):
            return [], False
        of_students = [path.name for path in tops if _is_of(path, students)]
        if len(of_students) > 1:
            return of_students, True
        with_archives = len(folders) == len(tops) and any(map(_is_archive, folder.glob("*/*")))
    except (UsageError, OSError):  # the error is reported when it is opened
        return [], False
    return [path.name for path in tops] if with_archives else [], False


def _as_a_file(typed: str) -> str:
    """Return the name that a file of the same student would have, in place of a text that was typed in."""
    as_canvas = re.sub(r"_(text|link)\.html$", r"_1_\1.html", typed)
    return as_canvas.replace("_assignsubmission_onlinetext", "_assignsubmission_file")


def by_platform(name: str) -> bool:
    """Tell whether a name has the form that Canvas or Moodle gives to an upload, or to a text typed in."""
    return named_by_platform(name) or _TYPED_IN.fullmatch(name) is not None


def _lying(folder: Path) -> list[str]:
    """List the uploads in a folder, if it holds nothing else: archives, and names that platforms give.

    An archive of a format that is refused is an upload as well: the others are graded all the same.
    """
    try:
        if not is_folder(folder) or made_by_moodle(folder.name):
            return []
        names = sorted(path.name for path in folder.iterdir() if not is_litter(path.name))
    except (UsageError, OSError):  # the error is reported when it is opened
        return []
    return names if all(by_platform(name) or _is_archive(folder / name) for name in names) else []


def _not_of_students(listed: Sequence[tuple[Path, list[str]]]) -> Sequence[tuple[Path, list[str]]]:
    """Return folders with the uploads in them, without those that are one student's each, as in `FOLDER/*`.

    They are if most of several folders have a single archive: its name, as `hw1.zip`, says of nobody whose
    it is, and the folder's does.
    """
    names = [lying for _, lying in listed if lying and not any(map(by_platform, lying))]
    single = sum(len(lying) == 1 for lying in names)
    if single < 2 or 2 * single <= len(names):
        return listed
    return [(path, [] if lying in names else lying) for path, lying in listed]


def _is_archive(path: Path) -> bool:
    return packed(path) and path.is_file()


def _zipped(path: Path) -> tuple[str, list[str]] | None:
    """Return the folder in a zip, or nothing, and the names in it, if a platform gave all of them.

    A zip that was unpacked and packed again has a folder around what the platform made.
    """
    if split_ending(path.name)[1] not in ZIP.endings or named_by_platform(path.name):
        return None
    try:
        with path.open("rb") as file:
            names = {safe_path(member.name, CLASS_LIMITS) for member in _members(file)}
    except (OSError, SubmissionRefused):  # the error is reported when it is opened
        return None
    above, tops = "", _tops(names)
    if len(tops) == 1 and not by_platform(tops[0]):
        above = tops[0]
        tops = _tops(name.removeprefix(f"{above}/") for name in names if name.startswith(f"{above}/"))
    return (above, tops) if tops and all(map(by_platform, tops)) else None


def _tops(names: Iterable[str]) -> list[str]:
    """List the top level of paths, sorted, without what systems leave beside files."""
    return sorted({top for name in names if (top := name.partition("/")[0]) and not is_litter(top)})


def _members(file: IO[bytes]) -> Iterator[Member]:
    from grader.intake.zip import members

    return members(file)


def _unpack(path: Path, into: Path, above: str) -> dict[str, str]:
    """Unpack a zip into a folder; return the errors by the name of the upload, which lies in `above`."""
    names, meter = DistinctPaths(), UnpackMeter(CLASS_LIMITS, path.stat().st_size)
    broken: dict[str, str] = {}
    try:
        into.mkdir()
        with path.open("rb") as file:
            for member in counted(_members(file), meter.count):
                meter.entry()
                name = safe_path(member.name, CLASS_LIMITS)
                top = name.removeprefix(f"{above}/").partition("/")[0]
                if member.kind is MemberKind.FOLDER or is_litter(name.partition("/")[0]) or is_litter(top):
                    continue
                names.add(name)
                if why := _write(member, into / name):
                    broken[top] = f"{shown(path.name)}: {shown(name)} {why}"
    except SubmissionRefused as refusal:
        raise SubmissionError(f"{shown(path.name)}: {refusal}") from None
    except OSError as error:
        raise NotObservedError(f"{shown(str(path))}: cannot be unpacked ({error.strerror})") from None
    return broken


def _write(member: Member, file: Path) -> str:
    """Write one file of a zip; return why it could not be read, or an empty text."""
    if member.kind is not MemberKind.FILE:
        return f"is {member.kind}; download it again"
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        with file.open("xb") as target:
            while data := member.read(CHUNK):
                target.write(data)
            os.fchmod(target.fileno(), 0o644)
    except SubmissionRefused:
        file.unlink()
        return "is damaged in it; download it again"
    return ""
