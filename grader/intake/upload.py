"""One upload: an archive, a folder, or the loose files that one student uploaded to Canvas or Moodle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from grader.intake.entry import Member, MemberKind, SubmissionRefused
from grader.intake.folder import reading
from grader.intake.formats import split_ending
from grader.intake.junk import ARCHIVE_ENDINGS
from grader.intake.names import Sender, sender_of, uploader_of
from grader.intake.paths import shown
from grader.model.roster import Roster

_COMPRESSED = (".gz", ".bz2", ".xz")
"""Compressed single files, such as `mnist.pkl.gz`, which are no archives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LooseFiles:
    """Files that one student uploaded, each under the name that the platform gave it."""

    files: tuple[Path, ...]

    @property
    def name(self) -> str:
        """The name in messages: its file, or `doejane_12345 (3 files)`."""
        first = self.files[0].name
        return first if len(self.files) == 1 else f"{sender_of(first).student} ({len(self.files)} files)"

    def sender(self, roster: Roster | None = None) -> Sender:
        """Return the student who uploaded them, with the largest attempt number among the files.

        Raises:
            CourseError: the roster's name for the id is not safe as a folder's name.
        """
        senders = [sender_of(file.name, roster=roster) for file in self.files]
        return replace(senders[0], attempt=max((s.attempt for s in senders if s.attempt), default=None))


Upload: TypeAlias = Path | LooseFiles
"""The path of an archive or a folder, or loose files."""


def group(paths: Iterable[Path]) -> tuple[Upload, ...]:
    """Group paths into uploads, in the order of each one's first path.

    Files of one folder that Canvas or Moodle names after the same student, late or not, and that are no
    archives, are one submission. So are an archive and files beside it, for which `receive` refuses them.
    Everything else is a submission by itself, whether it is there or not.
    """
    files_by_student: dict[tuple[Path, str, bool] | int, list[Path]] = {}
    for number, path in enumerate(paths):
        files_by_student.setdefault(_student_key(path) or number, []).append(path)
    uploads: list[Upload] = []
    for key, files in files_by_student.items():
        apart = isinstance(key, int) or all(map(packed, files))
        uploads += files if apart else [LooseFiles(files=tuple(dict.fromkeys(files)))]
    return tuple(uploads)


def members(loose: LooseFiles) -> Iterator[Member]:
    """Yield each file under its original name, without the number of a further attempt.

    Raises:
        SubmissionRefused: an archive is among them, or a file in two attempts.
    """
    names: dict[str, Path] = {}
    for file in loose.files:
        name = sender_of(file.name).file
        if packed(file):
            raise beside_others(name)
        if name in names:
            both = f"{shown(names[name].name)} and {shown(file.name)}"
            raise SubmissionRefused(f"holds {shown(name)} twice ({both}); give only the later one")
        names[name] = file
    for name, file in names.items():
        yield Member(name=name, kind=MemberKind.FILE, read=reading(file.resolve()))


def _student_key(path: Path) -> tuple[Path, str, bool] | None:
    """Return the key that files of one upload share; None for other names, and for folders."""
    sender = uploader_of(path.name)
    try:
        is_file = path.is_file()
    except OSError:  # out of reach: reported when it is opened
        return None
    return (path.absolute().parent, sender.student, sender.late) if sender and is_file else None


def beside_others(archive: str) -> SubmissionRefused:
    """Return the refusal of an archive and other files, of which nobody knows which count."""
    advice = "hand in everything in one archive, or all files without one"
    return SubmissionRefused(f"holds an archive ({shown(archive)}) with other files beside it; {advice}")


def packed(file: Path) -> bool:
    """Tell whether a file name ends like an archive's, supported or not."""
    name = file.name.lower()
    return bool(split_ending(name)[1]) or (name.endswith(ARCHIVE_ENDINGS) and not name.endswith(_COMPRESSED))
