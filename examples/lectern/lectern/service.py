"""A platform to post to; a file stands for the server, so that the tests need none."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Self

from grader.api.platform import (
    Answer,
    Change,
    NotObservedError,
    Person,
    Platform,
    PlatformGrade,
    PlatformOptions,
    Receipt,
    Target,
    UsageError,
    option,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LecternOptions(PlatformOptions):
    """Where the assignments are on Lectern."""

    file: str = option("A file instead of a server.")


class Lectern(Platform):
    """One assignment on Lectern."""

    name = "lectern"
    title = "Lectern"
    Options = LecternOptions

    def __init__(self, file: Path, number: int) -> None:
        """`number` is the assignment's on Lectern."""
        self._file = file
        self._number = number

    @classmethod
    def connect(cls, options: LecternOptions, assignment: str, token: str) -> Self:
        """Return an assignment of the course."""
        if not token.isalnum():
            raise UsageError("LECTERN_TOKEN: has letters and digits alone; copy it from your profile")
        return cls(Path(options.file), options.assignments[assignment])

    def target(self) -> Target:
        """Describe the assignment."""
        return Target(key=f"lectern {self._number}", title="HW1", possible=Decimal(3), takes_comments=False)

    def grades(self) -> tuple[PlatformGrade, ...]:
        """Return everyone who can be graded."""
        return tuple(
            PlatformGrade(
                person=Person(row=row, name="", id=student, ids=(("student", student),)),
                points=None if points is None else Decimal(points),
                shown=points or "",
                by_us=True,
            )
            for row, (student, points) in enumerate(self._read().items())
        )

    def apply(self, changes: Iterable[Change]) -> Iterator[Receipt]:
        """Save one grade after the other."""
        for change in changes:
            grades = self._read() | {change.id: str(change.points)}
            self._file.write_text(json.dumps(grades))
            yield Receipt(student=change.student, answer=Answer.THERE)

    def _read(self) -> dict[str, str | None]:
        try:
            grades: dict[str, str | None] = json.loads(self._file.read_text())
        except (OSError, ValueError) as error:
            raise NotObservedError(f"{self._file}: cannot be read ({error}); try again later") from None
        return grades
