"""`junit.xml`: a test case per item, for whatever shows test results."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from grader import __version__
from grader.contracts.report import Report
from grader.reports.words import LineState, case_lines, figure, state_of
from grader.text import block, one_line

if TYPE_CHECKING:
    from grader.model.evidence import Evidence
    from grader.model.observation import Observation
    from grader.model.score import Line, Scorecard
    from grader.model.view import AudienceView

ELEMENTS = {
    LineState.PARTIAL: "Failure",
    LineState.LOST: "Failure",
    LineState.SKIPPED: "Skipped",
    LineState.OPEN: "Skipped",
    LineState.HELD: "Skipped",
}
"""The class of junitparser for what became of an item; full points have none, our own faults are errors."""

LONGEST = 20_000
"""Characters of one text: common readers cut there, and would cut the tail."""
MOST_LINES = 400
"""Lines of one text."""

_SCORED = (LineState.PARTIAL, LineState.LOST)


class JUnit(Report):
    """The grade as JUnit XML; `score.json` stays the authority on points, JUnit has no field for them.

    An item that lost a part is a failure: where only green counts, a part is not green. What is pending or
    held is skipped, and what the course, the machine or we did wrong is an error: neither is the student's
    fault.
    """

    name: ClassVar[str] = "junit"
    filename: ClassVar[str] = "junit.xml"

    def render(self, view: AudienceView) -> str:
        """Render the file; characters that XML forbids are escaped."""
        evidence, scorecard = view.evidence, view.scorecard
        junit = _junitparser()
        suite = junit.TestSuite(one_line(scorecard.assignment))
        if evidence.runs:
            suite.timestamp = one_line(evidence.runs[-1].started_at)
        for key, value in _properties(evidence, scorecard).items():
            suite.add_property(one_line(key), one_line(value))
        suite.add_testcases(
            [
                _case(junit, scorecard.assignment, line, evidence.observations.get(line.item))
                for line in scorecard.lines
            ]
        )
        root = junit.JUnitXml(one_line(scorecard.assignment))
        root.add_testsuite(suite)
        root.update_statistics()
        xml: bytes = root.tostring()
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{xml.decode("utf-8")}\n'


@cache
def _junitparser() -> Any:
    """Return the elements of junitparser; untyped, as half of its methods have no types.

    The package itself asks `importlib.metadata` for its version: 14 ms of a run that takes 300.
    """
    from importlib.machinery import PathFinder
    from importlib.util import find_spec, module_from_spec

    package = find_spec("junitparser")
    spec = package and PathFinder.find_spec("junitparser.junitparser", package.submodule_search_locations)
    if not spec or not spec.loader:  # another version, arranged in another way
        return import_module("junitparser")
    elements = module_from_spec(spec)
    spec.loader.exec_module(elements)
    return elements


def _properties(evidence: Evidence, scorecard: Scorecard) -> dict[str, str]:
    points = scorecard.points
    still_open = {f"open.{total.student}": str(scorecard.still_open(total)) for total in scorecard.totals}
    adjusted = {f"adjusted.{total.student}": str(total.adjusted) for total in scorecard.totals}
    return {
        "students": ", ".join(total.student for total in scorecard.totals),
        "points": str(points.raw),
        "max_points": str(points.possible),
        "pending": str(points.pending),
        "bonus": str(points.bonus),
        "penalty": str(points.penalty),
        **adjusted,
        **still_open,
        "standing": scorecard.standing.value,
        "submission_digest": scorecard.submission_digest,
        "rubric_digest": scorecard.rubric_digest,
        "isolation": ", ".join(dict.fromkeys(run.isolation for run in evidence.runs)),
        "grader": __version__,
    }


def _case(junit: Any, assignment: str, line: Line, observation: Observation | None) -> Any:
    section, _, _ = line.item.rpartition(".")
    case = junit.TestCase(
        name=one_line(line.item),
        classname=one_line(f"{assignment}.{section}" if section else assignment),
        time=observation.wall_s if observation else 0.0,
    )
    properties = junit.Properties()
    for key, value in {
        "title": line.title,
        "points": str(line.points),
        "max_points": str(line.possible),
        "counts": line.counts,
        "standing": line.standing.value,
        "visible": line.visible,
    }.items():
        properties.add_property(junit.Property(key, one_line(value)))
    case.append(properties)
    what = state_of(line)
    fault = observation.fault if observation and what is LineState.OPEN else None
    if what in ELEMENTS:
        element = getattr(junit, "Error" if fault else ELEMENTS[what])(
            one_line(_message(line, what), LONGEST), fault.value if fault else _type(line, what)
        )
        element.text = block(_details(line, observation), LONGEST, MOST_LINES)
        case.append(element)
    if observation and observation.output:
        case.system_out = block(observation.output, LONGEST, MOST_LINES)
    return case


def _message(line: Line, what: LineState) -> str:
    if what not in _SCORED:
        return line.reason
    return f"{figure(line, '').replace(' ', '')} points: {line.reason}"


def _type(line: Line, what: LineState) -> str:
    if what in _SCORED:
        return line.outcome
    return "needs" if what is LineState.SKIPPED else line.standing.value


def _details(line: Line, observation: Observation | None) -> str:
    parts = [one_line(f"hint: {line.hint}")] if line.hint else []
    for case in observation.cases if observation else ():
        if not case.note:
            continue
        parts += case_lines(case)
        if len(parts) > MOST_LINES:  # more than is shown
            break
    return "\n".join(parts)
