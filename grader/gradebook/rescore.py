"""A rubric over stored evidence: what it would change, and then the change; nothing is observed for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Select, func, insert, select

from grader import __version__
from grader.config.points_file import MANUAL, WAITS
from grader.gradebook.book import Gradebook, held, totals_of
from grader.gradebook.file import now
from grader.gradebook.rows import card_text, join, read_card, revive
from grader.gradebook.tables import ATTEMPTS, EVIDENCE, SCORES, SUBMISSIONS, TOTALS
from grader.model.evidence import Evidence
from grader.model.observation import Observation, Outcome
from grader.model.score import Scorecard, Standing
from grader.model.submission import Submission
from grader.scoring.changes import Difference, differences
from grader.scoring.score import MISSING, score

if TYPE_CHECKING:
    from grader.contracts import CheckKind
    from grader.model.rubric import Rubric

OWN_KINDS = "grader.checks."
"""Where the kinds are that judge without the texts of cases; of any other that is not known."""
_CHUNK = 200
"""Rows that are read, or written, at once."""
_UNSEEN = frozenset({MISSING, Outcome.SKIPPED.value})


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescored:
    """What a rubric makes of one hand-in, beside what holds."""

    student: str
    """The student, or the team."""
    students: tuple[str, ...]
    """For whom the mark holds: who has left a team since has another one."""
    before: Scorecard
    after: Scorecard
    """The very same object if nothing changes."""
    to_run: tuple[str, ...]
    """Items that no evidence decides by this rubric: until they are run, what holds goes on to hold."""

    @property
    def changes(self) -> bool:
        """Whether there is a new score."""
        return self.after is not self.before and not self.to_run

    @property
    def differences(self) -> tuple[Difference, ...]:
        """What that changes for each student; none if the new score has other texts alone."""
        return differences(self.before, self.after, self.students) if self.changes else ()


class Judge:
    """A rubric with everything that it takes to judge stored hand-ins by it."""

    def __init__(
        self,
        rubric: Rubric,
        kinds: Mapping[str, CheckKind],
        digests: Callable[[str], Mapping[str, str]],
        *,
        extensions: Mapping[str, float] | None = None,
        zone: tzinfo = UTC,
    ) -> None:
        """`digests` are those of `grader.grading.digests.task_digests`, the rest is what `score` takes."""
        self.rubric = rubric
        self._kinds = kinds
        self._digests = digests
        self._extensions = extensions or {}
        self._zone = zone
        self._by_hand = frozenset(item.id for item in rubric.items if item.check == MANUAL)
        checks = {type(kinds[item.check]).__module__ for item in rubric.items}
        self.needs_texts = not all(module.startswith(OWN_KINDS) for module in checks)
        """Whether the texts of cases have to be read as well."""

    def card(self, submission: Submission, stored: Mapping[str, Observation]) -> Scorecard:
        """The mark by what still holds of the stored observations."""
        observations = dict(self._holding(submission, stored))
        evidence = Evidence(submission=submission, exams=(), observations=observations)
        return score(self.rubric, evidence, self._kinds, extensions=self._extensions, zone=self._zone)

    def _holding(
        self, submission: Submission, stored: Mapping[str, Observation]
    ) -> Iterator[tuple[str, Observation]]:
        for name, digest in self._digests(submission.digest).items():
            seen = stored.get(name)
            if seen is not None and (seen.digest == digest or "points_given" in seen.quantities):
                yield name, seen  # what a person gave is bound to the hand-in and not to the task
            elif name in self._by_hand:
                yield name, Observation(item=name, outcome=Outcome.NOT_OBSERVED, note=WAITS, digest=digest)


def rescore(book: Gradebook, judge: Judge, *, apply: bool = False) -> Iterator[Rescored]:
    """Judge every hand-in that holds a mark in the rubric's assignment, in the order of students.

    With `apply` the new scores are kept when the last one has been asked for, all of them or none, and
    nobody else writes meanwhile.

    Raises:
        NotObservedError: the book cannot be read or written.
    """
    with ExitStack() as stack:
        # first: what is read must be what the new scores follow
        writer = stack.enter_context(book.file.writing()) if apply else None
        reader = stack.enter_context(book.file.reading())
        added = _Added(writer) if writer is not None else None
        rows = reader.execution_options(yield_per=_CHUNK).execute(_rows(judge))
        for row in rows:
            rescored, text = _rescored(judge, row)
            if added is not None and rescored.changes:
                added.add(row.attempt, rescored, text)
            yield rescored
        if added is not None:
            added.write()


def _rows(judge: Judge) -> Select[Any]:
    texts = (EVIDENCE.c.shown,) if judge.needs_texts else ()
    each = held(judge.rubric.assignment)
    students = func.json_group_array(each.c.student).label("students")
    holding = select(each.c.score, students).group_by(each.c.score).subquery()
    return (
        select(SCORES.c.attempt, SCORES.c.card, SUBMISSIONS.c.body, EVIDENCE.c.judged, *texts)
        .add_columns(holding.c.students)
        .join(holding, holding.c.score == SCORES.c.id)
        .join(ATTEMPTS, ATTEMPTS.c.id == SCORES.c.attempt)
        .join(EVIDENCE, EVIDENCE.c.attempt == ATTEMPTS.c.id)
        .join(SUBMISSIONS, SUBMISSIONS.c.id == ATTEMPTS.c.submission)
        .order_by(SUBMISSIONS.c.student, SCORES.c.id)
    )


def _rescored(judge: Judge, row: Any) -> tuple[Rescored, str]:
    """What becomes of a row, and the new card as text."""
    submission = revive(Submission, json.loads(row.body))
    after = judge.card(submission, join(row.judged, row.shown if judge.needs_texts else None))
    text = card_text(after)
    rescored = Rescored(
        student=submission.student,
        students=tuple(json.loads(row.students)),
        before=after if text == row.card else read_card(row.card),
        after=after,
        to_run=_to_run(judge.rubric, after),
    )
    return rescored, text


def _to_run(rubric: Rubric, card: Scorecard) -> tuple[str, ...]:
    """Items that are open because nothing was seen of them that this rubric can judge.

    Those that wait for another open one are not among them: they had no turn yet.
    """
    unseen = {
        line.item: line.outcome in _UNSEEN for line in card.lines if line.standing is Standing.PROVISIONAL
    }
    needs = {item.id: item.needs for item in rubric.items}
    return tuple(
        item for item in unseen if unseen[item] and not any(unseen.get(n) is False for n in needs[item])
    )


class _Added:
    """New scores, written some at a time."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._number: int = connection.scalar(select(func.max(SCORES.c.id))) or 0
        self._at = now()
        self._scores: list[dict[str, Any]] = []
        self._totals: list[dict[str, Any]] = []

    def add(self, attempt: int, rescored: Rescored, text: str) -> None:
        """One more."""
        self._number += 1
        row = {"id": self._number, "attempt": attempt, "card": text, "how": "rescore"}
        self._scores.append({**row, "grader": __version__, "at": self._at})
        self._totals += totals_of(rescored.after, self._number, rescored.students)
        if len(self._scores) >= _CHUNK:
            self.write()

    def write(self) -> None:
        """Write what is waiting."""
        for table, rows in ((SCORES, self._scores), (TOTALS, self._totals)):
            if rows:
                self._connection.execute(insert(table), rows)
                rows.clear()
