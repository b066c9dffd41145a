"""Computes a scorecard from a rubric and evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, tzinfo
from functools import lru_cache
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

from grader.model.observation import MISSING_FILE, NOT_IMPORTED, STUDENTS_DOING, Outcome
from grader.model.options import files_named
from grader.model.score import Line, Scorecard, Standing
from grader.scoring.judge import JudgedItem, for_person, judge, quoted
from grader.scoring.late import late
from grader.scoring.totals import exact, points_of, standing_of, totals_of

if TYPE_CHECKING:
    from grader.contracts.check import CheckKind
    from grader.model.evidence import Evidence
    from grader.model.observation import Observation
    from grader.model.rubric import Item, Rubric

MISSING = "missing"
"""The outcome of a line whose item has no record, or none that the rubric can judge."""
UNSEEN = frozenset({MISSING, Outcome.SKIPPED.value})
"""Outcomes of lines without an observation of their own."""


def score(
    rubric: Rubric,
    evidence: Evidence,
    kinds: Mapping[str, CheckKind],
    *,
    extensions: Mapping[str, float] | None = None,
    zone: tzinfo = UTC,
) -> Scorecard:
    """Judge stored evidence; the same evidence and rubric give the same card, at any time.

    `extensions` are seconds by student, or by team for all of it; `zone` is where the course's clocks are.

    Raises:
        CourseError: a course's kind awarded what is no fraction from 0 to 1, with its file and line.
        ValueError: a kind of our own did, or `needs` runs in a circle: a bug, not a grade.
    """
    items = {item.id: item for item in rubric.items}
    titles = {item.id: item.title for item in rubric.items}
    verdicts: dict[str, JudgedItem] = {}
    for name in _order(tuple((item.id, item.needs) for item in rubric.items)):
        item = items[name]
        if gate := _gate(item, items, verdicts, evidence.observations):
            verdicts[name] = gate
            continue
        verdict = judge(item, evidence.observations, kinds, titles)
        by_person = for_person(item, verdict, evidence.observations, kinds)
        verdicts[name] = replace(verdict, for_person=by_person)
    for item in rubric.items:
        if witness := _contradicted(item, items, verdicts, evidence):
            verdicts[item.id] = _doubted(item, verdicts[item.id], witness)
    lines = tuple(_line(item, verdicts[item.id], evidence.observations) for item in rubric.items)
    submission = evidence.submission
    extensions_by_name = extensions or {}
    lates = {
        student: late(
            rubric.late,
            due=rubric.due,
            submitted_at=submission.submitted_at,
            in_future=submission.in_future,
            marked=submission.marked_late,
            extension_s=max(
                extensions_by_name.get(student, 0.0), extensions_by_name.get(submission.student, 0.0)
            ),
            zone=zone,
        )
        if rubric.due
        else None
        for student in submission.students
    }
    points = points_of(rubric, lines)
    wrong_time = any(each is not None and each.in_future for each in lates.values())
    standing = Standing.HELD if wrong_time else standing_of(lines)
    return Scorecard(
        student=submission.student,
        assignment=rubric.assignment,
        rubric=rubric.name,
        rubric_digest=rubric.digest,
        submission_digest=submission.digest,
        lines=lines,
        points=points,
        totals=totals_of(points.raw, lates, settled=standing is Standing.FINAL),
        standing=standing,
    )


@lru_cache(maxsize=16)
def _order(needs: tuple[tuple[str, tuple[str, ...]], ...]) -> tuple[str, ...]:
    """Sort items topologically, each after the items it needs; cached for a whole class."""
    return tuple(TopologicalSorter(dict(needs)).static_order())


def _gate(
    item: Item,
    items: Mapping[str, Item],
    verdicts: Mapping[str, JudgedItem],
    observations: Mapping[str, Observation],
) -> JudgedItem | None:
    needed = [(items[name], verdicts[name]) for name in item.needs]
    settled = [(need, verdict) for need, verdict in needed if verdict.standing is not Standing.PROVISIONAL]
    lost = [(need, verdict) for need, verdict in settled if verdict.fraction < 1]
    own = observations.get(item.id)
    if lost and own is not None and own.outcome is Outcome.REFUSED and MISSING_FILE in own.facts:
        return None  # what it lacks itself is to be mended as well, and costs its points by itself
    if lost:  # even if another one is open: nothing that may still come can open this gate
        verb = "not counted" if _outcome(item, observations) == Outcome.OBSERVED else "skipped"
        return JudgedItem(
            reason=f"{verb}: needs {quoted(need.title for need, _ in lost)}",
            missing=next((verdict.missing for _, verdict in lost if verdict.missing), ""),
            gated=True,
        )
    waiting = [need for need, verdict in needed if verdict.standing is Standing.PROVISIONAL]
    if waiting and not _simulated_so_far(item, waiting, verdicts, observations):
        return JudgedItem(
            reason=f"waits for {quoted(need.title for need in waiting)}", standing=Standing.PROVISIONAL
        )
    return None


def _contradicted(
    item: Item, items: Mapping[str, Item], verdicts: Mapping[str, JudgedItem], evidence: Evidence
) -> str:
    """Return the title of an item whose program ran, where this penalty's could not; empty if none is.

    That a file cannot be imported, or lacks a function, is the word of the program's process, or of a text
    that may bind the function otherwise: both can be so for one item and not for another. Items that name
    other files of the submission say nothing of this one.
    """
    observation = evidence.observations.get(item.id)
    if item.counts != "penalty" or observation is None or NOT_IMPORTED not in observation.facts:
        return ""
    if observation.outcome not in STUDENTS_DOING:
        return ""
    files = files_named(item.options) & {*evidence.submission.files}
    for name, other in evidence.observations.items():
        if name not in items or other.outcome is not Outcome.OBSERVED or not other.program_s:
            continue
        other_files = files_named(items[name].options) & {*evidence.submission.files}
        is_of_others = files and other_files and files.isdisjoint(other_files)
        if verdicts[name].fraction and not is_of_others:
            return items[name].title
    return ""


def _doubted(item: Item, verdict: JudgedItem, witness: str) -> JudgedItem:
    """Return a penalty that took nothing with a flag, for what it is about ran for another item."""
    if not verdict.gated:
        return verdict
    flag = f"takes nothing ({verdict.reason}), though programs ran for {quoted([witness])}"
    standing = Standing.HELD if item.on_flag == "holds" else verdict.standing
    return replace(verdict, flags=(*verdict.flags, flag), standing=standing)


def _simulated_so_far(
    item: Item,
    waiting: Iterable[Item],
    verdicts: Mapping[str, JudgedItem],
    observations: Mapping[str, Observation],
) -> bool:
    """Tell whether the item and all it needs were simulated: then its own reason says more."""
    shown = observations.get(item.id)
    return shown is not None and shown.simulated and all(verdicts[need.id].fraction == 1 for need in waiting)


def _line(item: Item, verdict: JudgedItem, observations: Mapping[str, Observation]) -> Line:
    return Line(
        item=item.id,
        title=item.title,
        points=_points(item, verdict),
        possible=0.0 if item.counts == "penalty" else item.points,
        reason=verdict.reason,
        standing=verdict.standing,
        outcome=_outcome_told(item, verdict, observations),
        hint=verdict.hint,
        missing=verdict.missing,
        visible=item.visible,
        flags=verdict.flags,
        fraction=None if verdict.standing is Standing.PROVISIONAL else verdict.fraction,
        simulated=verdict.fraction if verdict.simulated else None,
        for_person=verdict.for_person,
        counts=item.counts,
    )


def _points(item: Item, verdict: JudgedItem) -> float:
    if verdict.standing is Standing.PROVISIONAL:
        return 0.0
    if item.counts != "penalty":
        full = verdict.fraction == 1
        return item.points if full else min(item.points, exact(verdict.fraction * item.points))
    if verdict.gated:  # what could have gone wrong was never reached
        return 0.0
    return 0.0 - min(item.points, exact((1 - verdict.fraction) * item.points))


def _outcome_told(item: Item, verdict: JudgedItem, observations: Mapping[str, Observation]) -> str:
    """Return the outcome of a line, as its reason says it: what a gate keeps from being run was skipped."""
    if verdict.unasked:
        return MISSING
    unseen = item.id not in observations
    return Outcome.SKIPPED.value if verdict.gated and unseen else _outcome(item, observations)


def _outcome(item: Item, observations: Mapping[str, Observation]) -> str:
    observation = observations.get(item.id)
    return MISSING if observation is None else observation.outcome.value
