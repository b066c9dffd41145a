"""Turns an upload (an archive, a folder or loose files) into a `Submission` and a workspace."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from grader.errors import CourseError, SubmissionError, UsageError
from grader.filenames import matcher
from grader.intake.archive import entries, is_folder
from grader.intake.entry import ArchiveFile, SubmissionRefused
from grader.intake.formats import CHUNK
from grader.intake.identify import identify
from grader.intake.junk import is_litter
from grader.intake.limits import ArchiveLimits
from grader.intake.names import Sender, made_by_moodle, sender_named, sender_of
from grader.intake.nested import NestedArchive, require_complete, staged
from grader.intake.paths import shown
from grader.intake.upload import LooseFiles, Upload, beside_others, packed
from grader.intake.workspace import lay_out, staging
from grader.model.assignment import Assignment
from grader.model.roster import Roster
from grader.model.submission import Submission

DEFAULT_LIMITS = ArchiveLimits()


def receive(  # noqa: PLR0913 - all that says whose an upload is, and what of, by name
    source: Upload,
    *,
    assignments: Mapping[str, Assignment],
    workspace: Path,
    student: str | None = None,
    assignment: str | None = None,
    preferred: str = "",
    roster: Roster | None = None,
    limits: ArchiveLimits = DEFAULT_LIMITS,
) -> Submission:
    """Put the files of an upload that belong to its assignment, and no others, into `workspace`.

    The workspace appears whole or not at all; it must not exist, or be empty. `student` and `assignment`
    say what the archive's name and its files would otherwise tell; the `preferred` assignment is taken where
    the files may be of several. `roster` says which student or team has
    which id of a learning platform, and who hands in together. Its time is left unknown.

    A folder that Moodle made for one submission stands for the archive in it, if it holds nothing else; with
    other files beside the archive it is not accepted. An archive in an archive is unpacked if it is alone.

    Raises:
        SubmissionError: the archive is not accepted; one line for the student.
        UsageError: there is no such archive, student's name, assignment or place for the workspace.
        CourseError: there is no assignment to hand in to, or the roster has a name that cannot be used.
        NotObservedError: the files could not be written.
    """
    candidates = _candidates(assignments, assignment)
    _check_places(source, workspace)
    upload, (source, name, sender) = source, _signed(source, student, roster)
    try:
        with staging(workspace) as beside:
            _check_archives(source)
            arrivals = _unpack(source, beside, candidates, limits)
            if only := arrivals.only_an_archive():
                arrivals = _unpack_inner(only, beside / "inner", candidates, limits)
            in_folder = isinstance(source, Path) and is_folder(source)
            chosen, files = identify(
                arrivals.paths, arrivals.junk, candidates, is_folder=in_folder, preferred=preferred
            )
            unread = require_complete(arrivals.nested, files, arrivals.sha256, candidates[chosen].accepts)
            _check_team(sender, candidates[chosen], roster)
            lay_out({path: arrivals.staged[files[path]] for path in files}, beside, workspace)
    except SubmissionRefused as refusal:
        # Everybody's archive may be called hw1.zip; the folder around it says whose it is.
        place = name if source == upload else f"{upload.name}/{name}"
        raise SubmissionError(f"{shown(place)}: {refusal}") from None
    return Submission(
        student=sender.student,
        members=sender.members,
        unread=(*arrivals.unread, *unread),
        assignment=chosen,
        archive=name,
        digest=_digest({path: arrivals.sha256[files[path]] for path in files}),
        files=tuple(files),
        top=next(path.removesuffix(file) for file, path in files.items()),
        dropped=tuple(sorted({*arrivals.paths, *arrivals.junk} - set(files.values()))),
        marked_late=sender.late,
        lms_id=sender.lms_id,
        attempt=sender.attempt,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrivals:
    """Contents of an upload."""

    paths: list[str] = field(default_factory=list)
    """Paths of all files but junk."""
    junk: set[str] = field(default_factory=set)
    staged: dict[str, Path] = field(default_factory=dict)
    """The staged copy of each file that may be accepted, under a name of ours."""
    sha256: dict[str, str] = field(default_factory=dict)
    """In hexadecimal, of each of these."""
    nested: list[NestedArchive] = field(default_factory=list)
    """Archives among the junk, as many as are looked into."""
    unread: list[str] = field(default_factory=list)
    """The others, each with why it is not."""

    def only_an_archive(self) -> NestedArchive | None:
        """Return the archive that is all there is, without what systems leave beside files."""
        others = [path for path in self.junk if not is_litter(path.rstrip("/").rpartition("/")[2])]
        return self.nested[0] if self.nested and not self.paths and len(others) == 1 else None


def _signed(source: Upload, student: str | None, roster: Roster | None) -> tuple[Upload, str, Sender]:
    """Return the upload to open, its name in messages, and its sender."""
    if isinstance(source, LooseFiles):
        sender = (
            source.sender(roster) if student is None else sender_named(student, source.name, roster=roster)
        )
        return source, source.name, sender
    place = Path(os.path.abspath(source))  # noqa: PTH100 - `.` and `..` have names, links keep theirs
    archive = _archive_in(place)
    name, folder = (archive.name, place.name) if archive else (place.name, place.parent.name)
    if student is not None:
        return archive or source, name, sender_named(student, name, roster=roster)
    return archive or source, name, sender_of(name, folder=folder, roster=roster)


def sender_of_upload(source: Upload, roster: Roster | None = None, student: str | None = None) -> Sender:
    """Return the sender of an upload: `student`, or else whoever its name says.

    Raises:
        UsageError: the name does not say, or cannot be used.
        CourseError: the roster's name for the id, or its team, is not safe as a folder's name.
    """
    return _signed(source, student, roster)[2]


def _candidates(assignments: Mapping[str, Assignment], name: str | None) -> Mapping[str, Assignment]:
    if not assignments:
        raise CourseError("assignments: there are none; add a folder with an assignment.py")
    if name is None:
        return assignments
    if name not in assignments:
        there_are = ", ".join(assignments)
        raise UsageError(f"--assignment {shown(name)}: there is none of that name; there are {there_are}")
    return {name: assignments[name]}


def _check_team(sender: Sender, assignment: Assignment, roster: Roster | None) -> None:
    """Refuse more students than hand in together.

    Raises:
        CourseError: they are a team of the roster, which they cannot change.
    """
    size, most = len(sender.members), assignment.team_at_most
    if roster and (team := roster.team_of(sender.members)):
        if message := roster.team_objection(team, assignment.name, most):
            raise CourseError(message)
    elif most and size > most:
        raise SubmissionRefused(
            f"is of {size} students, and teams of {assignment.name} have at most {most}; "
            "hand in as smaller teams"
        )


def _check_places(source: Upload, workspace: Path) -> None:
    inside = (
        isinstance(source, Path)
        and is_folder(source)
        and workspace.resolve().is_relative_to(source.resolve())
    )
    try:
        taken = any(workspace.iterdir())
    except FileNotFoundError:
        taken = False
    except OSError as error:
        raise UsageError(f"{workspace}: cannot be used ({error.strerror}); name another place") from None
    if taken:
        raise UsageError(f"{workspace}: is not empty; name a place that does not exist yet")
    if inside:
        raise UsageError(f"{workspace}: lies in the folder that is handed in; name a place outside {source}")


def _archive_in(folder: Path) -> Path | None:
    """Return the only file of a folder that Moodle made, also in folders of its own, if it is an archive.

    It may be of a format that is not supported: then it is refused by its own name.
    """
    files = _uploaded(folder)
    return files[0] if len(files) == 1 and packed(files[0]) else None


def _uploaded(folder: Path) -> list[Path]:
    """List what lies in a folder that Moodle made, without a single folder around it; nothing for others."""
    if not made_by_moodle(folder.name) or not is_folder(folder):
        return []
    try:
        files = [folder]
        while len(files) == 1 and files[0].is_dir() and not files[0].is_symlink():
            files = sorted(file for file in files[0].iterdir() if not is_litter(file.name))
    except OSError:  # reported when it is opened
        return []
    return [file for file in files if file.is_file() and not file.is_symlink()] if files else []


def _check_archives(source: Upload) -> None:
    for file in _uploaded(source) if isinstance(source, Path) else ():
        if packed(file):
            raise beside_others(file.name)


def _unpack(
    source: Upload, beside: Path, candidates: Mapping[str, Assignment], limits: ArchiveLimits
) -> Arrivals:
    """Write the files that may belong to a candidate; others never reach the disk."""
    patterns = [pattern for candidate in candidates.values() for pattern in candidate.accepts]
    possible = matcher(patterns, anywhere=True)
    arrivals = Arrivals()
    with closing(entries(source, limits)) as files:
        for entry in files:
            if entry.junk:
                arrivals.junk.add(entry.junk)
                archive = staged(entry, beside, len(arrivals.nested))
                if isinstance(archive, NestedArchive):
                    arrivals.nested.append(archive)
                elif archive:
                    arrivals.unread.append(archive)
                continue
            arrivals.paths.append(entry.path)
            if possible(entry.path):
                # Numbered, so that a hostile path cannot influence where it is written.
                file = arrivals.staged[entry.path] = beside / str(len(arrivals.staged))
                arrivals.sha256[entry.path] = _write(entry, file)
    return arrivals


def _unpack_inner(
    archive: NestedArchive, beside: Path, candidates: Mapping[str, Assignment], limits: ArchiveLimits
) -> Arrivals:
    beside.mkdir()
    try:
        return _unpack(archive.file, beside, candidates, limits)
    except SubmissionRefused as refusal:
        raise SubmissionRefused(f"holds {shown(archive.path)}, which {refusal}") from None


def _write(entry: ArchiveFile, file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("xb") as target:
        while data := entry.read(CHUNK):
            digest.update(data)
            target.write(data)
        os.fchmod(target.fileno(), 0o644)
    return digest.hexdigest()


def _digest(sha256: Mapping[str, str]) -> str:
    """Digest the output of `sha256sum` over the files, sorted by path."""
    lines = "".join(f"{sha256[path]}  {path}\n" for path in sorted(sha256))
    return f"sha256:{hashlib.sha256(lines.encode()).hexdigest()}"


def same_files(
    submissions: Iterable[Submission], roster: Roster, folder: Path
) -> tuple[tuple[str, ...], ...]:
    """Group students or teams with the same accepted files, which are none of the assignment in `folder`."""
    return tuple(
        tuple(each.student for each in alike)
        for alike in roster.same_files(submissions)
        if not _is_handed_out(alike[0], folder)
    )


def _is_handed_out(submission: Submission, folder: Path) -> bool:
    """Tell whether the accepted files are those of the assignment's starter or reference, byte for byte."""
    for part in ("starter", "reference"):
        try:
            files = {path: (folder / part / path).read_bytes() for path in submission.files}
        except OSError:  # it lacks one
            continue
        sha256 = {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}
        if _digest(sha256) == submission.digest:
            return True
    return False
