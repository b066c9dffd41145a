"""What makes one hand-in: an archive, a folder, or the loose files that one student uploaded to Canvas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from grader.intake.entry import Kind, Member, Refused
from grader.intake.folder import reading
from grader.intake.formats import split_ending
from grader.intake.junk import ARCHIVE_ENDINGS
from grader.intake.names import Sender, sender_of, uploader_of
from grader.intake.paths import shown

_COMPRESSED = (".gz", ".bz2", ".xz")
"""May be a single file, such as `mnist.pkl.gz`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loose:
    """Files of one upload, each under the name that Canvas gave it; they stay where they are."""

    files: tuple[Path, ...]

    @property
    def name(self) -> str:
        """What lines about it call it: its file, or `doejane_12345 (3 files)`."""
        first = self.files[0].name
        return first if len(self.files) == 1 else f"{sender_of(first).student} ({len(self.files)} files)"

    def sender(self, roster: Mapping[str, str] | None = None) -> Sender:
        """Who uploaded them, and the largest number that Canvas gave one of them.

        Raises:
            CourseError: the roster's name for the id is not safe as a folder's name.
        """
        senders = [sender_of(file.name, roster=roster) for file in self.files]
        return replace(senders[0], attempt=max((s.attempt for s in senders if s.attempt), default=None))


HandIn: TypeAlias = Path | Loose
"""The path of an archive or a folder, or loose files."""


def group(paths: Iterable[Path]) -> tuple[HandIn, ...]:
    """The hand-ins that paths make, in the order in which the first of each stands.

    Files of one folder that Canvas names after the same student, late or not, and that are no archives, are
    one hand-in. So are an archive and files beside it, for which `receive` refuses them. Everything else is
    a hand-in by itself, whether it is there or not.
    """
    uploads: dict[tuple[Path, str, bool] | int, list[Path]] = {}
    for number, path in enumerate(paths):
        uploads.setdefault(_upload(path) or number, []).append(path)
    hand_ins: list[HandIn] = []
    for upload, files in uploads.items():
        apart = isinstance(upload, int) or all(map(_packed, files))
        hand_ins += files if apart else [Loose(files=tuple(dict.fromkeys(files)))]
    return tuple(hand_ins)


def members(loose: Loose) -> Iterator[Member]:
    """Each file under the name that the student gave it, without the number of a further attempt.

    Raises:
        Refused: an archive is among them, or a file in two attempts.
    """
    names: dict[str, Path] = {}
    for file in loose.files:
        name = sender_of(file.name).file
        if _packed(file):
            advice = "hand in everything in one archive, or all files without one"
            raise Refused(f"is an archive ({shown(name)}) with loose files beside it; {advice}")
        if name in names:
            both = f"{shown(names[name].name)} and {shown(file.name)}"
            raise Refused(f"holds {shown(name)} twice ({both}); give only the later one")
        names[name] = file
    for name, file in names.items():
        yield Member(name=name, kind=Kind.FILE, read=reading(file.resolve()))


def _upload(path: Path) -> tuple[Path, str, bool] | None:
    """What files of one upload have in common; None for what Canvas did not name, or is no file."""
    sender = uploader_of(path.name)
    try:
        is_file = path.is_file()
    except OSError:  # out of reach: whoever opens it says so
        return None
    return (path.absolute().parent, sender.student, sender.late) if sender and is_file else None


def _packed(file: Path) -> bool:
    """Whether a file calls itself an archive, also of a form that is not taken."""
    name = file.name.lower()
    return bool(split_ending(name)[1]) or (name.endswith(ARCHIVE_ENDINGS) and not name.endswith(_COMPRESSED))
