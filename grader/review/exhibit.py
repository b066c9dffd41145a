"""The part of a submission that one item is about, as a person reads it: question, answer, criteria."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING

from grader.checks.answer import AnswerKind
from grader.checks.answer_drawings import AnswerPart, answer_parts, finding_in_words, suggestion_for
from grader.checks.judged import JudgedOptions
from grader.config.points_file import PENALTY
from grader.model.drawing import Drawing, MarkedText
from grader.model.rubric import MANUAL
from grader.reports.layout import base64_only
from grader.reports.words import dated
from grader.review.desk import criteria_of
from grader.scoring.drawings import shown

if TYPE_CHECKING:
    from grader.contracts.check import CheckKind
    from grader.model.observation import Observation
    from grader.model.rubric import Item

MOST_WORDS = 8
"""Matched words of one criterion that are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionRow:
    """One criterion, or the whole item if it has none, with what is suggested for it."""

    name: str
    possible: float
    feedback: str = ""
    suggested: float | None = None
    """None if no program looked for it."""
    finding: str = ""
    words: tuple[str, ...] = ()
    """Words of the answer that the suggestion goes by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhibit:
    """Everything that a person sees of one item of one submission."""

    question: str
    model: str
    answers: tuple[AnswerPart, ...]
    """What each document says to the question; empty if the item has no answer in words."""
    doubts: str
    """Why it is not certain that this is the whole answer; empty if it is."""
    note: str
    """Why there is nothing to read, or what went wrong; empty for nothing."""
    missing: bool
    pictures: tuple[str, ...]
    rows: tuple[CriterionRow, ...]
    suggested: float | None
    """The sum of what is suggested; None if a person has to find it alone."""
    drawings: tuple[Drawing, ...]
    """What the kind shows, for items that are no questions."""


def exhibit(
    item: Item,
    observation: Observation | None,
    kind: CheckKind,
    observations: Mapping[str, Observation] | None = None,
    *,
    zone: tzinfo = UTC,
) -> Exhibit:
    """Return what there is to read of an item; `observations` are those of the whole submission."""
    if item.check == AnswerKind.name and observation is not None and "answer" in observation.facts:
        return _answer(item, observation)
    drawings: Iterable[Drawing] = ()
    if observation is not None:
        drawings = shown(kind, item, observation, observations or {})
    judged = item.options if isinstance(item.options, JudgedOptions) else JudgedOptions()
    return Exhibit(
        question=judged.request or item.title,
        model=judged.model,
        answers=(),
        doubts="",
        note="" if observation is None or item.check == MANUAL else observation.note,
        missing=False,
        pictures=(),
        rows=_rows(item),
        suggested=None,
        drawings=tuple(dated(drawn, zone) for drawn in drawings if not _repeats(drawn, judged)),
    )


def _repeats(drawn: Drawing, judged: JudgedOptions) -> bool:
    """Tell whether a drawing says what the page has above it."""
    return isinstance(drawn, MarkedText) and drawn.text in {judged.request, judged.model} - {""}


def _rows(item: Item) -> tuple[CriterionRow, ...]:
    rows = tuple(
        CriterionRow(name=criterion.name, possible=criterion.points, feedback=criterion.feedback)
        for criterion in criteria_of(item)
    )
    name = f"Points ({PENALTY})" if item.counts == "penalty" else "Points"
    return rows or (CriterionRow(name=name, possible=item.points),)


def _answer(item: Item, observation: Observation) -> Exhibit:
    facts = observation.facts
    text = str(facts["answer"])
    suggestion = suggestion_for(item.options, observation)
    is_readable = bool(text.strip()) and not suggestion.to_the_grader
    rows = tuple(
        CriterionRow(
            name=part.criterion.name,
            possible=part.criterion.points,
            feedback=part.criterion.feedback,
            suggested=part.points if is_readable and part.is_suggested else None,
            finding=finding_in_words(part.finding),
            words=tuple(dict.fromkeys(text[start:end] for start, end in part.finding.spans[:MOST_WORDS])),
        )
        for part in suggestion.parts
    )
    pictures = (base64_only(str(picture)) for _, picture, *_ in facts.get("pictures", ()) if picture)
    return Exhibit(
        question=item.options.text,
        model=item.options.model,
        answers=answer_parts(facts, suggestion.spans),
        doubts="" if facts["certain"] else str(facts["why"]),
        note="",
        missing=bool(facts["missing"]),
        pictures=tuple(pictures),
        rows=rows or _rows(item),
        suggested=suggestion.points if is_readable and suggestion.useful else None,
        drawings=(),
    )
