"""`score.json`: the whole mark for programs and course staff, hidden items included.

Top level:
    schema: number of this format; a field changed its meaning only if this did.
    grader: the version that wrote it.
    student, assignment, rubric: names.
    rubric_digest, submission_digest: `sha256:…` of the rubric's file and of the accepted files.
    points, possible, pending: raw total, what could be earned, and what is neither earned nor lost yet.
    late_points: the total after the late policy.
    standing: `final`, `provisional` or `held`.
    lines: one object per item, in the order of the rubric.
    submission: `archive`, `files`, `dropped`, `submitted_at` (ISO 8601 or null).
    exams: one object per run of the examiner: `id`, `started_at` (ISO 8601, UTC), `isolation`, `environment`.

Each of `lines`:
    item, title: the item's id and what it is called.
    points, possible: earned so far, and what it is worth.
    reason, hint: what the student reads.
    standing: as above, of this line alone.
    outcome: how observing ended, or `missing`.
    visible: `always`, `after_due`, `after_published` or `never`.
    flags: what a person may want to look at; costs nothing.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, ClassVar

from grader import __version__

if TYPE_CHECKING:
    from grader.model.evidence import Evidence
    from grader.model.rubric import Rubric
    from grader.model.score import Scorecard

SCHEMA = 1


class ScoreJson:
    """The mark as JSON."""

    name: ClassVar[str] = "score"
    filename: ClassVar[str] = "score.json"

    def render(self, rubric: Rubric, evidence: Evidence, scorecard: Scorecard) -> str:
        """The file's text; characters that UTF-8 cannot hold become question marks."""
        import json

        text = json.dumps(document(evidence, scorecard), indent=2, ensure_ascii=False, allow_nan=False)
        return text.encode("utf-8", "replace").decode("utf-8") + "\n"


def document(evidence: Evidence, scorecard: Scorecard) -> dict[str, Any]:
    """What `score.json` holds, as plain JSON values."""
    submission = evidence.submission
    return {
        "schema": SCHEMA,
        "grader": __version__,
        **asdict(scorecard),
        "submission": {
            "archive": submission.archive,
            "files": list(submission.files),
            "dropped": list(submission.dropped),
            "submitted_at": submission.submitted_at and submission.submitted_at.isoformat(),
        },
        "exams": [
            {
                "id": exam.id,
                "started_at": exam.started_at,
                "isolation": exam.isolation,
                "environment": dict(exam.environment),
            }
            for exam in evidence.exams
        ],
    }
