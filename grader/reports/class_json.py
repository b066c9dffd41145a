"""The class report as plain data for programs: totals of students, and counts of items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grader.reports.class_counts import items_of

if TYPE_CHECKING:
    from grader.reports.class_view import ClassView


def class_document(view: ClassView) -> dict[str, Any]:
    """Return a class as JSON values.

    Of `students`: student, submitted_as (a team), total so far, open (the most that open points can add to
    it, after the late rule), final (null while points are open), possible, standing, and untimed if the late
    rule lacks a time. Of `items`: id, title, possible, decided, passed (a share of the decided that were not
    skipped, or null), and `states`, the submissions by what became of them. `absent` are students without a
    grade, and `not_on_roster` those with one who are not on the course's roster, if it has one.
    `same_files` are groups of students or teams that handed in the same graded files, byte for byte.
    """
    return {
        "assignment": view.assignment,
        "scored_at": view.scored_at,
        "submissions": len(view.submissions),
        "students": [
            {
                "student": total.student,
                "submitted_as": submission.card.student,
                "total": total.adjusted,
                "open": submission.card.still_open(total),
                "final": total.final,
                "possible": submission.card.points.possible,
                "standing": submission.card.standing.value,
                "untimed": total.untimed,
            }
            for submission in view.submissions
            for total in submission.totals
        ],
        "absent": list(view.absent),
        "not_on_roster": list(view.strangers),
        "same_files": [list(alike) for alike in view.same_files],
        "items": [
            {
                "id": tally.item,
                "title": tally.title,
                "possible": tally.possible,
                "decided": tally.decided,
                "passed": tally.passed,
                "states": {state.value: count for state, count in tally.counts.items()},
            }
            for tally in items_of(view)
        ],
    }
