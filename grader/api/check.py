"""Names for a check kind: the contract, the context of `observe`, evidence and awards.

Nothing here imports numpy: the host imports the module of a kind, too.
"""

from __future__ import annotations

from grader.checks.by_hand import award_given
from grader.checks.calls import cases_of, failed_observation, function_name, observe_calls
from grader.checks.interval import Interval, median, median_interval
from grader.checks.requirements import Requirement, award_requirements
from grader.config.codec import from_plain, to_plain
from grader.contracts.build import Built, Diagnostic
from grader.contracts.call import Burst, Call, InputCase, OpaqueValue, Run
from grader.contracts.check import CheckKind, DeferredKind
from grader.contracts.context import CheckContext, Proof, Quiet, Subject
from grader.contracts.ranks import LaunchedRanks, Place, Rank, RanksOrder
from grader.errors import CourseError, NotObservedError
from grader.harness.tolerance import Precision, Tolerance, Tolerances
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
from grader.model.observation import Case, Fault, Observation, Outcome, Quantity
from grader.model.options import (
    FunctionName,
    InputsName,
    ModuleName,
    OracleName,
    ProgramFile,
    SubmittedFile,
    UsedItem,
    option,
)
from grader.model.score import Award
from grader.model.trace import DeviceWork, Launch, Trace, Transfer

__all__ = [
    "Advice",
    "Award",
    "Bar",
    "Bars",
    "Breakdown",
    "Built",
    "Burst",
    "Call",
    "Case",
    "Cell",
    "CheckContext",
    "CheckKind",
    "CourseError",
    "CurveLine",
    "Curves",
    "DeferredKind",
    "DeviceWork",
    "Diagnostic",
    "Drawing",
    "Fault",
    "FunctionName",
    "Gauge",
    "InputCase",
    "InputsName",
    "Interval",
    "Launch",
    "LaunchedRanks",
    "MarkedText",
    "ModuleName",
    "NotObservedError",
    "Observation",
    "OpaqueValue",
    "OracleName",
    "Outcome",
    "Paragraph",
    "Pictures",
    "Place",
    "Precision",
    "ProgramFile",
    "Proof",
    "Quantity",
    "Quiet",
    "Rank",
    "RanksOrder",
    "Requirement",
    "Run",
    "Subject",
    "SubmittedFile",
    "Tolerance",
    "Tolerances",
    "Trace",
    "Transfer",
    "UsedItem",
    "ValueTable",
    "award_given",
    "award_requirements",
    "cases_of",
    "failed_observation",
    "from_plain",
    "function_name",
    "median",
    "median_interval",
    "observe_calls",
    "option",
    "to_plain",
]
