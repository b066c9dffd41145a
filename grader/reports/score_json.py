"""`score.json`: the grade for programs.

Top level:
    schema: number of this format; a field changed its meaning only if this did.
    assignment: its name.
    rubric: the name of the rubric that the points are by.
    students: the names of everyone whose grade this is.
    standing: `final`, `provisional` or `held`.
    whole: whether every item is here; a student's file is without hidden ones, and so are its sums.
    points: the sums, an object.
    missing: a sentence for each file that was not handed in: what to do, and what it costs.
    late: one object per student, in the order of `students`; empty if there is no deadline.
    items: one object per item, in the order of the rubric.
    submission: `archive`, `files`, `dropped`, `submitted_at` (ISO 8601 or null), and what the archive's name
        told: `marked_late` (by the LMS), `lms_id` and `attempt` (null if it told none); `chosen`, why it
        counts where there were several uploads.
    environment: `grader`, the version that wrote this, and `runs`, one object per run of the worker:
        `id`, `started_at` (ISO 8601, UTC), `isolation`, `course` (`sha256:…` of the assignment's files that
        it worked with), `machine`.
    digests: `rubric` and `submission`, `sha256:…` of the rubric's file and of the accepted files.

Of `points`:
    earned, pending, possible: of the items that make up the total; `pending` is neither earned nor lost yet.
    bonus, penalty: what came on top, and what was taken away (0 or less).
    raw: all of it within the bounds of the rubric, before the late rule.
    adjusted: by student, the raw points after the late rule.
    open: by student, the most that pending points can add to `adjusted`.
    final: by student, `adjusted` once nothing is open or held any more, and null until then.

Each of `late`:
    student: whom it is about.
    submitted_at, due: ISO 8601; `submitted_at` is null if nobody knows, `due` has the extension in it.
    extension_s: the extension, in seconds; 0 for none.
    late_s, days: seconds after `due`, and the started days that count.
    rule, lost: the rule in words, and the points that it took.
    in_future: whether the time was over an hour ahead when it was given; nothing is taken, and it is held.

Each of `items`:
    id, title: the item's id and what it is called.
    points, possible: what it adds to the total so far, and the most that it can (0 for a penalty).
    counts: `earns`, `bonus` or `penalty`.
    status: `earned`, `partly earned`, `not earned`, `skipped`, `pending` or `held`.
    outcome: how observing ended, or `missing`.
    reason, hint: what the student reads.
    look_at: what to look at, by what went wrong; empty if nothing did, or nothing is known about it.
    simulated: whether a simulator stood in for a GPU.
    visible: `always`, `after_due`, `after_published` or `never`.
    flags: what a person may want to look at; costs nothing. Only for staff.
    seconds: how long observing took, or null.
    measured: by name, objects of `value`, `unit` and `taken_by`; `subject` there is the program's own claim.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar

from grader import __version__
from grader.contracts.report import Report
from grader.reports.advice import advice_on
from grader.reports.words import missing_files, state_of
from grader.text import document as safe

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from grader.model.drawing import Drawing
    from grader.model.evidence import Evidence
    from grader.model.observation import Observation, Quantity
    from grader.model.score import Late, Line, Scorecard
    from grader.model.view import AudienceView

SCHEMA = 2


class ScoreJson(Report):
    """The grade as JSON."""

    name: ClassVar[str] = "score"
    filename: ClassVar[str] = "score.json"

    def render(self, view: AudienceView) -> str:
        """Render the file; unsafe characters are escaped."""
        import json

        import msgspec

        # json indents in Python, eight times as slowly
        compact = json.dumps(safe(document(view)), ensure_ascii=False, allow_nan=False)
        return msgspec.json.format(compact, indent=2) + "\n"


def document(view: AudienceView) -> dict[str, Any]:
    """Return the content of `score.json` as plain JSON values."""
    card, submission = view.scorecard, view.evidence.submission
    return {
        "schema": SCHEMA,
        "assignment": card.assignment,
        "rubric": card.rubric,
        "students": [total.student for total in card.totals],
        "standing": card.standing.value,
        "whole": view.whole,
        "points": _points(card),
        "missing": list(missing_files(card)),
        "late": [_late(total.student, total.late) for total in card.totals if total.late],
        "items": [
            _item(line, view.evidence.observations.get(line.item), view.drawings.get(line.item, ()))
            for line in card.lines
        ],
        "submission": {
            "archive": submission.archive,
            "files": list(submission.files),
            "dropped": list(submission.dropped),
            "submitted_at": _moment(submission.submitted_at),
            "marked_late": submission.marked_late,
            "lms_id": submission.lms_id,
            "attempt": submission.attempt,
            "chosen": submission.chosen,
        },
        "environment": _environment(view.evidence),
        "digests": {"rubric": card.rubric_digest, "submission": card.submission_digest},
    }


def _points(card: Scorecard) -> dict[str, Any]:
    points = card.points
    return {
        "earned": points.earned,
        "pending": points.pending,
        "possible": points.possible,
        "bonus": points.bonus,
        "penalty": points.penalty,
        "raw": points.raw,
        "adjusted": {total.student: total.adjusted for total in card.totals},
        "open": {total.student: card.still_open(total) for total in card.totals},
        "final": {total.student: total.final for total in card.totals},
    }


def _late(student: str, late: Late) -> dict[str, Any]:
    return {
        "student": student,
        "submitted_at": _moment(late.submitted_at),
        "due": _moment(late.due),
        "extension_s": late.extension_s,
        "late_s": late.late_s,
        "days": late.days,
        "rule": late.rule,
        "lost": late.lost,
        "in_future": late.in_future,
    }


def _item(line: Line, observation: Observation | None, drawings: Iterable[Drawing]) -> dict[str, Any]:
    simulated = bool(observation and observation.simulated)
    return {
        "id": line.item,
        "title": line.title,
        "points": line.points,
        "possible": line.possible,
        "counts": line.counts,
        "status": state_of(line).value,
        "outcome": line.outcome,
        "reason": line.reason,
        "hint": line.hint,
        "look_at": advice_on(line, drawings),
        "simulated": simulated,
        "visible": line.visible,
        "flags": list(line.flags),
        "seconds": observation and observation.wall_s,
        "measured": {name: _quantity(q) for name, q in observation.quantities.items()} if observation else {},
    }


def _quantity(quantity: Quantity) -> dict[str, Any]:
    value = quantity.value
    spelled = repr(value) if isinstance(value, float) and not isfinite(value) else value
    return {"value": spelled, "unit": quantity.unit, "taken_by": quantity.taken_by}


def _environment(evidence: Evidence) -> dict[str, Any]:
    return {
        "grader": __version__,
        "runs": [
            {
                "id": run.id,
                "started_at": run.started_at,
                "isolation": run.isolation,
                "course": run.course,
                "machine": dict(run.environment),
            }
            for run in evidence.runs
        ],
    }


def _moment(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
