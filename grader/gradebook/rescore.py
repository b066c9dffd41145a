"""Rescoring: apply a changed rubric to recorded evidence without running anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Select, select

from grader.config.points_file import PointsGiven, remark_on_no_item, that_count, waiting_note
from grader.gradebook.attempts import current_scores
from grader.gradebook.book import Gradebook, add_score
from grader.gradebook.judgements import judgement_rows, lay_over, read_judgement
from grader.gradebook.rows import card_text, join, read_card, read_rubric_name, revive
from grader.gradebook.tables import ATTEMPTS, EVIDENCE, SCORES, SUBMISSIONS
from grader.model.evidence import Evidence
from grader.model.observation import Observation, Outcome
from grader.model.rubric import MANUAL
from grader.model.score import Scorecard, Standing
from grader.model.submission import Submission
from grader.scoring.changes import Difference, differences, late_inputs_differ
from grader.scoring.score import UNSEEN, score

if TYPE_CHECKING:
    from grader.contracts.check import CheckKind
    from grader.model.rubric import Rubric

BUILTIN_KINDS = "grader.checks."
"""The package of the kinds that judge without the texts of cases; a plugin's kind may need them."""
_CHUNK = 200
"""Rows that are read at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescored:
    """The scorecard of one submission by a rubric, beside the current one."""

    student: str
    """The student, or the team."""
    students: tuple[str, ...]
    """The students whose current score this is; who has left a team since has another one."""
    before: Scorecard
    after: Scorecard
    """The very same object if nothing changes."""
    to_run: tuple[str, ...]
    """Items that no evidence decides by this rubric; until they are run the current score stays."""
    skipped: tuple[str, ...] = ()
    """Those of them that never ran: they were skipped, and what they need has passed by this rubric."""

    no_item: str = ""
    """A line on points by hand for ids that are no items of the rubric; empty without such."""

    @property
    def changes(self) -> bool:
        """Tell whether there is a new score."""
        return self.after is not self.before and not self.to_run

    @property
    def moves_no_points(self) -> bool:
        """Tell whether deadline or late rule are new, and every total stays."""
        return self.changes and not self.differences and late_inputs_differ(self.before, self.after)

    @property
    def says_the_same(self) -> bool:
        """Tell whether a new score differs from the one before in the digest of the rubric alone."""
        return self.changes and replace(self.before, rubric_digest=self.after.rubric_digest) == self.after

    @property
    def visibility(self) -> Mapping[str, tuple[str, str]]:
        """Return the `visible` of each item before and after, where the rubrics differ in it."""
        if not self.changes:
            return {}
        before = {line.item: line.visible for line in self.before.lines}
        pairs = {line.item: (before.get(line.item, line.visible), line.visible) for line in self.after.lines}
        return {item: pair for item, pair in pairs.items() if pair[0] != pair[1]}

    @property
    def differences(self) -> tuple[Difference, ...]:
        """Return the changes for each student; none if only texts of the scorecard differ."""
        return differences(self.before, self.after, self.students) if self.changes else ()


class Judge:
    """A rubric with everything that scoring recorded evidence by it takes."""

    def __init__(
        self,
        rubric: Rubric,
        kinds: Mapping[str, CheckKind],
        digests: Callable[[str], Mapping[str, str]],
        *,
        extensions: Mapping[str, float] | None = None,
        zone: tzinfo = UTC,
    ) -> None:
        """Take the digests of `grader.grading.digests.task_digests`, and the arguments of `score`."""
        self.rubric = rubric
        self._kinds = kinds
        self._digests = digests
        self._extensions = extensions or {}
        self._zone = zone
        self._reads = {
            item.id: str(getattr(item.options, "reads", "")) for item in rubric.items if item.check == MANUAL
        }
        checks = {type(kinds[item.check]).__module__ for item in rubric.items}
        self.needs_texts = not all(module.startswith(BUILTIN_KINDS) for module in checks)
        """Whether the texts of cases have to be read as well."""

    def card(self, submission: Submission, stored: Mapping[str, Observation]) -> Scorecard:
        """Score the stored observations that are still valid."""
        observations = dict(self._valid(submission, stored))
        evidence = Evidence(submission=submission, runs=(), observations=observations)
        return score(self.rubric, evidence, self._kinds, extensions=self._extensions, zone=self._zone)

    def _valid(
        self, submission: Submission, stored: Mapping[str, Observation]
    ) -> Iterator[tuple[str, Observation]]:
        for name, digest in self._digests(submission.digest).items():
            observation = stored.get(name)
            if observation is not None and (
                observation.digest == digest or "points_given" in observation.quantities
            ):
                yield name, observation  # a person's points are bound to the submission, not to the task
            elif name in self._reads:
                note = waiting_note(self._reads[name], submission.files)
                yield name, Observation(item=name, outcome=Outcome.NOT_OBSERVED, note=note, digest=digest)


def rescore(book: Gradebook, judge: Judge, *, apply: bool = False) -> Iterator[Rescored]:
    """Score every submission with a current grade in the rubric's assignment, in the order of students.

    With `apply` the new scores are committed after the last one was taken from the iterator, all of them or
    none, and nobody else writes meanwhile.
    """
    with ExitStack() as stack:
        # first: what is read must be what the new scores follow
        writer = stack.enter_context(book.database.writing()) if apply else None
        reader = stack.enter_context(book.database.reading())
        students = _students(reader, judge.rubric.assignment)
        records = _records(reader, judge.rubric.assignment)
        for row in reader.execution_options(yield_per=_CHUNK).execute(_rows(judge)):
            rescored, text = _rescored(judge, row, students[row.id], records)
            if writer is not None and rescored.changes:
                add_score(writer, row.attempt, text, "rescore", rescored.after, rescored.students)
            yield rescored


def graded_by(book: Gradebook, assignment: str) -> Mapping[str, int]:
    """Count the students with a current grade by the names of the rubrics that it was given by."""
    current = current_scores(assignment)
    cards = select(SCORES.c.card).join(current, current.c.score == SCORES.c.id)
    with book.database.reading() as connection:
        return Counter(map(read_rubric_name, connection.scalars(cards)))


def _students(connection: Connection, assignment: str) -> Mapping[int, tuple[str, ...]]:
    """Return by score the students whose current score it is."""
    current = current_scores(assignment)
    students: dict[int, tuple[str, ...]] = {}
    for student, number in connection.execute(
        select(current.c.student, current.c.score).order_by(current.c.student)
    ):
        students[number] = (*students.get(number, ()), student)
    return students


def _rows(judge: Judge) -> Select[Any]:
    texts = (EVIDENCE.c.shown,) if judge.needs_texts else ()
    current = current_scores(judge.rubric.assignment)
    scores = select(current.c.score).distinct().subquery()
    return (
        select(SCORES.c.id, SCORES.c.attempt, SCORES.c.card, SUBMISSIONS.c.body, EVIDENCE.c.judged, *texts)
        .join(scores, scores.c.score == SCORES.c.id)
        .join(ATTEMPTS, ATTEMPTS.c.id == SCORES.c.attempt)
        .join(EVIDENCE, EVIDENCE.c.attempt == ATTEMPTS.c.id)
        .join(SUBMISSIONS, SUBMISSIONS.c.id == ATTEMPTS.c.submission)
        .order_by(SUBMISSIONS.c.student, SCORES.c.id)
    )


def _records(connection: Connection, assignment: str) -> Mapping[tuple[str, str], list[PointsGiven]]:
    """Return the judgements that count by student and digest of the submission."""
    judgements = map(read_judgement, connection.execute(judgement_rows(assignment)).mappings())
    current = {(each.student, each.record.submission, each.record.item): each.record for each in judgements}
    records: dict[tuple[str, str], list[PointsGiven]] = {}
    for (student, digest, _), record in current.items():
        records.setdefault((student, digest), []).append(record)
    return records


def _rescored(
    judge: Judge,
    row: Any,
    students: tuple[str, ...],
    records: Mapping[tuple[str, str], list[PointsGiven]],
) -> tuple[Rescored, str]:
    """Score a row; return also the new card as text."""
    submission = revive(Submission, row.body)
    stored = join(row.judged, row.shown if judge.needs_texts else None)
    judgements = records.get((submission.student, submission.digest), ())
    after = judge.card(submission, lay_over(stored, judgements))
    text = card_text(after)
    before = after if text == row.card else read_card(row.card)
    if before == after:  # an earlier grader's card, which lacks a field that says nothing here
        before = after
    after_outcomes = {line.item: line.outcome for line in after.lines}
    rescored = Rescored(
        student=submission.student,
        students=students,
        before=before,
        after=after,
        to_run=(to_run := items_to_run(judge.rubric, after)),
        skipped=tuple(name for name in to_run if after_outcomes[name] == Outcome.SKIPPED),
        no_item=remark_on_no_item(
            that_count(judgements), after_outcomes, (line.item for line in before.lines)
        ),
    )
    return rescored, text


def items_to_run(rubric: Rubric, card: Scorecard) -> tuple[str, ...]:
    """Return the items that are open because there is no observation that this rubric can judge.

    Those that wait for another open one are not among them: it was not their turn yet.
    """
    unseen = {
        line.item: line.outcome in UNSEEN for line in card.lines if line.standing is Standing.PROVISIONAL
    }
    needs = {item.id: item.needs for item in rubric.items}
    return tuple(
        item for item in unseen if unseen[item] and not any(unseen.get(n) is False for n in needs[item])
    )
