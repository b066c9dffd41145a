"""The built-in exporters and platforms, which use the same hooks as plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.markers import hookimpl

if TYPE_CHECKING:
    from grader.contracts.exporter import ResultsFile, Worksheet
    from grader.contracts.platform import Platform


@hookimpl
def grader_lms() -> list[type[Worksheet] | type[ResultsFile]]:
    """Return an exporter for each file of a platform."""
    from grader.lms.canvas_csv import CanvasCsv
    from grader.lms.gradescope import Gradescope
    from grader.lms.moodle import MoodleWorksheet

    return [CanvasCsv, MoodleWorksheet, Gradescope]


@hookimpl
def grader_platforms() -> list[type[Platform]]:
    """Return the platforms to post to."""
    from grader.lms.canvas.poster import CanvasPlatform
    from grader.lms.moodle_service.service import MoodlePlatform

    return [CanvasPlatform, MoodlePlatform]
