"""Names for a platform that grades are posted to: the contract, its values, and requests over HTTP."""

from __future__ import annotations

from grader.contracts.platform import (
    Answer,
    Change,
    Person,
    Platform,
    PlatformGrade,
    PlatformOptions,
    Receipt,
    Target,
)
from grader.errors import NotObservedError, UsageError
from grader.lms.http import Http, LostAnswer, RequestRefused, Response
from grader.lms.marker import markers_in
from grader.model.options import option

__all__ = [
    "Answer",
    "Change",
    "Http",
    "LostAnswer",
    "NotObservedError",
    "Person",
    "Platform",
    "PlatformGrade",
    "PlatformOptions",
    "Receipt",
    "RequestRefused",
    "Response",
    "Target",
    "UsageError",
    "markers_in",
    "option",
]
