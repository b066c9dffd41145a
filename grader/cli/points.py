"""Graded submissions of a results folder, with the items that a person may give points for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from grader.checks.answer import AnswerKind
from grader.config.course import Course
from grader.config.evidence_file import EVIDENCE, read_evidence
from grader.config.points_file import FILE, PointsGiven, missing_records, read_records, that_count
from grader.config.rubric import load_rubric
from grader.grading.rubric_of_class import require_rubric_of, rubric_again, rubrics_in
from grader.model.evidence import Evidence
from grader.model.rubric import MANUAL, Item, Rubric
from grader.model.score import Standing
from grader.model.submission import Submission
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

    recorded: Sequence[PointsGiven] = ()
    """The points that the gradebook has for these files, the oldest first."""

    @cached_property
    def stored_points(self) -> Sequence[PointsGiven]:
        """All points for these files that the results folder has, the oldest first."""
        digest = self.evidence.submission.digest
        return [record for record in read_records(self.folder / FILE) if record.submission == digest]

    @cached_property
    def all_points(self) -> Sequence[PointsGiven]:
        """All points for these files in results folder and gradebook; of an item, the last one counts."""
        return [*self.stored_points, *missing_records(self.stored_points, self.recorded)]

    @cached_property
    def points_given(self) -> Mapping[str, PointsGiven]:
        """The points that count, by item."""
        return that_count(self.all_points)

    @property
    def short_digest(self) -> str:
        """The beginning of the submission's digest, as the table has it."""
        kind, colon, digits = self.evidence.submission.digest.rpartition(":")
        return f"{kind}{colon}{digits[:DIGEST_DIGITS]}"

    def is_seen_by(self, cell: str) -> bool:
        """Tell whether the cell of a table names this submission; the digits alone do as well."""
        return cell in {self.short_digest, self.short_digest.rpartition(":")[2]}


def recorded_points(book: Gradebook | None, submission: Submission) -> Sequence[PointsGiven]:
    """Return the points that a gradebook has for the files of a submission, the oldest first."""
    if book is None:
        return ()
    from grader.gradebook.earlier import points_given

    return points_given(book, submission)


def graded_submissions(
    out: Path,
    course: Course,
    plugins: Plugins,
    rubric: str | None,
    tell: Callable[[str], None],
    book: Gradebook | None = None,
) -> list[StoredGrade]:
    """Everything examined below a results folder, by assignment and student.

    Without a `rubric` it is the one that the scores there were given by; `tell` gets a line if it is another.
    Points that the gradebook `book` has for the same files count beside those of the folder.

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
                recorded = recorded_points(book, evidence.submission)
                grades.append(_stored(folder, evidence, rubric_of_assignment, plugins, recorded))
    return grades


def _stored(
    folder: Path, evidence: Evidence, rubric: Rubric, plugins: Plugins, recorded: Sequence[PointsGiven]
) -> StoredGrade:
    card = score(rubric, evidence, plugins.checks)
    flagged = frozenset(line.item for line in card.lines if line.flags)
    final = frozenset(line.item for line in card.lines if line.standing is Standing.FINAL)
    grade = StoredGrade(folder, evidence, rubric, {}, flagged, recorded)
    items = {
        item.id: item
        for item in rubric.items
        if item.check in ALWAYS_LISTED
        or item.id in flagged
        or item.id in grade.points_given
        or (plugins.checks[item.check].by_hand and item.id not in final)
    }
    return replace(grade, items=items)
