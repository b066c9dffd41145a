"""The tables of learning platforms that can be filled in; a further one is one more entry."""

from __future__ import annotations

from grader.lms.canvas_csv import CanvasCsv
from grader.lms.contract import Worksheet
from grader.lms.moodle import MoodleWorksheet

WORKSHEETS: tuple[Worksheet, ...] = (CanvasCsv(), MoodleWorksheet())
