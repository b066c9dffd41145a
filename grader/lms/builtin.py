"""The built-in exporters, through the door that guests use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.markers import hookimpl

if TYPE_CHECKING:
    from grader.lms.contract import Results, Worksheet


@hookimpl
def grader_lms() -> list[type[Worksheet] | type[Results]]:
    """One exporter per file of a platform."""
    from grader.lms.canvas_csv import CanvasCsv
    from grader.lms.gradescope import Gradescope
    from grader.lms.moodle import MoodleWorksheet

    return [CanvasCsv, MoodleWorksheet, Gradescope]
