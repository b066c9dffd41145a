"""Identifies the assignment of a submission: the one whose patterns match most of its files."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from grader.intake.accept import accepted, matcher
from grader.intake.entry import SubmissionRefused
from grader.intake.junk import ARCHIVE_ENDINGS
from grader.intake.paths import shown
from grader.model.assignment import Assignment

_LISTED = 8


def identify(
    paths: Collection[str], junk: Collection[str], assignments: Mapping[str, Assignment]
) -> tuple[str, dict[str, str]]:
    """Return the assignment's name, and its files as `accepted` returns them.

    Raises:
        SubmissionRefused: no assignment fits, or several do equally well.
    """
    if not paths and not junk:
        raise SubmissionRefused("holds no files; pack the homework's files")
    fitting = {name: accepted(paths, assignment.accepts) for name, assignment in assignments.items()}
    most = max(map(len, fitting.values()))
    if most == 0:
        raise SubmissionRefused(_nothing_fits(paths, junk, assignments))
    best = [name for name, files in fitting.items() if len(files) == most]
    if len(best) > 1:
        raise SubmissionRefused(
            f"fits several assignments alike ({_some(best)}); say which with --assignment NAME"
        )
    return best[0], fitting[best[0]]


def _nothing_fits(
    paths: Collection[str], junk: Collection[str], assignments: Mapping[str, Assignment]
) -> str:
    patterns = list(dict.fromkeys(p for assignment in assignments.values() for p in assignment.accepts))
    if len(assignments) == 1:
        line = f"holds no file of {next(iter(assignments))}; hand in {_some(patterns)}"
    else:
        line = (
            f"holds no file of any assignment ({_some(list(assignments))}); "
            "hand in the files that yours asks for"
        )
    return line + _hint(paths, junk, patterns)


def _hint(paths: Collection[str], junk: Collection[str], patterns: Collection[str]) -> str:
    for pattern in patterns:
        # Letters in another case, a folder too many or too few: what nearly fits is named.
        nearly = matcher((pattern.rpartition("/")[2].casefold(),), anywhere=True)
        for path in sorted(paths):
            if nearly(path.casefold()):
                return f" (it holds {shown(path)}: did you mean {pattern}?)"
    for path in sorted(junk):
        if path.lower().endswith(ARCHIVE_ENDINGS):
            return f" (it holds {shown(path)}: an archive inside is not unpacked)"
    return ""


def _some(names: Collection[str]) -> str:
    listed = list(names)[:_LISTED]
    return ", ".join(listed) + (", …" if len(names) > _LISTED else "")
