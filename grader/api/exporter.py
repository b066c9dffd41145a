"""Names for an exporter: the contracts of both kinds, their values, and tables of platforms."""

from __future__ import annotations

from grader.contracts.exporter import (
    FilledSheet,
    Grade,
    GradeRules,
    ResultsFile,
    RowOutcome,
    RowResult,
    Rules,
    Worksheet,
)
from grader.errors import UsageError
from grader.lms.fill import GradeColumn, Layout, fill, read_sheet
from grader.lms.sheet import Sheet
from grader.model.roster import Roster, Student
from grader.model.score import Standing
from grader.model.view import AudienceView

__all__ = [
    "AudienceView",
    "FilledSheet",
    "Grade",
    "GradeColumn",
    "GradeRules",
    "Layout",
    "ResultsFile",
    "Roster",
    "RowOutcome",
    "RowResult",
    "Rules",
    "Sheet",
    "Standing",
    "Student",
    "UsageError",
    "Worksheet",
    "fill",
    "read_sheet",
]
