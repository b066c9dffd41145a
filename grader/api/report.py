"""Names for a report: the contract, all that a view holds, and functions that make a text safe to show."""

from __future__ import annotations

from grader.contracts.report import Report
from grader.model.drawing import (
    Advice,
    Bar,
    Bars,
    Breakdown,
    Cell,
    CurveLine,
    Curves,
    Drawing,
    Gauge,
    MarkedText,
    Paragraph,
    Pictures,
    ValueTable,
)
from grader.model.evidence import Evidence, WorkerRun
from grader.model.observation import Case, Fault, Observation, Outcome, Quantity
from grader.model.rubric import Item, LatePolicy, Rubric
from grader.model.score import Award, Late, Line, Points, Scorecard, Standing, Total
from grader.model.submission import Submission
from grader.model.view import Audience, AudienceView
from grader.text import block, document, one_line, quoted

__all__ = [
    "Advice",
    "Audience",
    "AudienceView",
    "Award",
    "Bar",
    "Bars",
    "Breakdown",
    "Case",
    "Cell",
    "CurveLine",
    "Curves",
    "Drawing",
    "Evidence",
    "Fault",
    "Gauge",
    "Item",
    "Late",
    "LatePolicy",
    "Line",
    "MarkedText",
    "Observation",
    "Outcome",
    "Paragraph",
    "Pictures",
    "Points",
    "Quantity",
    "Report",
    "Rubric",
    "Scorecard",
    "Standing",
    "Submission",
    "Total",
    "ValueTable",
    "WorkerRun",
    "block",
    "document",
    "one_line",
    "quoted",
]
