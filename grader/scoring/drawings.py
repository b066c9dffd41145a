"""Drawings of observations: what their kinds show, and advice on how the programs ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from grader.errors import CourseError
from grader.model.drawing import Drawing, MarkedText, Paragraph
from grader.scoring.advice import of_differences, of_ends

if TYPE_CHECKING:
    from grader.contracts.check import CheckKind
    from grader.model.observation import Observation
    from grader.model.rubric import Item

NOT_DRAWN = "Not drawn"
"""The title of what stands in the place of such a drawing."""


def drawings_of(
    items: Iterable[Item], observations: Mapping[str, Observation], kinds: Mapping[str, CheckKind]
) -> dict[str, tuple[Drawing, ...]]:
    """Return the drawings of each item whose kind is among `kinds`, by item id."""
    return {
        item.id: (
            *of_ends(observation),
            *shown(kind, item, observation, observations),
            *of_differences(observation),
            *_traceback(observation),
        )
        for item in items
        if (observation := observations.get(item.id)) and (kind := kinds.get(item.check))
    }


def _traceback(observation: Observation) -> Iterator[Drawing]:
    """Yield the first traceback of a program, for staff: it may have frames of the course's driver."""
    by_case = observation.facts.get("tracebacks")
    trace = next(iter(by_case.values()), "") if isinstance(by_case, Mapping) else ""
    trace = trace or observation.facts.get("traceback")
    if isinstance(trace, str) and trace:
        lines = [line for line in trace.splitlines() if line.strip(" ^~")]
        yield MarkedText(title="Traceback", text="\n".join(lines), for_staff=True)


def related_of(item: Item, observations: Mapping[str, Observation]) -> dict[str, Observation]:
    """Return the observations of the items that `uses` names, as far as there are any."""
    return {name: observations[name] for name in item.uses if name in observations}


def shown(
    kind: CheckKind, item: Item, observation: Observation, observations: Mapping[str, Observation]
) -> tuple[Drawing, ...]:
    """Call what draws; a mistake in it costs the drawing, and never the report."""
    try:
        beside = kind.show_beside(item.options, observation, related_of(item, observations))
        return (*kind.show(item.options, observation), *beside)
    except CourseError as error:
        return (Paragraph(title=NOT_DRAWN, text=str(error), for_staff=True),)
    except Exception as error:
        text = f"{item.check} cannot draw this observation: {type(error).__name__}: {error}"
        return (Paragraph(text=text, for_staff=True),)


def mistakes(drawings: Iterable[Drawing]) -> tuple[str, ...]:
    """Return the lines on drawings that failed by a mistake of the course's or a plugin's kind."""
    return tuple(
        drawing.text
        for drawing in drawings
        if isinstance(drawing, Paragraph) and drawing.title == NOT_DRAWN and drawing.for_staff
    )
