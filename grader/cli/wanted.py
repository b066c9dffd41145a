"""What students shall have on a platform: marks, pages of a results folder, points of single items."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli.book import grades_of
from grader.errors import CourseError
from grader.lms.grades import exact
from grader.lms.posting import Wanted

if TYPE_CHECKING:
    from grader.gradebook.book import Gradebook, RecordedGrade
    from grader.lms.platform import Target

PAGE = "feedback/report.html"


def wanted_of(
    book: Gradebook, assignment: str, results: Path | None, criteria: Mapping[str, str], where: str
) -> Mapping[str, tuple[int, Wanted]]:
    """By student the number of the score, and what to post of it.

    `criteria` are ids of a platform's rubric by item, as the course's file says at `where`.

    Raises:
        CourseError: an item of them is not there, or is not always shown to students.
    """
    marks = grades_of(book, assignment)
    found = {}
    for entry in book.grades(assignment=assignment):
        page, silent = _page(entry, results)
        wanted = Wanted(
            mark=marks[entry.student],
            page=page,
            silent=silent,
            rubric=_criteria(entry, criteria, where),
        )
        found[entry.student] = (entry.score, wanted)
    return found


def known_criteria(named: Mapping[str, str], target: Target, where: str) -> Mapping[str, str]:
    """Those that the platform's rubric has; none where it takes no points of single criteria.

    Raises:
        CourseError: its rubric has no such criterion.
    """
    if not target.criteria:
        return {}
    for item, criterion in named.items():
        if criterion not in target.criteria:
            there_are = ", ".join(f"{one} ({title})" for one, title in target.criteria.items())
            raise CourseError(
                f"{where}.{item}: no criterion there is called {criterion}; there are {there_are}"
            )
    return named


def _page(entry: RecordedGrade, results: Path | None) -> tuple[Path | None, str]:
    """The student's page, or why it cannot be sent: a page of another mark would tell lies."""
    if results is None:
        return None, ""
    folder = results / entry.card.assignment / entry.card.student
    page, said = folder / PAGE, folder / "score.json"
    try:
        told = json.loads(said.read_text(encoding="utf-8"))
        same = told["digests"]["submission"] == entry.card.submission_digest and told["points"][
            "adjusted"
        ].get(entry.student) == next(
            one.adjusted for one in entry.card.totals if one.student == entry.student
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        same = False
    if same and page.is_file():
        return page, ""
    return None, f"no comment yet: {page} is not of this mark"


def _criteria(entry: RecordedGrade, criteria: Mapping[str, str], where: str) -> Mapping[str, Decimal]:
    lines = {line.item: line for line in entry.card.lines}
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
