"""Which items of which submissions wait for a person, and what people say of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from grader.checks.answer import AnswerKind
from grader.checks.answer_drawings import finding_in_words, suggestion_for
from grader.config.course import Course
from grader.config.evidence_file import EVIDENCE, read_evidence
from grader.config.points_csv import ACCEPT, PointsRow
from grader.config.points_file import (
    MANUAL,
    WAITS,
    CriterionPoints,
    PointsGiven,
    append_points,
    read_points,
)
from grader.config.problem import suggestion
from grader.config.rubric import load_rubric
from grader.errors import UsageError
from grader.grading.results import WORKSPACE, Results
from grader.matching.criteria import Criterion
from grader.matching.findings import MatchState
from grader.matching.suggestion import Suggestion, marked
from grader.model.evidence import Evidence
from grader.model.observation import Observation, Outcome
from grader.model.rubric import Item, Rubric
from grader.model.score import Award
from grader.plugins import Plugins

ACCEPTED = "the suggestion was accepted"
_MOST_WORDS = 12
"""Matched words of one criterion that are listed."""
DIGEST_DIGITS = 12
"""How much of a digest stands in the table, behind `sha256:`."""


@dataclass(frozen=True)
class StoredGrade:
    """One examined submission, with the items that a person may give points for."""

    folder: Path
    evidence: Evidence
    rubric: Rubric
    items: Mapping[str, Item]

    @cached_property
    def given(self) -> Mapping[str, PointsGiven]:
        """What people gave so far."""
        return read_points(self.folder, self.evidence.submission.digest)

    @property
    def mark(self) -> str:
        """How the table names exactly this submission."""
        return self.evidence.submission.digest.rpartition(":")[2][:DIGEST_DIGITS]


def graded_submissions(
    out: Path, course: Course, plugins: Plugins, rubric: str | None = None
) -> list[StoredGrade]:
    """Everything examined below a results folder, by assignment and student.

    Raises:
        UsageError: there is no such folder.
        CourseError: the rubric of an assignment is wrong or missing.
    """
    if not out.is_dir():
        raise UsageError(f"{out}: there is no such results folder; grade first, or name one by --results")
    found = []
    for assignment in sorted(out.iterdir()):
        if assignment.name not in plugins.assignment_folders or not assignment.is_dir():
            continue
        path = course.rubric_path(rubric or assignment.name)
        marked_by = load_rubric(path, kinds=plugins.checks, assignments=plugins.assignment_folders)
        items = {i.id: i for i in marked_by.items if plugins.checks[i.check].by_hand}
        for folder in sorted(assignment.iterdir()):
            evidence = read_evidence(folder / EVIDENCE)
            if evidence is not None:
                found.append(StoredGrade(folder, evidence, marked_by, items))
    return found


def rows(graded: list[StoredGrade], plugins: Plugins, out: Path) -> Iterator[PointsRow]:
    """Yield a row for each question and manual item, and each other one that only a person can decide.

    They are sorted by assignment and item, so that one question is graded for all students in turn.
    """
    for folder in dict.fromkeys(grade.folder.parent for grade in graded):
        grades = [grade for grade in graded if grade.folder.parent == folder]
        for item in grades[0].items.values():
            for grade in grades:
                if _concerns_a_person(grade, item, plugins):
                    yield _row(grade, item, plugins, out)


def _concerns_a_person(grade: StoredGrade, item: Item, plugins: Plugins) -> bool:
    always = item.check in {MANUAL, AnswerKind.name}
    return always or item.id in grade.given or _award(grade, item, plugins).undecided


def _row(grade: StoredGrade, item: Item, plugins: Plugins, out: Path) -> PointsRow:
    record = grade.given.get(item.id)
    observation = grade.evidence.observations.get(item.id)
    answer = _Answer(item, observation)
    file = observation.facts.get("file") if observation else None
    criteria = getattr(item.options, "criteria", ())
    points = {c.name: c.points for c in (record.criteria or ()) if c.points is not None} if record else {}
    return PointsRow(
        student=grade.folder.name,
        assignment=grade.folder.parent.name,
        item=item.id,
        title=item.title,
        asks=getattr(item.options, "asks", "") or getattr(item.options, "text", ""),
        answer=answer.text,
        model=getattr(item.options, "model", ""),
        criteria=answer.criteria,
        suggested=answer.suggested,
        now=_now(record, _award(grade, item, plugins), item),
        possible=f"{item.points:g}",
        points=f"{record.points:g}" if record else "",
        parts=tuple(f"{points[c.name]:g}" if c.name in points else "" for c in criteria),
        comment=record.comment if record else "",
        reason=record.reason if record else "",
        document=str((grade.folder / WORKSPACE / str(file)).relative_to(out)) if file else "",
        submission=grade.mark,
    )


class _Answer:
    """An observed answer as texts for a table, and the points suggested for it."""

    def __init__(self, item: Item, observation: Observation | None) -> None:
        criteria: tuple[Criterion, ...] = getattr(item.options, "criteria", ())
        self.text = self.suggested = ""
        self.suggestion: Suggestion | None = None
        findings = [""] * len(criteria)
        if item.check == AnswerKind.name and observation and "answer" in observation.facts:
            suggestion = suggestion_for(item.options, observation)
            text = str(observation.facts["answer"])
            self.text = marked(text, suggestion.spans)
            if not observation.facts["certain"]:
                self.text = f"{self.text}\n(not certain: {observation.facts['why']})".strip()
            if pictures := len(observation.facts["pictures"]):
                self.text = f"{self.text}\n({pictures} pictures: see the page)".strip()
            # Where nothing was read, 0 is no suggestion that a person should accept with one mark.
            if suggestion.useful and not observation.facts["missing"]:
                self.suggestion = suggestion
                self.suggested = f"{suggestion.points:g}"
            findings = [
                "; ".join(
                    [
                        f"{finding_in_words(part.finding)}, {part.points:g} suggested",
                        *dict.fromkeys(
                            f"«{text[start:end]}»" for start, end in part.finding.spans[:_MOST_WORDS]
                        ),
                    ]
                )
                for part in suggestion.parts
                if part.finding.state is not MatchState.BY_HAND
            ] or findings
        self.criteria = "\n".join(
            f"{number}. {criterion.name} ({criterion.points:g}){finding and f': {finding}'}"
            for number, (criterion, finding) in enumerate(zip(criteria, findings, strict=False), start=1)
        )


def _now(record: PointsGiven | None, award: Award, item: Item) -> str:
    if record:
        return f"{record.points:g} by {record.by}"
    if award.undecided:
        return award.reason
    return f"{award.fraction * item.points:g}: {award.reason}"


def _award(grade: StoredGrade, item: Item, plugins: Plugins) -> Award:
    """Judge an item as it was observed, without points by hand."""
    observation = grade.evidence.observations.get(item.id)
    waits = Award(fraction=0.0, reason=WAITS, undecided=item.check == MANUAL)
    if item.check == MANUAL or observation is None:
        return waits
    if observation.outcome is not Outcome.OBSERVED:
        return Award(fraction=0.0, reason=observation.note or observation.outcome.value)
    return plugins.checks[item.check].award(item.options, observation, {})


class Judgements:
    """What a table says, checked row by row; kept only if nothing in it is wrong."""

    def __init__(self, found: list[StoredGrade], *, where: str, by: str, at: str) -> None:
        self._graded = {(one.folder.parent.name, one.folder.name): one for one in found}
        self._where = where
        self._by = by
        self._at = at
        self._first: dict[tuple[str, str, str], int] = {}
        self._records: dict[Path, list[PointsGiven]] = {}
        self._grade_of: dict[Path, StoredGrade] = {}
        self.problems: list[str] = []

    def add(self, line: int, row: PointsRow) -> None:
        """Take one row, or note all that is wrong with it; a row without points says nothing yet."""
        if not (row.points or any(row.parts)):
            return
        before = len(self.problems)
        first = self._first.setdefault((row.assignment, row.student, row.item), line)
        if first != line:
            self._wrong(line, f"gives points for the same item as line {first}; keep one of them")
        graded = self._graded.get((row.assignment, row.student))
        if graded is None:
            students = [student for assignment, student in self._graded if assignment == row.assignment]
            known = suggestion(row.student, students) if students else "grade it first"
            self._wrong(line, f"no submission of {row.student!r} for {row.assignment!r} was graded; {known}")
            return
        item = graded.items.get(row.item)
        if item is None:
            known = suggestion(row.item, graded.items) if graded.items else "the rubric has none"
            self._wrong(line, f"{row.item!r} is no item that a person gives points for; {known}")
            return
        if row.submission and row.submission != graded.mark:
            self._wrong(
                line, f"{row.student} has handed in again since; export the table anew and look again"
            )
        judgement = self._points(line, row, graded, item)
        if judgement is not None and len(self.problems) == before:
            self._keep(graded, item, judgement, row)

    def save(self, count: Callable[[StoredGrade], object]) -> int:
        """Write all points, `count` them in each folder while it is locked, and return how many are new.

        Raises:
            UsageError: something in the table is wrong; nothing is written.
            NotObservedError: a results folder is in use or cannot be written.
        """
        if self.problems:
            raise UsageError(*self.problems, "nothing was written")
        for folder, records in self._records.items():
            with Results(folder).locked():
                append_points(folder, records)
                count(self._grade_of[folder])
        return sum(map(len, self._records.values()))

    def _points(self, line: int, row: PointsRow, grade: StoredGrade, item: Item) -> _Judgement | None:
        """Read the points of a row: those that were suggested, of each criterion, or of the whole item."""
        if row.points.strip().casefold() == ACCEPT:
            return self._accepted(line, row, grade, item)
        if any(row.parts):
            return self._of_criteria(line, row, item)
        points = self._number(line, item.id, row.points, item.points)
        return None if points is None else _Judgement(points, ())

    def _of_criteria(self, line: int, row: PointsRow, item: Item) -> _Judgement | None:
        criteria: tuple[Criterion, ...] = getattr(item.options, "criteria", ())
        if len(row.parts) > len(criteria):
            there_are = f"has {len(criteria)} criteria" if criteria else "has no criteria"
            self._wrong(line, f"{item.id} {there_are}; leave part {len(row.parts)} empty")
            return None
        if not all(row.parts) or len(row.parts) < len(criteria):
            self._wrong(line, f"{item.id}: give points for each of its {len(criteria)} parts, or for none")
            return None
        parts = [
            points
            for criterion, text in zip(criteria, row.parts, strict=True)
            if (points := self._number(line, f"{item.id}, {criterion.name}", text, criterion.points))
            is not None
        ]
        total = math.fsum(parts)
        if len(parts) == len(criteria) and row.points and not _equal(_parsed(row.points), total):
            self._wrong(line, f"{item.id}: its parts add up to {total:g}, but points says {row.points!r}")
        return _Judgement(total, tuple(parts)) if len(parts) == len(criteria) else None

    def _accepted(self, line: int, row: PointsRow, grade: StoredGrade, item: Item) -> _Judgement | None:
        suggestion = _Answer(item, grade.evidence.observations.get(item.id)).suggestion
        if any(row.parts):
            self._wrong(line, f"{item.id}: {ACCEPT} takes what is suggested; leave its parts empty")
        elif suggestion is None:
            self._wrong(line, f"{item.id}: nothing is suggested that {ACCEPT} could take; write points")
        elif row.suggested and not _equal(_parsed(row.suggested), suggestion.points):
            now = f"{suggestion.points:g}"
            self._wrong(line, f"{item.id}: the suggestion is {now} now; export the table anew and look again")
        else:
            return _Judgement(suggestion.points, tuple(part.points for part in suggestion.parts), ACCEPTED)
        return None

    def _number(self, line: int, name: str, text: str, most: float) -> float | None:
        points = _parsed(text)
        if 0 <= points <= most:
            return points
        self._wrong(line, f"{name}: points must be a number from 0 to {most:g}, or {ACCEPT}, got {text!r}")
        return None

    def _keep(self, grade: StoredGrade, item: Item, judgement: _Judgement, row: PointsRow) -> None:
        criteria: tuple[Criterion, ...] = getattr(item.options, "criteria", ())
        parts = judgement.parts or (None,) * len(criteria)
        record = PointsGiven(
            item=item.id,
            points=judgement.points,
            possible=item.points,
            by=self._by,
            at=self._at,
            comment=row.comment,
            reason=row.reason or judgement.reason,
            criteria=tuple(
                CriterionPoints(name=criterion.name, possible=criterion.points, points=points)
                for criterion, points in zip(criteria, parts, strict=True)
            ),
            submission=grade.evidence.submission.digest,
        )
        earlier = grade.given.get(item.id)
        if earlier is None or replace(earlier, by=self._by, at=self._at) != record:
            self._records.setdefault(grade.folder, []).append(record)
            self._grade_of[grade.folder] = grade

    def _wrong(self, line: int, problem: str) -> None:
        self.problems.append(f"{self._where}:{line}: {problem}")


@dataclass(frozen=True, slots=True)
class _Judgement:
    """Points of one row."""

    points: float
    parts: tuple[float, ...]
    """The points of each criterion; none if the item was judged as a whole."""
    reason: str = ""


def _parsed(text: str) -> float:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return math.nan


def _equal(first: float, second: float) -> bool:
    return math.isclose(first, second, abs_tol=1e-6)
