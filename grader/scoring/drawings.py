"""Drawings of observations: what their kinds show, and advice on how the programs ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from grader.model.drawing import Drawing, Paragraph
from grader.scoring.advice import of_differences, of_ends

if TYPE_CHECKING:
    from grader.contracts.check import CheckKind
    from grader.model.observation import Observation
    from grader.model.rubric import Item


def drawings_of(
    items: Iterable[Item], observations: Mapping[str, Observation], kinds: Mapping[str, CheckKind]
) -> dict[str, tuple[Drawing, ...]]:
    """Return the drawings of each item whose kind is among `kinds`, by item id."""
    return {
        item.id: (
            *of_ends(observation),
            *_shown(kind, item, observation),
            *of_differences(observation),
        )
        for item in items
        if (observation := observations.get(item.id)) and (kind := kinds.get(item.check))
    }


def _shown(kind: CheckKind, item: Item, observation: Observation) -> tuple[Drawing, ...]:
    """Call a kind's `show`; a mistake in it costs the drawing, and never the report."""
    try:
        return tuple(kind.show(item.options, observation))
    except Exception as error:
        text = f"{item.check} cannot draw this observation: {type(error).__name__}: {error}"
        return (Paragraph(text=text, for_staff=True),)
