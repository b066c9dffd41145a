"""Desired grades on a platform: points, pages of a results folder, points of single items."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli.book import grades_of
from grader.errors import CourseError
from grader.lms.numbers import exact
from grader.lms.posting import DesiredGrade

if TYPE_CHECKING:
    from grader.contracts.platform import Target
    from grader.gradebook.book import Gradebook, RecordedGrade

PAGE = "feedback/report.html"


def desired_grades(
    book: Gradebook, assignment: str, results: Path | None, criteria: Mapping[str, str], where: str
) -> Mapping[str, tuple[int, DesiredGrade]]:
    """Return by student the number of the score, and what to post of it.

    `criteria` are ids of a platform's rubric by item; they are at `where` in the course's file.

    Raises:
        CourseError: the rubric has no such item, or it is not always shown to students.
    """
    grades = grades_of(book, assignment)
    desired = {}
    for recorded in book.grades(assignment=assignment):
        page, no_comment = _page(recorded, results)
        grade = DesiredGrade(
            grade=grades[recorded.student],
            page=page,
            no_comment=no_comment,
            rubric=_criteria(recorded, criteria, where),
        )
        desired[recorded.student] = (recorded.score, grade)
    return desired


def criteria_of(criteria: Mapping[str, str], target: Target, where: str) -> Mapping[str, str]:
    """Return the ids of criteria by item; none where the platform takes no points of single criteria.

    Raises:
        CourseError: its rubric has no such criterion.
    """
    if not target.criteria:
        return {}
    for item, criterion in criteria.items():
        if criterion not in target.criteria:
            there_are = ", ".join(f"{name} ({title})" for name, title in target.criteria.items())
            raise CourseError(
                f"{where}.{item}: no criterion there is called {criterion}; there are {there_are}"
            )
    return criteria


def _page(recorded: RecordedGrade, results: Path | None) -> tuple[Path | None, str]:
    """Return the student's page, or why it cannot be sent: it must be of the recorded grade."""
    if results is None:
        return None, ""
    card = recorded.card
    adjusted = next(total.adjusted for total in card.totals if total.student == recorded.student)
    folder = results / card.assignment / card.student
    page, score_file = folder / PAGE, folder / "score.json"
    try:
        score = json.loads(score_file.read_text(encoding="utf-8"))
        same = (
            score["digests"] == {"rubric": card.rubric_digest, "submission": card.submission_digest}
            and [(item["id"], item["points"]) for item in score["items"]]
            == [(line.item, line.points) for line in card.lines]
            and score["points"]["adjusted"].get(recorded.student) == adjusted
        )
        of_submission = score["digests"]["submission"]
        began = max((run["started_at"] for run in score["environment"]["runs"]), default="")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        same, of_submission, began = False, card.submission_digest, ""
    if same and page.is_file():
        return page, ""
    why, advice = "is not of this grade", "grader run writes it anew"
    if not page.is_file():
        why = "is not there"
    elif of_submission != card.submission_digest and "" < began < recorded.began:
        # the gradebook refuses its run, however often it is repeated
        why = "is of an older submission than the grade"
        advice = f"run the newer one again ({recorded.submission.archive})"
    return None, f"no comment yet: {page} {why}; {advice}"


def _criteria(recorded: RecordedGrade, criteria: Mapping[str, str], where: str) -> Mapping[str, Decimal]:
    lines = {line.item: line for line in recorded.card.lines}
    for item in criteria:
        if item not in lines:
            there_are = ", ".join(lines)
            raise CourseError(f"{where}.{item}: the rubric has no such item; there are {there_are}")
        if lines[item].visible != "always":
            raise CourseError(f"{where}.{item}: students do not always see this item; take it out")
    return {
        criterion: exact(lines[item].points)
        for item, criterion in criteria.items()
        if lines[item].fraction is not None
    }
