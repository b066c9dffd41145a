"""Answers as drawings: the question, the answer with its matched words, and the points that are suggested."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from grader.checks.answer_facts import BETWEEN_DOCUMENTS
from grader.checks.answer_options import AnswerOptions
from grader.checks.points_drawings import points_drawings
from grader.matching.findings import Finding, MatchState
from grader.matching.suggestion import Suggestion, suggest
from grader.model.answer_labels import order_of
from grader.model.drawing import Drawing, MarkedText, Paragraph, Pictures, ValueTable
from grader.model.magnitude import number
from grader.model.observation import Observation

_DECIDES = "All points of a certain answer count at once; everything else a person decides."
_DECIDES_NOTHING = "Nothing counts until a person has decided."


def suggestion_for(options: AnswerOptions, observation: Observation) -> Suggestion:
    """Return what the matchers suggest for an observed answer."""
    facts = observation.facts
    aside = tuple((start, end) for start, end in facts.get("aside", ()))
    questions = "\n".join((options.text, *options.wordings))
    return suggest(options.criteria, str(facts.get("answer", "")), questions, aside, options.beside)


def doubt_about(options: AnswerOptions, observation: Observation) -> str:
    """Return why no program decides what may be right; empty if there is no doubt."""
    if not observation.facts["certain"]:
        return str(observation.facts["why"])
    suggestion = suggestion_for(options, observation)
    if suggestion.to_the_grader:
        return f"it speaks to the grader: {suggestion.to_the_grader}"
    if options.decides and suggestion.meets_all and suggestion.unaccounted:
        return f'it says "{suggestion.unaccounted}" besides, which may be wrong'
    return ""


def answer_drawings(options: AnswerOptions, observation: Observation) -> Iterator[Drawing]:
    """Yield the drawings of one answer; what the reader may not know is not in the options."""
    facts = observation.facts
    yield MarkedText(title="Question", text=options.text)
    if "answer" in facts:
        suggestion = suggestion_for(options, observation)
        text = str(facts["answer"])
        rows = [(str(row[1]), *map(str, row[2:])) for row in facts.get("pictures", ())]
        nothing = "nothing that a program can read" if rows else "no answer"
        for part in answer_parts(facts, suggestion.spans):
            yield part.marked if part.marked.text else replace(part.marked, text=nothing)
        if pictures := tuple(thumbnail for thumbnail, *_ in rows if thumbnail):
            yield Pictures(title="Pictures in the answer", pictures=pictures)
        elif labels := sorted({first for _, *labels in rows for first in labels}):
            yield Paragraph(text=f"The pictures of the answer stand with question {' and '.join(labels)}.")
        if doubt := doubt_about(options, observation):
            yield Paragraph(text=f"Not certain: {doubt}", for_staff=True)
        if whole := str(facts.get("whole", "")):
            yield from _whole(options, str(facts["file"]), whole)
        if options.model:
            yield MarkedText(title="Model answer", text=options.model)
        if suggestion.parts and text:
            yield _suggested(suggestion, options)
    elif options.model:
        yield MarkedText(title="Model answer", text=options.model)
    yield from points_drawings(options.criteria, observation)


def _whole(options: AnswerOptions, file: str, whole: str) -> Iterator[Drawing]:
    """Yield the text of a document in which no answer could be told from another, with its first question."""
    first = min(options.questions or (options.label,), key=order_of)
    if options.label == first:
        yield MarkedText(title=f"The whole text of {file}", text=whole, written=True)
    else:
        yield Paragraph(text=f"The whole text of {file} stands with question {first}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPart:
    """The answer of one document to a question."""

    file: str
    place: str
    """The file, with the page if it has several."""
    marked: MarkedText
    """Its text, with the words that the suggestion goes by."""


def answer_parts(facts: Mapping[str, Any], spans: Iterable[tuple[int, int]]) -> tuple[AnswerPart, ...]:
    """Return an answer by the documents that it stands in: one part, or several where several answer."""
    text = str(facts["answer"])
    sources = facts.get("sources") or [[facts["file"], facts["page"], facts["pages"], len(text)]]
    parts = []
    start = 0
    for file, page, pages, characters in sources:
        end = start + int(characters)
        place = f"{file}, page {page}" if pages > 1 and page else str(file)
        inside = [
            (max(first, start), min(last, end)) for first, last in spans if first < end and last > start
        ]
        parts.append(
            AnswerPart(
                file=str(file),
                place=place,
                marked=MarkedText(
                    title=f"Answer in {place}",
                    text=text[start:end],
                    spans=tuple((first - start, last - start) for first, last in inside),
                    written=bool(text[start:end]),
                ),
            )
        )
        start = end + len(BETWEEN_DOCUMENTS)
    return tuple(parts)


def _suggested(suggestion: Suggestion, options: AnswerOptions) -> ValueTable:
    rows = tuple(
        (
            part.criterion.name,
            finding_in_words(part.finding),
            number(part.points) if part.is_suggested else "",
            number(part.criterion.points),
        )
        for part in suggestion.parts
    )
    counts = _DECIDES if options.decides else _DECIDES_NOTHING
    total = ("Together", "", number(suggestion.points), number(suggestion.possible))
    return ValueTable(
        title="Suggested points",
        caption=f"A suggestion of a program that looks for words. {counts}",
        head=("Criterion", "Finding", "Suggested", "Of"),
        words=frozenset({1}),
        rows=(*rows, total) if len(rows) > 1 and suggestion.useful else rows,
        at_most=len(rows) + 1,
        for_staff=True,
    )


def finding_in_words(finding: Finding) -> str:
    """Return what a matcher found, in a few words."""
    why = f": {finding.why}" if finding.why else ""
    return "" if finding.state is MatchState.BY_HAND else f"{finding.state.value}{why}"
