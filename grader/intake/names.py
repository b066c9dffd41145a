"""Parses the sender of a submission from the archive's name, in the forms of students and platforms."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from grader.errors import CourseError, NamelessError, UsageError
from grader.intake.formats import split_ending
from grader.intake.junk import ARCHIVE_ENDINGS
from grader.intake.paths import shown
from grader.model.roster import Roster

_STUDENT = "[A-Za-z0-9_][A-Za-z0-9._-]{0,63}"
_TEAM_LETTERS = 200
_READABLE_LETTERS = 40
"""Of a display name; with the longest id they stay below what a student's name may have."""

SENDER_NAMES = "letters A-Z, digits and . _ -, not a dot or hyphen first, 64 at most; a team as alice+bob"
"""What `--student`, or the name of an archive or folder without a platform's form, may be."""

_ID = "(?P<id>[1-9][0-9]{0,19})"
_LATE = "(?P<late>LATE_)?"
_FILE = "[1-9][0-9]*_(?P<file>.+?)(?:-(?P<attempt>[1-9][0-9]?))?"
_CANVAS = (
    # Anonymous marking; `LATE` has stood in both places.
    f"{_LATE}(?P<name>anon)_(?P<id>[A-Za-z0-9]{{1,40}})_{_FILE}",
    f"(?P<name>anon)_(?P<id>[A-Za-z0-9]{{1,40}})_{_LATE}{_FILE}",
    # The student, or who stands for a group: in lower case without blanks and signs, perhaps nothing.
    rf"(?P<name>[^A-Z\s.+-]*?)_{_LATE}{_ID}_{_FILE}",
)
_LAST_ENDING = r"(.*[^_])(\.[A-Za-z0-9]{1,10})"
"""Canvas numbers `utils.py` as `utils-2.py`."""
_MOODLE = f"(?P<name>[^_]*)(?:_{_ID})?_assignsubmission_file(?:_(?P<file>.*))?"
"""A folder for each submission, or all files in one folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """The sender of a submission, and other parts of an archive's name."""

    student: str
    """The student or the team, safe as the name of a folder.

    From a platform it is what is readable of the name, and the id: `doejane_12345`. Two students may have
    one name, and one student may hand in many files.
    """
    members: tuple[str, ...] = ()
    """The students of a team, sorted; empty for one student."""
    uploader: str = ""
    """The student of a team whose own name the archive bears; empty where it bears none, or an id."""
    file: str
    """The student's own name of the archive or file."""
    lms_id: str | None = None
    """The id in the name: in Canvas a user's, or an anonymous submission's; in Moodle a participant's or a
    group's, which have other ones in every assignment."""
    attempt: int | None = None
    """Canvas' number of a further file of one name: 2 in `hw1-2.zip`. Larger is later, None is first."""
    late: bool = False
    """Whether the platform marked it late; informative only: its clock and rule are not the rubric's."""


def sender_of(name: str, *, folder: str = "", roster: Roster | None = None) -> Sender:
    """Parse the sender from an archive's name and that of the folder around it.

    `alice.tar.gz` is alice's and `alice+bob.tar.gz` a team's, in whatever order it is written; who is in a
    team on the roster hands in for all of it. The names that Canvas and Moodle give are understood; in a
    folder that Moodle made an archive may have any name. `roster` says which student or team an id stands
    for; where it does not, name and id together do.

    A plain name of the form that Canvas gives (`team_1_2_x.zip`) is taken for one of Canvas.

    Raises:
        UsageError: the name does not say, or not in a way that is safe as a folder's name.
        CourseError: the roster's name for the id, or its team, is not safe as a folder's name.
    """
    if match := re.fullmatch(_MOODLE, folder):
        return _from_platform(match, name, name, roster or Roster())
    return uploader_of(name, roster=roster) or _on_roster(_stem(name), name, roster, _unsaid(name))


def uploader_of(name: str, *, roster: Roster | None = None) -> Sender | None:
    """Parse the sender of any file from the name that Canvas or Moodle gave it; None for other names.

    Raises:
        UsageError: Moodle's name names nobody.
        CourseError: the roster's name for the id, or its team, is not safe as a folder's name.
    """
    stem, ending = split_ending(name)
    if match := re.fullmatch(_MOODLE, stem):
        file = f"{match['file']}{ending}" if match["file"] else name
        return _from_platform(match, file, name, roster or Roster())
    if not ending and (parts := re.fullmatch(_LAST_ENDING, name)):
        stem, ending = parts.groups()
    for naming in _CANVAS:
        if match := re.fullmatch(naming, stem):
            return _from_platform(match, f"{match['file']}{ending}", name, roster or Roster())
    return None


def sender_named(student: str, name: str, *, roster: Roster | None = None) -> Sender:
    """Return the student or team named by `--student`, ignoring the name of the archive.

    A student who is in a team on the roster is that team, and so is the team's name there.

    Raises:
        UsageError: it is not safe as the name of a folder.
    """
    no_name = f"--student {shown(student)!r}: is no name that can be used; give {SENDER_NAMES}"
    return _on_roster(student, name, roster, UsageError(no_name))


def made_by_moodle(folder: str) -> bool:
    """Tell whether a folder has the name that Moodle gives to one submission."""
    return re.fullmatch(_MOODLE, folder) is not None


def named_by_platform(name: str) -> bool:
    """Tell whether a file or folder has a name that Canvas or Moodle gives to an upload."""
    stem, ending = split_ending(name)
    if not ending and (parts := re.fullmatch(_LAST_ENDING, name)):
        stem = parts[1]
    return any(re.fullmatch(naming, stem) for naming in (_MOODLE, *_CANVAS))


def _stem(name: str) -> str:
    """Return the name of an archive without its ending, also that of a format that is refused (`ann.rar`)."""
    stem, ending = split_ending(name)
    other = "" if ending else next((end for end in ARCHIVE_ENDINGS if name.lower().endswith(end)), "")
    return stem[: len(stem) - len(other)]


def _from_platform(match: re.Match[str], file: str, name: str, roster: Roster) -> Sender:
    lms_id: str | None = match["id"]
    parts = match.groupdict()
    if lms_id is not None and (party := roster.by_id.get(lms_id)):
        message = (
            f"roster: {shown(party)!r} for id {lms_id}: is no name that can be used; write {SENDER_NAMES}"
        )
        sender = _sender(party, file, CourseError(message))
    else:
        sender = _sender(_readable(match["name"], lms_id), file, _unsaid(name))
    attempt = parts.get("attempt")
    return replace(
        sender,
        lms_id=lms_id,
        attempt=int(attempt) if attempt else None,
        late=parts.get("late") is not None,
    )


def _readable(name: str, lms_id: str | None) -> str:
    from unicodedata import normalize

    letters = re.sub("[^a-z0-9]", "", normalize("NFKD", name).lower())[:_READABLE_LETTERS]
    return "_".join(filter(None, (letters, lms_id)))


def _on_roster(student: str, file: str, roster: Roster | None, otherwise: Exception) -> Sender:
    """Return the sender of what is a student's, or a team's, by its name.

    Raises:
        CourseError: the roster has a team for it that is not safe as a folder's name.
        Exception: `otherwise`, if the name itself is not.
    """
    party = roster.hands_in_as(student) if roster else student
    if party != student:
        whose = f"{shown(party)!r} for {shown(student)}"
        message = f"roster: {whose}: is no name that can be used; write {SENDER_NAMES}"
        otherwise = CourseError(message)
    sender = _sender(party, file, otherwise)
    return replace(sender, uploader=student) if student in sender.members else sender


def _sender(party: str, file: str, otherwise: Exception) -> Sender:
    members = tuple(sorted(party.split("+")))
    sound = all(re.fullmatch(_STUDENT, member) for member in members)
    if not sound or len(set(members)) < len(members) or len(party) > _TEAM_LETTERS:
        raise otherwise
    return Sender(student="+".join(members), members=members if len(members) > 1 else (), file=file)


def _unsaid(name: str) -> NamelessError:
    return NamelessError(
        f"{shown(name)}: its name does not say who handed it in; rename it, or grade it by itself with "
        f"--student NAME ({SENDER_NAMES})"
    )
