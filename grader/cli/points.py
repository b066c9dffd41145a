"""Graded submissions of a results folder, with the items that a person may give points for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from grader.checks.answer import AnswerKind
from grader.config.course import Course
from grader.config.evidence_file import EVIDENCE, read_evidence
from grader.config.points_file import PointsGiven, read_points
from grader.config.rubric import load_rubric
from grader.grading.rubric_of_class import require_rubric_of, rubric_again, rubrics_in
from grader.model.evidence import Evidence
from grader.model.rubric import MANUAL, Item, Rubric
from grader.model.score import Standing
from grader.plugins import Plugins
from grader.scoring.score import score

if TYPE_CHECKING:
    from grader.gradebook.book import Gradebook

DIGEST_DIGITS = 12
"""How much of a digest stands in the table, behind `sha256:`: spreadsheets make digits alone a number."""
ALWAYS_LISTED = frozenset({MANUAL, AnswerKind.name})
"""Kinds whose items have a row in the table also where a program has decided them."""


@dataclass(frozen=True)
class StoredGrade:
    """One examined submission, with the items that a person may give points for."""

    folder: Path
    evidence: Evidence
    rubric: Rubric
    items: Mapping[str, Item]
    flagged: frozenset[str]
    """Items with a flag: a person looks at it, and may take points."""

    @cached_property
    def points_given(self) -> Mapping[str, PointsGiven]:
        """Points that people gave so far, by item."""
        return read_points(self.folder, self.evidence.submission.digest)

    @property
    def short_digest(self) -> str:
        """The beginning of the submission's digest, as the table has it."""
        kind, colon, digits = self.evidence.submission.digest.rpartition(":")
        return f"{kind}{colon}{digits[:DIGEST_DIGITS]}"

    def is_seen_by(self, cell: str) -> bool:
        """Tell whether the cell of a table names this submission; the digits alone do as well."""
        return cell in {self.short_digest, self.short_digest.rpartition(":")[2]}


def current_points(book: Gradebook | None, grade: StoredGrade) -> Mapping[str, PointsGiven]:
    """Return the points that count now, by item: the gradebook's, or those of the folder beside it."""
    if book is None:
        return grade.points_given
    from grader.gradebook.judgements import judgements_of, latest

    with book.database.reading() as connection:
        judgements = latest(judgements_of(connection, grade.evidence.submission))
    records = {item: each.record for item, each in judgements.items()}
    points = {**grade.points_given, **records}
    return {item: record for item, record in points.items() if not record.withdrawn}


def graded_submissions(
    out: Path, course: Course, plugins: Plugins, rubric: str | None, tell: Callable[[str], None]
) -> list[StoredGrade]:
    """Everything examined below a results folder, by assignment and student.

    Without a `rubric` it is the one that the scores there were given by; `tell` gets a line if it is another.

    Raises:
        UsageError: there is no such rubric, it grades nothing that is there, or the scores there are by
            several rubrics.
        CourseError: the rubric of an assignment is wrong or missing.
    """
    grades = []
    graded = {path.name: path for path in out.iterdir() if path.name in plugins.assignment_folders}
    for _, assignment in sorted(graded.items()):
        if not assignment.is_dir():
            continue
        folders = sorted(assignment.iterdir())
        path, remark = rubric_again(course, assignment.name, rubric, rubrics_in(folders), out)
        rubric_of_assignment = load_rubric(path, kinds=plugins.checks, assignments=plugins.assignment_folders)
        of = rubric_of_assignment.assignment
        if rubric is not None and of in graded and of != assignment.name:
            continue
        require_rubric_of(assignment.name, rubric_of_assignment, path)
        if remark:
            tell(remark)
        for folder in folders:
            evidence = read_evidence(folder / EVIDENCE)
            if evidence is not None:
                grades.append(_stored(folder, evidence, rubric_of_assignment, plugins))
    return grades


def _stored(folder: Path, evidence: Evidence, rubric: Rubric, plugins: Plugins) -> StoredGrade:
    card = score(rubric, evidence, plugins.checks)
    flagged = frozenset(line.item for line in card.lines if line.flags)
    final = frozenset(line.item for line in card.lines if line.standing is Standing.FINAL)
    given = read_points(folder, evidence.submission.digest)
    items = {
        item.id: item
        for item in rubric.items
        if item.check in ALWAYS_LISTED
        or item.id in flagged
        or item.id in given
        or (plugins.checks[item.check].by_hand and item.id not in final)
    }
    return StoredGrade(folder, evidence, rubric, items, flagged)
