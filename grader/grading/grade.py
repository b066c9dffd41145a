"""From archives to scores: read it top to bottom.

    open -> plan -> observe -> score -> report

Observing happens in other processes: an engine runs workers, which start the student's program in a sandbox.
What comes back is evidence, and everything after it is arithmetic. One submission is a class of one.

`Grading.grade` is the loop. `_begin` opens and plans a submission as soon as the engine wants another order,
`_advance` sends orders for the parts whose turn it is, `_handle` takes records and ends of orders from the
engine, and `_finish` scores and reports. `attempts.py` chooses what is graded, `sessions.py` opens engines.
"""

from __future__ import annotations

import resource
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property

from grader.config.evidence_file import (
    EvidenceWriter,
    ItemObserved,
    RunStarted,
    SubmissionReceived,
    decode_record,
)
from grader.contracts.engine import CountsGpus, Ended, Event, Order, QueueStatus, Records, Session
from grader.errors import NotObservedError
from grader.files import show_path
from grader.grading.plan import Part, in_order, plan
from grader.grading.score import Graded, score_and_report
from grader.grading.submission import CourseFiles, OpenSubmission, Request, open_submission
from grader.grading.tasks import with_gpu
from grader.model.evidence import NO_SANDBOX
from grader.model.job import Task
from grader.model.observation import NEEDS_GPU, Outcome

OPEN_AT_MOST = 256
"""Submissions that are open at once, whatever an engine wants: each has a file open and is kept in memory."""
OPEN_ELSEWHERE = 4096
"""The same where workers run on other machines: 256 open ones would leave most of 1,000 GPUs idle."""
FILES_BESIDE = 256
"""Files that are open beside those of submissions."""


@dataclass(slots=True, kw_only=True)
class _InProgress:
    """A submission that is being observed."""

    number: int
    """The place of its request."""
    submission: OpenSubmission
    closing: ExitStack
    """Gives its results folder back."""
    waiting: dict[int, Part]
    """Parts that have no order yet, by their numbers."""
    has_parts: bool
    """Whether anything of it was to be observed."""
    ordered: dict[str, tuple[int, Part]] = field(default_factory=dict)
    """Parts whose orders are open, with their numbers, by the key of the order."""
    unrecorded: dict[str, Task] = field(default_factory=dict)
    """Tasks of open orders that have no record yet, by item."""
    left_over: list[Task] = field(default_factory=list)
    """Tasks that ended orders have left without a record; another part takes them."""
    lines: set[int] = field(default_factory=set)
    """Hashes of the lines that were read."""
    bad_record: str = ""
    """Why a record of an open order could not be read."""
    problem: str = ""
    """Why the order that ended last was cut short."""
    runs: dict[str, str] = field(default_factory=dict)
    """When the runs of its orders began, by their ids."""
    asked_for_gpu: set[str] = field(default_factory=set)
    """Items that wait for a GPU only because an import asked for one."""
    unseen_again: dict[str, str] = field(default_factory=dict)
    """Notes of items that were to be observed again, and could not be."""


class Grading:
    """Grades submissions with the workers of one session."""

    def __init__(
        self, files: CourseFiles, session: Session, *, alone: bool, open_at_most: int | None = None
    ) -> None:
        """Grade with a session; `alone` says that no other submission is graded at the same time."""
        self._open_at_most = OPEN_AT_MOST if open_at_most is None else open_at_most
        self._files = files
        self._plugins = files.plugins
        self._session = session
        self._alone = alone
        self._began = datetime.now(UTC).replace(microsecond=0)  # runs note whole seconds
        self._open: dict[str, _InProgress] = {}
        """By the key of each open order."""
        self._results: deque[tuple[int, Graded | Exception]] = deque()

    def grade(self, requests: Sequence[Request]) -> Generator[tuple[int, Graded | Exception], None, None]:
        """Grade submissions, of which no two are of one student in one assignment.

        Yields, in the order in which they end, the place of each request and its score, or why there is none.
        """
        pending = deque(enumerate(requests))
        prepared = False
        try:
            while pending or self._open:
                while pending and self._wants():
                    self._begin(*pending.popleft())
                    yield from self._take_results()
                if self._open and not prepared:  # now that a worker has something to do
                    prepared = True
                    for report in self._plugins.reports.values():
                        report.prepare()
                if event := self._session.event():
                    self._handle(event)
                else:
                    self._give_up()
                yield from self._take_results()
        finally:
            for entry in self._open.values():
                entry.closing.close()
            self._open.clear()

    def _wants(self) -> bool:
        """Tell whether to open another submission; where none is open, nobody else would go on."""
        return not self._open or (len(self._open) < self._open_at_most and self._session.wants())

    def _take_results(self) -> Generator[tuple[int, Graded | Exception], None, None]:
        while self._results:
            yield self._results.popleft()

    def _begin(self, number: int, request: Request) -> None:
        """Open a submission and order its first parts; one with nothing to observe is scored at once."""
        with ExitStack() as resources:
            try:
                submission = resources.enter_context(open_submission(request, self._files))
                parts = self._plan(submission, submission.remaining(self._plugins.checks))
                if parts:
                    submission.results.remove_leftovers()
                else:
                    _record_submission(submission)
            except Exception as error:
                self._results.append((number, error))
                return
            entry = _InProgress(
                number=number,
                submission=submission,
                closing=resources.pop_all(),
                waiting=dict(enumerate(parts)),
                has_parts=bool(parts),
            )
            self._advance(entry)

    def _plan(self, submission: OpenSubmission, tasks: Sequence[Task]) -> tuple[Part, ...]:
        limits = self._plugins.assignments[submission.submission.assignment].limits
        return plan(tasks, self._plugins.checks, limits, gpus=self._gpus_for(tasks), alone=self._alone)

    def _in_order(self, tasks: Sequence[Task]) -> tuple[Task, ...]:
        return in_order(tasks, self._gpus_for(tasks))

    def _gpus_for(self, tasks: Iterable[Task]) -> int:
        """Count the GPUs that a worker can lease for tasks; no driver is asked if they need none."""
        return self._gpus if any(task.devices for task in tasks) else 0

    @cached_property
    def _gpus(self) -> int:
        if isinstance(self._session, CountsGpus):
            return self._session.gpus()
        from grader.cuda.gpus import gpus

        return sum(not gpu.mig for gpu in gpus())

    def _advance(self, entry: _InProgress) -> None:
        """Order the parts of a submission whose turn it is, or score it if there is nothing left to order.

        What parts have left without a record is observed with the next one that does not share a GPU, which
        then has the machine for itself, or else once more, in order, unless the part that ended last was cut
        short itself.
        """
        unfinished = {*entry.waiting, *(number for number, _ in entry.ordered.values())}
        ready = [number for number, part in entry.waiting.items() if unfinished.isdisjoint(part.after)]
        for number in ready:
            part = entry.waiting.pop(number)
            if entry.left_over and not part.shares_gpu:
                part = replace(part, tasks=self._in_order((*entry.left_over, *part.tasks)), exclusive=True)
                entry.left_over.clear()
            self._order(entry, number, part)
        if entry.ordered:
            return
        if entry.left_over and not entry.problem:
            self._order(entry, 0, Part(tasks=self._in_order(entry.left_over), exclusive=True))
            entry.left_over.clear()
        elif parts := self._plan_with_gpu(entry):
            entry.waiting = dict(enumerate(parts))
            self._advance(entry)
        else:
            self._finish(entry)

    def _plan_with_gpu(self, entry: _InProgress) -> tuple[Part, ...]:
        """Plan items whose import asked for a GPU, and those that need them; none where there is no GPU."""
        items, entry.asked_for_gpu = entry.asked_for_gpu, set()
        if not items or entry.problem or not self._gpus:
            return ()
        submission = entry.submission
        kinds = self._plugins.assignments[submission.submission.assignment].gpu_kinds
        return self._plan(submission, with_gpu(submission.remaining(self._plugins.checks), items, kinds))

    def _order(self, entry: _InProgress, number: int, part: Part) -> None:
        submission = entry.submission
        job = self._files.job(
            submission.submission,
            part.tasks,
            submission.results.workspace,
            passed=submission.passed(self._plugins.checks),
            min_isolation=submission.least_isolation,
            earlier=submission.used_by(part.tasks),
        )
        order = Order(
            key=job.id,
            job=job,
            outbox=submission.results.folder,
            exclusive=part.exclusive,
            cores=part.cores,
            timed_parts=part.timed_parts,
            shares_gpu=part.shares_gpu,
        )
        entry.ordered[order.key] = number, part
        entry.unrecorded |= {task.item: task for task in part.tasks}
        self._open[order.key] = entry
        self._plugins.run_started(submission.submission, len(part.tasks))
        self._session.submit(order)

    def _handle(self, event: Event) -> None:
        """Take one event of the engine into account."""
        if isinstance(event, QueueStatus):
            self._plugins.queue_status(event.message)
            return
        entry = self._open[event.order.key]
        if isinstance(event, Records):
            try:
                for line in event.lines:
                    self._add_record(entry, line)
            except NotObservedError as error:
                entry.bad_record = str(error)
        elif isinstance(event, Ended):
            self._end_order(entry, event)
        else:
            self._plugins.waits(entry.submission.submission, event.message)

    def _add_record(self, entry: _InProgress, line: bytes) -> None:
        submission = entry.submission
        record = decode_record(line, where=show_path(submission.results.evidence))
        if hash(line) in entry.lines:  # orders have one outbox: two may report what was appended to it
            return
        entry.lines.add(hash(line))
        submission.stored.add(record)
        if isinstance(record, RunStarted):  # on other machines an order gets a new one with each attempt
            entry.runs[record.run.id] = record.run.started_at
        if isinstance(record, ItemObserved):
            item = record.observation.item
            task = entry.unrecorded.pop(item, None)
            if NEEDS_GPU in record.observation.facts and task and not task.devices:
                entry.asked_for_gpu.add(item)
            submission.tried.add(item)
            if submission.request.fresh and record.observation.outcome is Outcome.NOT_OBSERVED:
                entry.unseen_again[item] = record.observation.note
            self._plugins.observed(record.observation, submission.titles.get(item, item))

    def _end_order(self, entry: _InProgress, event: Ended) -> None:
        """Note what an order has left without a record, and go on with its submission."""
        del self._open[event.order.key]
        _, part = entry.ordered.pop(event.order.key)
        left = [task for task in part.tasks if entry.unrecorded.pop(task.item, None)]
        entry.left_over += left
        entry.problem, entry.bad_record = event.problem or entry.bad_record, ""
        # whatever the engine says; some have one where a function of the course ended the worker
        if len(left) == len(part.tasks) and not part.shares_gpu and not entry.problem:
            items = ", ".join(sorted(task.item for task in left))
            path = entry.submission.results.evidence
            entry.problem = f"{path}: the run ended without a record of {items}; run again"
        self._advance(entry)

    def _give_up(self) -> None:
        """Score what the engine has not ended and tells nothing of any more."""
        for entry in {id(entry): entry for entry in self._open.values()}.values():
            entry.left_over += entry.unrecorded.values()
            entry.problem = "the engine ended without a word of it; run again"
            self._finish(entry)
        self._open.clear()

    def _finish(self, entry: _InProgress) -> None:
        """Score a submission, write its reports and close it."""
        result: Graded | Exception
        with entry.closing:
            try:
                _require_sandbox(entry)
                trouble = (entry.problem if entry.left_over else "") or _kept(entry)
                graded = score_and_report(entry.submission, self._files, trouble, ran=entry.has_parts)
                result = replace(graded, collected=self._collected(entry))
            except Exception as error:
                result = error
        self._results.append((entry.number, result))

    def _collected(self, entry: _InProgress) -> bool:
        """Tell whether all runs of a submission, on other machines, began before this command."""
        return bool(entry.runs) and all(
            datetime.fromisoformat(began) < self._began for began in entry.runs.values()
        )


def _kept(entry: _InProgress) -> str:
    """Say which earlier observations count in place of those that were asked for; empty if none does."""
    observations = entry.submission.observations() if entry.unseen_again else {}
    items_by_note: dict[str, list[str]] = {}
    for item, note in entry.unseen_again.items():
        if (seen := observations.get(item)) and seen.outcome is not Outcome.NOT_OBSERVED:
            items_by_note.setdefault(note, []).append(item)
    if not items_by_note:
        return ""
    items = "; ".join(f"{', '.join(names)}: {note}" for note, names in items_by_note.items())
    return f"{items}: could not be observed again, and the earlier observation counts"


def open_elsewhere() -> int:
    """Return how many submissions may be open where workers run on other machines.

    Raises the limit on open files (RLIMIT_NOFILE) as far as it may be.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = OPEN_ELSEWHERE + FILES_BESIDE
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return (
        OPEN_ELSEWHERE if soft == resource.RLIM_INFINITY else max(1, min(OPEN_ELSEWHERE, soft - FILES_BESIDE))
    )


def _record_submission(submission: OpenSubmission) -> None:
    """Write down whose submission the folder holds now, and when it was handed in, if that is new."""
    last = submission.stored.last
    if last is None or last.submission != submission.submission:
        record = SubmissionReceived(submission=submission.submission)
        with EvidenceWriter(submission.results.evidence) as records:
            records.write(record)
        submission.stored.add(record)


def _require_sandbox(entry: _InProgress) -> None:
    """Check that something could be run.

    Raises:
        NotObservedError: no sandbox that may be used works on that machine.
    """
    submission = entry.submission
    evidence = submission.stored.of(submission.submission.digest)
    run = evidence.runs[-1] if evidence and evidence.runs else None
    if run is None or run.id not in entry.runs or run.isolation != NO_SANDBOX:
        return
    error = run.environment.get("sandbox_error", "no sandbox works on this machine")
    least = submission.least_isolation
    anyway = "--min-isolation process, or min_isolation of course.yaml, runs it without any"
    demand = f"{least} or stronger is demanded" if least else anyway
    raise NotObservedError(f"nothing was run: {error}; see grader doctor ({demand})")
