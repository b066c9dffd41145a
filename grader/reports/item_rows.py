"""One item of `report.html`: its row in the table, and the section with what was observed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from grader.model.drawing import (
    Bars,
    Breakdown,
    Curves,
    Drawing,
    Gauge,
    MarkedText,
    Paragraph,
    Pictures,
    ValueTable,
    listed,
)
from grader.model.observation import Outcome
from grader.reports.advice import advice_on
from grader.reports.pages import SIGNS
from grader.reports.words import LineState, all_right, dated, figure, state_of
from grader.scoring.judge import CHANGED_INPUTS

if TYPE_CHECKING:
    from grader.model.observation import Case, Observation, Quantity
    from grader.model.rubric import Item
    from grader.model.score import Line
    from grader.model.view import AudienceView

MOST_CASES = 20
"""Cases that are shown of one item, before it only says how many more there are."""
ENDINGS = {
    Outcome.CRASHED: "crashed",
    Outcome.TIMED_OUT: "ran out of time",
    Outcome.OUT_OF_MEMORY: "used too much memory",
    Outcome.NOT_BUILT: "does not build",
    Outcome.REFUSED: "gave something that cannot be looked at",
    Outcome.SKIPPED: "was skipped",
    Outcome.NOT_OBSERVED: "was not observed",
}
VISIBLE = {
    "after_due": "students see it after the deadline",
    "after_published": "students see it once grades are published",
    "never": "students never see it",
}
CHARTS = (Gauge, Bars, Breakdown, Curves)
DETAILS = (ValueTable, Paragraph, MarkedText, Pictures)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRow:
    """Values of one item for the page."""

    position: int
    line: Line
    item: Item
    observation: Observation | None
    state: LineState
    points: str
    remarks: tuple[str, ...]
    advice: str
    charts: tuple[Drawing, ...] = ()
    details: tuple[Drawing, ...] = ()
    """Drawings below the charts: tables and words."""
    quantities: Mapping[str, Quantity] = field(default_factory=dict)
    """Those that no drawing shows."""
    cases: tuple[Case, ...] = ()
    """Cases that are shown in full."""
    alike: tuple[Case, ...] = ()
    """Cases that failed as one before them did; in a line each."""
    agreeing: tuple[Case, ...] = ()
    """Cases that are shown in a line each."""
    weightless: tuple[Case, ...] = ()
    """Cases that failed in an item that earned everything; in a line each."""
    cases_are_wrong: bool = False

    @property
    def look(self) -> str:
        """The CSS class of the result."""
        return self.state.name.lower()

    @property
    def simulated(self) -> bool:
        """Whether it was seen in a simulator alone."""
        return bool(self.observation and self.observation.simulated)

    @property
    def section(self) -> bool:
        """Whether there is more to show than the line."""
        seen = self.observation
        return seen is not None and bool(
            seen.cases or seen.output or seen.quantities or self.charts or self.details or self.advice
        )

    @property
    def folded(self) -> bool:
        """Whether its section is closed at first: nothing in it went wrong, and it has no chart."""
        return all_right(self.line) and not self.charts

    @property
    def tells_reason(self) -> bool:
        """Whether the section repeats the reason: no case shows what is wrong."""
        return self.state is not LineState.FULL and not self.cases_are_wrong


def item_row(position: int, line: Line, item: Item, view: AudienceView) -> ItemRow:
    """Collect the values of one item."""
    observation = view.evidence.observations.get(line.item)
    drawings = view.drawings.get(line.item, ())
    state = state_of(line)
    simulated = bool(observation and observation.simulated)
    row = ItemRow(
        position=position,
        line=line,
        item=item,
        observation=observation,
        state=state,
        points=figure(line, SIGNS[LineState.OPEN]),
        remarks=tuple(_remarks(line, view, simulated=simulated)),
        advice=advice_on(line, drawings),
    )
    if observation is None:
        return row
    full = all_right(line)
    wrong = () if full else tuple(case for case in observation.cases if went_wrong(case))
    weightless = tuple(case for case in observation.cases if full and failed(case))
    right = tuple(case for case in observation.cases if not (failed(case) if full else went_wrong(case)))
    # Where no case stands out, what is missing shows only in all of them together.
    shown, agreeing = (wrong, right) if full or wrong else (right, ())
    shown, alike = _apart(shown)
    in_drawings = listed(drawings)
    return replace(
        row,
        charts=tuple(drawing for drawing in drawings if isinstance(drawing, CHARTS)),
        details=tuple(dated(drawing, view.time_zone) for drawing in drawings if isinstance(drawing, DETAILS)),
        quantities={name: q for name, q in observation.quantities.items() if name not in in_drawings},
        cases=shown,
        alike=alike,
        agreeing=agreeing,
        weightless=weightless,
        cases_are_wrong=bool(wrong),
    )


def _apart(cases: tuple[Case, ...]) -> tuple[tuple[Case, ...], tuple[Case, ...]]:
    """Separate the cases that ended as an earlier one did: in the same exception, or not called either."""
    shown: list[Case] = []
    alike: list[Case] = []
    ends: set[tuple[Outcome, str]] = set()
    for case in cases:
        again = case.outcome is not Outcome.OBSERVED and (case.outcome, case.note) in ends
        (alike if again else shown).append(case)
        ends.add((case.outcome, case.note))
    return tuple(shown), tuple(alike)


def went_wrong(case: Case) -> bool:
    """Tell whether a case is shown as wrong."""
    return failed(case) or bool(case.note)


def failed(case: Case) -> bool:
    """Tell whether a case did not return, or agrees with nothing; its item may have earned everything."""
    agrees = case.agrees.values()
    return case.outcome is not Outcome.OBSERVED or (bool(agrees) and not any(agrees))


def _remarks(line: Line, view: AudienceView, *, simulated: bool) -> Iterator[str]:
    if simulated:
        yield "simulated"
    yield from (f"flag: {flag}" for flag in line.flags)
    seen = view.evidence.observations.get(line.item)
    if view.audience == "student" and seen and any(case.changed_inputs for case in seen.cases):
        yield CHANGED_INPUTS  # a flag for staff
    if view.audience == "staff" and line.visible in VISIBLE:
        yield VISIBLE[line.visible]
