"""Which items of which submissions wait for a person, and what people say of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from grader.config.course import Course
from grader.config.evidence_file import EVIDENCE, read_evidence
from grader.config.points_csv import PointsRow
from grader.config.points_file import MANUAL, PointsGiven, append_points, read_points
from grader.config.problem import suggestion
from grader.config.rubric import load_rubric
from grader.errors import UsageError
from grader.grading.results import Results
from grader.model.evidence import Evidence
from grader.model.observation import Outcome
from grader.model.rubric import Item
from grader.plugins import Plugins

DIGEST_DIGITS = 12
"""How much of a digest stands in the table, behind `sha256:`."""


@dataclass(frozen=True)
class StoredGrade:
    """One examined submission, with the items that a person may give points for."""

    folder: Path
    evidence: Evidence
    items: Mapping[str, Item]

    @cached_property
    def given(self) -> Mapping[str, PointsGiven]:
        """What people gave so far."""
        return read_points(self.folder, self.evidence.submission.digest)

    @property
    def mark(self) -> str:
        """How the table names exactly this submission."""
        return self.evidence.submission.digest.rpartition(":")[2][:DIGEST_DIGITS]


def graded_submissions(
    out: Path, course: Course, plugins: Plugins, rubric: str | None = None
) -> list[StoredGrade]:
    """Everything examined below a results folder, by assignment and student.

    Raises:
        UsageError: there is no such folder.
        CourseError: the rubric of an assignment is wrong or missing.
    """
    if not out.is_dir():
        raise UsageError(f"{out}: there is no such results folder; grade first, or name one by --results")
    found = []
    for assignment in sorted(out.iterdir()):
        if assignment.name not in plugins.assignment_folders or not assignment.is_dir():
            continue
        path = course.rubric_path(rubric or assignment.name)
        marked = load_rubric(path, kinds=plugins.checks, assignments=plugins.assignment_folders)
        items = {i.id: i for i in marked.items if plugins.checks[i.check].by_hand}
        for folder in sorted(assignment.iterdir()):
            evidence = read_evidence(folder / EVIDENCE)
            if evidence is not None:
                found.append(StoredGrade(folder, evidence, items))
    return found


def rows(found: list[StoredGrade], plugins: Plugins) -> Iterator[PointsRow]:
    """A row for each manual item, and each other one that only a person can decide."""
    for graded in found:
        for item in graded.items.values():
            given = graded.given.get(item.id)
            if given or item.check == MANUAL or _undecided(graded, item, plugins):
                yield PointsRow(
                    student=graded.folder.name,
                    assignment=graded.folder.parent.name,
                    item=item.id,
                    title=item.title,
                    asks=getattr(item.options, "asks", ""),
                    possible=f"{item.points:g}",
                    points=f"{given.points:g}" if given else "",
                    comment=given.comment if given else "",
                    submission=graded.mark,
                )


def _undecided(graded: StoredGrade, item: Item, plugins: Plugins) -> bool:
    seen = graded.evidence.observations.get(item.id)
    if seen is None or seen.outcome is not Outcome.OBSERVED:
        return False
    return plugins.checks[item.check].award(item.options, seen, {}).undecided


class Judgements:
    """What a table says, checked row by row; kept only if nothing in it is wrong."""

    def __init__(self, found: list[StoredGrade], *, where: str, by: str, at: str) -> None:
        self._graded = {(one.folder.parent.name, one.folder.name): one for one in found}
        self._where = where
        self._by = by
        self._at = at
        self._first: dict[tuple[str, str, str], int] = {}
        self._records: dict[Path, list[PointsGiven]] = {}
        self.problems: list[str] = []

    def add(self, line: int, row: PointsRow) -> None:
        """Take one row, or note all that is wrong with it; a row without points says nothing yet."""
        if not row.points:
            return
        before = len(self.problems)
        first = self._first.setdefault((row.assignment, row.student, row.item), line)
        if first != line:
            self._wrong(line, f"gives points for the same item as line {first}; keep one of them")
        graded = self._graded.get((row.assignment, row.student))
        if graded is None:
            students = [student for assignment, student in self._graded if assignment == row.assignment]
            known = suggestion(row.student, students) if students else "grade it first"
            self._wrong(line, f"no submission of {row.student!r} for {row.assignment!r} was graded; {known}")
            return
        item = graded.items.get(row.item)
        if item is None:
            known = suggestion(row.item, graded.items) if graded.items else "the rubric has none"
            self._wrong(line, f"{row.item!r} is no item that a person gives points for; {known}")
            return
        if row.submission and row.submission != graded.mark:
            self._wrong(
                line, f"{row.student} has handed in again since; export the table anew and look again"
            )
        points = self._points(line, row.points, item)
        if len(self.problems) == before:
            self._keep(graded, item, points, row.comment)

    def save(self) -> int:
        """Write all of it; how many judgements are new.

        Raises:
            UsageError: something in the table is wrong; nothing is written.
            NotObservedError: a results folder is in use or cannot be written.
        """
        if self.problems:
            raise UsageError(*self.problems, "nothing was written")
        for folder, records in self._records.items():
            with Results(folder).locked():
                append_points(folder, records)
        return sum(map(len, self._records.values()))

    def _points(self, line: int, text: str, item: Item) -> float:
        try:
            points = float(text.replace(",", "."))
        except ValueError:
            points = float("nan")
        if not 0 <= points <= item.points:
            self._wrong(line, f"{item.id}: points must be a number from 0 to {item.points:g}, got {text!r}")
        return points

    def _keep(self, graded: StoredGrade, item: Item, points: float, comment: str) -> None:
        record = PointsGiven(
            item=item.id,
            points=points,
            possible=item.points,
            by=self._by,
            at=self._at,
            comment=comment,
            submission=graded.evidence.submission.digest,
        )
        earlier = graded.given.get(item.id)
        if earlier is None or replace(earlier, by=self._by, at=self._at) != record:
            self._records.setdefault(graded.folder, []).append(record)

    def _wrong(self, line: int, problem: str) -> None:
        self.problems.append(f"{self._where}:{line}: {problem}")
