"""The built-in report formats, through the door that guests use."""

from __future__ import annotations

from grader.contracts.report import Report
from grader.markers import hookimpl


@hookimpl
def grader_reports() -> list[type[Report]]:
    """Return the report classes, one per file of this folder."""
    from grader.reports.html import Html
    from grader.reports.junit import JUnit
    from grader.reports.score_json import ScoreJson

    return [ScoreJson, JUnit, Html]
