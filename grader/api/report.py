"""Names for a report: the contract, all that a view holds, and functions that make a text safe to show."""

from __future__ import annotations

from grader.contracts.report import Report
from grader.model.evidence import Evidence, WorkerRun
from grader.model.observation import Case, Fault, Observation, Outcome, Quantity
from grader.model.rubric import Item, LatePolicy, Rubric
from grader.model.score import Award, Late, Line, Points, Scorecard, Standing, Total
from grader.model.submission import Submission
from grader.model.view import Audience, AudienceView
from grader.text import block, document, one_line, quoted

__all__ = [
    "Audience",
    "AudienceView",
    "Award",
    "Case",
    "Evidence",
    "Fault",
    "Item",
    "Late",
    "LatePolicy",
    "Line",
    "Observation",
    "Outcome",
    "Points",
    "Quantity",
    "Report",
    "Rubric",
    "Scorecard",
    "Standing",
    "Submission",
    "Total",
    "WorkerRun",
    "block",
    "document",
    "one_line",
    "quoted",
]
