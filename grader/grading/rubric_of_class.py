"""The rubric that a class was graded by: it judges the class again, unless another one is named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from grader.errors import UsageError
from grader.files import is_file, show_path
from grader.model.magnitude import counted

if TYPE_CHECKING:
    from grader.config.course import Course
    from grader.model.rubric import Rubric

SCORE = "score.json"


class _Named(msgspec.Struct):
    """The one field of a score that is read where a class is counted by its rubrics."""

    rubric: str


_NAMED = msgspec.json.Decoder(_Named)


def rubric_name(document: str | bytes) -> str:
    """Read the name of the rubric alone from a score in JSON, of a results folder or a gradebook.

    Raises:
        msgspec.DecodeError: it is no JSON, or names none.
    """
    return _NAMED.decode(document).rubric


def rubric_in(folder: Path) -> str:
    """Return the name of the rubric of the score in a results folder; empty without a score."""
    try:
        return rubric_name((folder / SCORE).read_bytes())
    except (OSError, msgspec.DecodeError):
        return ""


def items_in(folder: Path) -> tuple[str, ...]:
    """Return the ids of the items of the score in a results folder; none without a score."""
    try:
        return tuple(line["id"] for line in msgspec.json.decode((folder / SCORE).read_bytes())["items"])
    except (OSError, msgspec.DecodeError, LookupError, TypeError):
        return ()


def rubrics_in(folders: Iterable[Path]) -> Mapping[str, int]:
    """Count the scores in results folders by the names of their rubrics."""
    return Counter(filter(None, map(rubric_in, folders)))


def require_rubric_of(assignment: str, rubric: Rubric, path: Path) -> None:
    """Refuse a rubric that grades another assignment.

    Raises:
        UsageError: it does.
    """
    if rubric.assignment != assignment:
        raise UsageError(
            f"{show_path(path)}: grades {rubric.assignment}, not {assignment}; name another rubric"
        )


def rubric_again(
    course: Course, assignment: str, named: str | None, graded_by: Mapping[str, int], where: object
) -> tuple[Path, str]:
    """Return the rubric that judges an assignment again, and a line if it is another than before.

    `named` is a name or file that somebody chose, `graded_by` counts the grades at `where` by the names of
    their rubrics; without any the rubric named like the assignment judges.

    Raises:
        UsageError: the named one is not there; or none is named, and the grades are by several, or by one
            that the course does not have.
        CourseError: there are no grades, and the assignment has no rubric of its own.
    """
    if named is None and len(graded_by) > 1:
        raise UsageError(
            f"{where}: {assignment} was graded by several rubrics ({counts(graded_by)}); name one for all by "
            "--rubric"
        )
    if named is None and graded_by:
        (name,) = graded_by
        path = course.rubric_path(name)
        if not is_file(path):
            raise UsageError(
                f"{where}: {assignment} was graded by rubric {name}, which is not in "
                f"{show_path(path.parent)}; put it back, or name a rubric by --rubric"
            )
        return path, ""
    path = course.rubric_for(assignment, named)
    return path, remark(assignment, path.stem, graded_by, where)


def remark(assignment: str, rubric: str, graded_by: Mapping[str, int], where: object) -> str:
    """Return a line on grades at `where` that were given by other rubrics than this; empty without any."""
    others = {name: count for name, count in graded_by.items() if name != rubric}
    if not others:
        return ""
    before = ", ".join(f"rubric {name} ({counted(count, 'grade')})" for name, count in sorted(others.items()))
    back = "; ".join(f"--rubric {name} judges as before" for name in others) if len(others) == 1 else ""
    line = f"{where}: {assignment} was graded by {before}, and rubric {rubric} judges it now"
    return f"{line}; {back}" if back else line


def counts(graded_by: Mapping[str, int]) -> str:
    """Return `1 grade by short, 2 by tiny`."""
    (first, number), *others = sorted(graded_by.items())
    return ", ".join(
        [f"{counted(number, 'grade')} by {first}", *(f"{count} by {name}" for name, count in others)]
    )
