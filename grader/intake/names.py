"""Who handed in: read from the archive's name, or given."""

from __future__ import annotations

import re

from grader.errors import UsageError
from grader.intake.formats import ENDINGS
from grader.intake.paths import shown

NAMINGS = (r"(?P<student>[A-Za-z0-9_][A-Za-z0-9._-]{0,63})",)
"""How archives are named, without their ending; the first that fits says who it is.

What an LMS makes of a name (its ids, `LATE`, a number for a second try) is one more pattern, in front.
"""

_ALLOWED = "letters A-Z, digits and . _ -, not a dot or hyphen first, 64 at most"


def student_from(name: str) -> str:
    """The student that an archive's or folder's name says: `alice.tar.gz` is alice's.

    Raises:
        UsageError: the name does not say, or not in a way that is safe as a folder's name.
    """
    stem = name[: -len(_ending(name)) or None]
    for naming in NAMINGS:
        if match := re.fullmatch(naming, stem):
            return match["student"]
    raise UsageError(
        f"{shown(name)}: its name does not say who handed it in; say so with --student NAME ({_ALLOWED})"
    )


def student_named(student: str) -> str:
    """The student as given with `--student`.

    Raises:
        UsageError: it is not safe as the name of a folder.
    """
    if re.fullmatch(NAMINGS[-1], student):
        return student
    raise UsageError(f"--student {shown(student)!r}: is no name that can be used; give {_ALLOWED}")


def _ending(name: str) -> str:
    return max((ending for ending in ENDINGS if name.lower().endswith(ending)), key=len, default="")
