"""Rows of the table in which people give points: question, answer, model answer, suggestion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from grader.checks.answer import AnswerKind
from grader.checks.answer_drawings import answer_parts, doubt_about, finding_in_words, suggestion_for
from grader.checks.judged import JudgedOptions, documents_asked, documents_of
from grader.cli.points import ALWAYS_LISTED, StoredGrade
from grader.config.points_csv import PointsRow
from grader.config.points_file import (
    PENALTY,
    WAITS,
    PointsGiven,
    judged,
    waiting_note,
    written_reason,
)
from grader.grading.results import WORKSPACE
from grader.matching.criteria import Criterion
from grader.matching.findings import MatchState
from grader.matching.suggestion import Suggested, Suggestion, marked
from grader.model.observation import Observation, Outcome
from grader.model.rubric import MANUAL, Item
from grader.model.score import Standing
from grader.plugins import Plugins
from grader.scoring.judge import judge, waits_for_person
from grader.scoring.score import score

_MOST_WORDS = 12
"""Matched words of one criterion that are listed."""


def rows(graded: list[StoredGrade], plugins: Plugins, out: Path) -> Iterator[PointsRow]:
    """Yield a row for each question and manual item, and for others that are flagged or wait for a person.

    They are sorted by assignment and item, so that one question is graded for all students in turn.
    """
    for folder in dict.fromkeys(grade.folder.parent for grade in graded):
        grades = [grade for grade in graded if grade.folder.parent == folder]
        skipped = [skipped_items(grade, plugins) for grade in grades]
        for item in grades[0].rubric.items:
            for grade, reasons in zip(grades, skipped, strict=True):
                if _concerns_a_person(grade, item, plugins):
                    yield _row(grade, item, plugins, out, reasons.get(item.id, ""))


def _concerns_a_person(grade: StoredGrade, item: Item, plugins: Plugins) -> bool:
    waits = waits_for_person(item, grade.evidence.observations, plugins.checks)
    return item.check in ALWAYS_LISTED or waits or item.id in grade.points_given or item.id in grade.flagged


def _row(grade: StoredGrade, item: Item, plugins: Plugins, out: Path, skipped: str) -> PointsRow:
    record = grade.points_given.get(item.id)
    observation = grade.evidence.observations.get(item.id)
    answer = AnswerTexts(item, observation)
    file = observation.facts.get("file") if observation else None
    read = (str(file),) if file else documents_of(item, grade.evidence.submission.files)
    options = judged_options(item)
    return PointsRow(
        student=grade.folder.name,
        assignment=grade.folder.parent.name,
        item=item.id,
        title=f"{item.title} ({PENALTY})" if item.counts == "penalty" else item.title,
        asks=options.request if options else "",
        answer=answer.text,
        model=options.model if options else "",
        criteria=answer.criteria,
        suggested=answer.suggested,
        now=_now(grade, item, plugins, skipped),
        possible=f"{item.points:g}",
        **cells_of(record, item),
        document="; ".join(str((grade.folder / WORKSPACE / name).relative_to(out)) for name in read),
        submission=grade.short_digest,
    )


def judged_options(item: Item) -> JudgedOptions | None:
    """Return the options of an item that has a model answer and criteria; None if its kind has none."""
    return item.options if isinstance(item.options, JudgedOptions) else None


def criteria_of(item: Item) -> tuple[Criterion, ...]:
    """Return the criteria of an item; none if its kind has none."""
    options = judged_options(item)
    return options.criteria if options else ()


def cells_of(record: PointsGiven | None, item: Item) -> dict[str, Any]:
    """Return the cells that a person fills in, as a judgement filled them."""
    criteria = criteria_of(item)
    empty = ("",) * len(criteria)
    if record is None:
        return {"points": "", "parts": empty, "comment": "", "reason": ""}
    parts = tuple(f"{c.points:g}" for c in record.criteria or () if c.points is not None)
    same = [(c.name, c.possible) for c in record.criteria or ()] == [(c.name, c.points) for c in criteria]
    return {
        "points": f"{record.points:g}",
        "parts": parts if parts and same else empty,
        "comment": record.comment,
        "reason": written_reason(record.reason),
    }


def _given_by(record: PointsGiven) -> str:
    """Say how many points count and who gave them, the first line of the column `now`."""
    return f"{record.points:g} by {record.by}"


def is_seen(record: PointsGiven, row: PointsRow) -> bool:
    """Tell whether the table was exported with these points as those that count."""
    return row.now.partition("\n")[0] == _given_by(record)


def is_as_exported(row: PointsRow) -> bool:
    """Tell whether a row has the points that counted when it was exported, as its column `now` says."""
    return bool(row.points) and row.now.startswith(f"{row.points} by ")


class AnswerTexts:
    """An observed answer as texts for a table, and the points suggested for it."""

    def __init__(self, item: Item, observation: Observation | None) -> None:
        criteria = criteria_of(item)
        self.text = self.suggested = ""
        self.suggestion: Suggestion | None = None
        findings = [""] * len(criteria)
        if item.check == AnswerKind.name and observation and "answer" in observation.facts:
            suggestion = suggestion_for(item.options, observation)
            text = str(observation.facts["answer"])
            parts = answer_parts(observation.facts, suggestion.spans)
            texts = [marked(part.marked.text, part.marked.spans) for part in parts]
            if len(parts) > 1:
                texts = [f"({part.place}:)\n{of_part}" for part, of_part in zip(parts, texts, strict=True)]
            self.text = "\n\n".join(texts)
            if doubt := doubt_about(item.options, observation):
                self.text = f"{self.text}\n(not certain: {doubt})".strip()
            if whole := str(observation.facts.get("whole", "")):
                self.text = f"{self.text}\n(the whole document:)\n{whole}".strip()
            if pictures := len(observation.facts["pictures"]):
                self.text = f"{self.text}\n({pictures} pictures: see the page)".strip()
            # Where nothing was read, 0 is no suggestion that a person should accept with one word.
            if suggestion.useful and text.strip():
                self.suggestion = suggestion
                self.suggested = f"{suggestion.points:g}"
            findings = [_found(part, text) for part in suggestion.parts]
        self.criteria = "\n".join(
            f"{number}. {criterion.name} ({criterion.points:g}){finding and f': {finding}'}"
            for number, (criterion, finding) in enumerate(zip(criteria, findings, strict=True), start=1)
        )


def _found(part: Suggested, answer: str) -> str:
    """Say what was found of a criterion; empty where only a person looks."""
    if part.finding.state is MatchState.BY_HAND:
        return ""
    words = (f"«{answer[start:end]}»" for start, end in part.finding.spans[:_MOST_WORDS])
    suggested = f", {part.points:g} suggested" if part.is_suggested else ""
    return "; ".join([f"{finding_in_words(part.finding)}{suggested}", *dict.fromkeys(words)])


def skipped_items(grade: StoredGrade, plugins: Plugins) -> Mapping[str, str]:
    """Return the reasons of items that nobody has to look at: what they need has lost points.

    What people gave is read anew: an import may have saved points since the folder was read.
    """
    observations = dict(grade.evidence.observations)
    for item, record in replace(grade).points_given.items():  # a copy has read nothing yet
        bare = Observation(item=item, outcome=Outcome.NOT_OBSERVED)
        observations[item] = judged(observations.get(item, bare), record)
    card = score(grade.rubric, replace(grade.evidence, observations=observations), plugins.checks)
    lost = {line.item for line in card.lines if line.fraction is not None and line.fraction < 1}
    reasons = {line.item: line.reason for line in card.lines}
    return {item.id: reasons[item.id] for item in grade.rubric.items if lost.intersection(item.needs)}


def _now(grade: StoredGrade, item: Item, plugins: Plugins, skipped: str) -> str:
    """Say what an item earns as it was observed or judged, or that it waits, with its flags."""
    observations = grade.evidence.observations
    verdict = judge(item, observations, plugins.checks)
    if record := grade.points_given.get(item.id):
        text = _given_by(record) + (f"\n{skipped}" if skipped else "")
    elif skipped:
        text = f"0: {skipped}"
    elif item.check == MANUAL:
        text = waiting_note(documents_asked(item), grade.evidence.submission.files)
    elif verdict.standing is Standing.HELD:
        text = f"{WAITS}: held, {verdict.fraction * item.points:g} so far: {verdict.reason}"
    elif verdict.standing is Standing.FINAL:
        text = f"{verdict.fraction * item.points:g}: {verdict.reason}"
    elif waits_for_person(item, observations, plugins.checks) and not verdict.reason.startswith(WAITS):
        text = f"{WAITS}: {verdict.reason}"
    else:
        text = verdict.reason
    return "\n".join((text, *(f"flag: {flag}" for flag in verdict.flags)))
