"""JUnit XML of a class: a test suite per submission, each as the file of one grade has it."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from grader.reports.junit import JUnit
from grader.text import one_line

if TYPE_CHECKING:
    from grader.model.view import AudienceView


def class_junit(assignment: str, views: Iterable[AudienceView]) -> str:
    """Render the file; each suite is named after the student or team.

    Views are consumed one by one, so that those of a whole class are never in memory together.
    """
    junit: Any = import_module("junitparser")  # untyped, as half of its methods have no types
    root = junit.JUnitXml(one_line(assignment))
    report = JUnit()
    for view in views:
        for suite in junit.JUnitXml.fromstring(report.render(view).encode()):
            suite.name = one_line(view.scorecard.student)
            for case in suite:
                case.classname = f"{suite.name}.{case.classname}"
            root.add_testsuite(suite)
    root.update_statistics()
    xml: bytes = root.tostring()
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{xml.decode("utf-8")}\n'
