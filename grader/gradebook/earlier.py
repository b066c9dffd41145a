"""Facts about the files of a submission from before: number, time, points by hand, and what was decided."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import Connection, ScalarSelect, func, select

from grader.config.evidence_file import NOTHING_SEEN, judged_by_mistake
from grader.config.points_file import PointsGiven
from grader.gradebook.attempts import current_attempts, evidence_of
from grader.gradebook.judgements import judgements_of
from grader.gradebook.rows import read_card, revive
from grader.gradebook.tables import SUBMISSIONS
from grader.model.evidence import Evidence
from grader.model.magnitude import counted, number
from grader.model.observation import Observation, Outcome
from grader.model.score import Scorecard, Standing
from grader.model.submission import Submission
from grader.scoring.judge import REASONS
from grader.scoring.score import MISSING

if TYPE_CHECKING:
    from grader.gradebook.book import Gradebook


_FILES = ("assignment", "student", "digest")
"""Columns that say whose files a row of submissions is of; another time of submission makes another row."""


def first_number() -> ScalarSelect[int]:
    """Select the number of the first row with the same files as a row of submissions, which stays."""
    first = SUBMISSIONS.alias()
    same = (first.c[name] == SUBMISSIONS.c[name] for name in _FILES)
    return select(func.min(first.c.id)).where(*same).correlate(SUBMISSIONS).scalar_subquery()


def with_time(connection: Connection, evidence: Evidence) -> Evidence:
    """Return evidence with the time at which its files were handed in, if it has none and the rows have."""
    submission = evidence.submission
    if submission.submitted_at is not None:
        return evidence
    time = _time(connection, submission)
    return evidence if time is None else replace(evidence, submission=replace(submission, submitted_at=time))


@dataclass(frozen=True, slots=True, kw_only=True)
class WithDecided:
    """A grade that leaves open what the recorded one of the same files decides, and what comes of it."""

    evidence: Evidence
    """With the recorded observations of the same tasks that it cannot decide anew."""
    card: Scorecard
    lacks: frozenset[str]
    """Items that the recorded grade alone decides, by observations of other tasks: it stays as it is."""
    to_run: tuple[str, ...]
    """Items that it decides by a gate and that must run now, for they were skipped: it stays as it is."""
    remark: str
    """A line for who grades."""


def with_decided(
    connection: Connection,
    evidence: Evidence,
    card: Scorecard,
    judge: Callable[[Evidence], Scorecard] | None,
) -> WithDecided | None:
    """Add what the current grade of the same files decides and this one leaves open; None if that is nothing.

    A recorded observation takes the place of one that decides nothing if it is of the same task, by its
    digest. If it is of another one (files of the course, or grader, are others now), this rubric cannot judge
    it, as in a re-scoring; grades by a rubric of another name replace it then. So it is where an item was
    skipped, and what it needs by this rubric has passed.
    """
    attempts = list(current_attempts(connection, evidence.submission))
    before, earlier = (None, None) if not attempts else (read_card(attempts[-1][1]), attempts[-1][0])
    if before is None or earlier is None or not (_opened(before, card) or _to_run(before, card)):
        return None
    recorded = evidence_of(connection, earlier)
    merged, merged_card, staying = evidence, card, set[str]()
    for all_open in (False, True):  # first what nobody saw: what waits for that alone is decided anew
        taken = {
            item: recorded.observations[item]
            for item in _opened(before, merged_card)
            if _is_same_task(merged.observations.get(item), recorded.observations.get(item))
            and (all_open or _is_unseen(merged.observations[item]))
        }
        if taken and judge:
            staying |= taken.keys()
            merged = replace(merged, observations={**merged.observations, **taken})
            merged_card = judge(merged)
    ids = {run.id for run in evidence.runs}
    runs = (*(run for run in recorded.runs if run.id not in ids), *evidence.runs)
    lacks = frozenset(
        item
        for item in (_opened(before, merged_card) if before.rubric == card.rubric else ())
        if not _is_mistake(evidence.observations.get(item), recorded.observations.get(item))
    )
    to_run = _to_run(before, merged_card)
    if not lacks and not to_run and merged is evidence:
        return None
    return WithDecided(
        evidence=replace(merged, runs=runs),
        card=merged_card,
        lacks=lacks,
        to_run=to_run,
        remark=(
            f"{_grade(before)} and stays: must run, was skipped: {', '.join(to_run)}"
            if to_run
            else _remark(before, card, staying | lacks, before if lacks else merged_card, is_whole=not lacks)
        ),
    )


def _opened(before: Scorecard, card: Scorecard) -> frozenset[str]:
    """Return the items that one card decides by an observation, and that another leaves open.

    What waits for a person is left out: points can be withdrawn.
    """
    unseen = {MISSING, *(outcome.value for outcome in NOTHING_SEEN)}
    decided = {
        line.item
        for line in before.lines
        if line.standing is not Standing.PROVISIONAL and line.outcome not in unseen
    }
    still_open = {
        line.item for line in card.lines if line.standing is Standing.PROVISIONAL and not line.for_person
    }
    return frozenset(decided & still_open)


def _to_run(before: Scorecard, card: Scorecard) -> tuple[str, ...]:
    """Return the items that a gate decides in one card, and that must run by another of the same rubric.

    By its reason such a line differs from one that was skipped and waits for another item that is open.
    """
    if before.rubric != card.rubric:
        return ()
    gated = {
        line.item
        for line in before.lines
        if line.standing is not Standing.PROVISIONAL and line.outcome == Outcome.SKIPPED
    }
    return tuple(
        line.item
        for line in card.lines
        if line.item in gated
        and line.standing is Standing.PROVISIONAL
        and line.outcome == Outcome.SKIPPED
        and line.reason == REASONS[Outcome.SKIPPED]
    )


def _is_unseen(observation: Observation) -> bool:
    return observation.outcome in NOTHING_SEEN or observation.simulated


def _is_same_task(observation: Observation | None, recorded: Observation | None) -> bool:
    """Tell whether a recorded observation is one of the same task, and may count in place of this one."""
    if observation is None or recorded is None or recorded.outcome in NOTHING_SEEN:
        return False
    return observation.digest == recorded.digest and not judged_by_mistake(observation, recorded)


def _is_mistake(observation: Observation | None, recorded: Observation | None) -> bool:
    """Tell whether an item is open because the recorded observation was judged by a mistake of the course."""
    return observation is not None and recorded is not None and judged_by_mistake(observation, recorded)


def _remark(
    before: Scorecard, card: Scorecard, items: Collection[str], counting: Scorecard, *, is_whole: bool
) -> str:
    """Return `ann, mha: 20 / 20, final, is recorded and stays: 17 points could not be observed here`."""
    points = sum(line.possible for line in card.lines if line.item in items)
    unobserved = counted(points, "point") if points else counted(len(items), "item")
    grade = _grade(counting)
    if not is_whole:
        return (
            f"{grade} and stays, and this run stands in the history alone: {unobserved} could not be "
            "observed here as the course asks now"
        )
    if (counting.totals, counting.standing) == (before.totals, before.standing):
        return f"{grade} and stays: {unobserved} could not be observed here"
    return f"{grade}: {unobserved} could not be observed here, and count as they were recorded"


def _grade(card: Scorecard) -> str:
    """Return `ann, mha: 20 / 20, final, is recorded`."""
    totals = dict.fromkeys(number(total.adjusted) for total in card.totals)
    figure = f"{', '.join(totals)} / {number(card.points.possible)}, {card.standing.value}"
    return f"{card.student}, {card.assignment}: {figure}, is recorded"


def submitted_at(book: Gradebook, submission: Submission) -> datetime | None:
    """Return when the files of a submission were handed in, as last recorded; None if nobody said."""
    with book.database.reading() as connection:
        return _time(connection, submission)


def points_given(book: Gradebook, submission: Submission) -> Sequence[PointsGiven]:
    """Return all points that people gave for the files of a submission, the oldest first."""
    with book.database.reading() as connection:
        return tuple(each.record for each in judgements_of(connection, submission))


def _time(connection: Connection, submission: Submission) -> datetime | None:
    same = (SUBMISSIONS.c[name] == getattr(submission, name) for name in _FILES)
    rows = select(SUBMISSIONS.c.body).where(*same).order_by(SUBMISSIONS.c.id.desc())
    recorded = (revive(Submission, body) for body in connection.scalars(rows))
    return next((each.submitted_at for each in recorded if each.submitted_at and not each.in_future), None)
