"""From archives to scores: read it top to bottom.

    open -> plan -> observe -> score -> report

Observing happens in other processes: an engine runs workers, which start the student's program in a sandbox.
What comes back is evidence, and everything after it is arithmetic. One submission is a class of one.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from grader.config.evidence_file import EvidenceWriter, ItemObserved, SubmissionReceived, decode_record
from grader.config.problem import show_path
from grader.contracts.engine import Ended, Event, Order, Records, Session
from grader.errors import NotObservedError
from grader.grading.plan import Part, plan
from grader.grading.score import Graded, score_and_report
from grader.grading.submission import CourseFiles, OpenSubmission, Request, open_submission
from grader.model.evidence import NO_SANDBOX
from grader.model.job import Job, Task


@dataclass(slots=True, kw_only=True)
class _Run:
    """A submission that is being observed."""

    number: int
    """The place of its request."""
    submission: OpenSubmission
    closing: ExitStack
    """Gives its results folder back."""
    parts: deque[Part]
    """Those that are left; the first is the one that is being observed."""
    job: Job | None = None
    unseen: dict[str, Task]
    """Of the part that is being observed, the tasks without a record."""
    problem: str = ""
    """Why the part that ended last was cut short."""


class Grading:
    """Grades submissions with the workers of one session."""

    def __init__(self, files: CourseFiles, session: Session, *, several: bool, gpus: int) -> None:
        """`several` says whether submissions are graded side by side; `gpus` is how many the machine has."""
        self._files = files
        self._plugins = files.plugins
        self._session = session
        self._several = several
        self._gpus = gpus
        self._runs: dict[str, _Run] = {}
        """By the key of the order that is open."""
        self._results: deque[tuple[int, Graded | Exception]] = deque()

    def grade(self, requests: Sequence[Request]) -> Generator[tuple[int, Graded | Exception], None, None]:
        """Grade submissions, of which no two are of one student in one assignment.

        Yields, in the order in which they end, the place of each request and its score, or why there is none.
        """
        pending = deque(enumerate(requests))
        try:
            while pending or self._runs:
                while pending and self._session.wants():
                    self._begin(*pending.popleft())
                    yield from self._take_results()
                if event := self._session.event():
                    self._handle(event)
                else:
                    self._give_up()
                yield from self._take_results()
        finally:
            for run in self._runs.values():
                run.closing.close()
            self._runs.clear()

    def _give_up(self) -> None:
        """Score what the engine has not ended and tells nothing of any more."""
        for run in tuple(self._runs.values()):
            run.problem = "the engine ended without a word of it; run again"
            run.parts.clear()
            self._finish(run)
        self._runs.clear()

    def _take_results(self) -> Generator[tuple[int, Graded | Exception], None, None]:
        while self._results:
            yield self._results.popleft()

    def _begin(self, number: int, request: Request) -> None:
        """Open a submission and order its first part; one with nothing to observe is scored at once."""
        with ExitStack() as resources:
            try:
                submission = resources.enter_context(open_submission(request, self._files))
                kinds = self._plugins.checks
                limits = self._plugins.assignments[submission.submission.assignment].limits
                tasks = submission.remaining(kinds)
                parts = plan(tasks, kinds, limits, gpus=self._gpus, divided=self._several)
                if not parts:
                    _record_submission(submission)
            except Exception as error:
                self._results.append((number, error))
                return
            run = _Run(
                number=number,
                submission=submission,
                closing=resources.pop_all(),
                parts=deque(parts),
                unseen={},
            )
            self._go_on(run)

    def _go_on(self, run: _Run) -> None:
        """Order the next part of a submission, or score it if there is none."""
        if not run.parts:
            self._finish(run)
            return
        part = run.parts[0]
        submission = run.submission
        # what a part that was cut short has left, the next one observes
        tasks = (*run.unseen.values(), *part.tasks)
        run.unseen = {task.item: task for task in tasks}
        run.job = self._job(submission, tasks)
        order = Order(
            key=run.job.id,
            job=run.job,
            outbox=submission.results.folder,
            exclusive=part.exclusive,
            cores=part.cores,
        )
        self._runs[order.key] = run
        self._plugins.exam_started(submission.submission, len(tasks))
        self._session.submit(order)

    def _job(self, submission: OpenSubmission, tasks: tuple[Task, ...]) -> Job:
        name = submission.submission.assignment
        assignment = self._plugins.assignments[name]
        return Job(
            id=os.urandom(8).hex(),
            submission=submission.submission,
            course=str(self._files.course.folder),
            assignment_folder=str(self._plugins.assignment_folders[name]),
            workspace=str(submission.results.workspace.absolute()),
            tasks=tasks,
            passed=submission.passed(self._plugins.checks),
            preloads=assignment.preloads,
            requires=assignment.requires,
            limits=assignment.limits,
            build=assignment.build,
            seed=os.urandom(16).hex(),
            min_isolation=submission.least_isolation,
        )

    def _handle(self, event: Event) -> None:
        run = self._runs[event.order.key]
        if isinstance(event, Records):
            try:
                for line in event.lines:
                    self._add_record(run, line)
            except NotObservedError as error:
                run.problem = str(error)
        elif isinstance(event, Ended):
            del self._runs[event.order.key]
            run.problem = event.problem or run.problem
            if not run.problem and run.unseen:  # whatever the engine thinks of how it went
                items = ", ".join(sorted(run.unseen))
                path = run.submission.results.evidence
                run.problem = f"{path}: the exam ended without a record of {items}; run again"
            run.parts.popleft()
            self._go_on(run)
        else:
            self._plugins.waits(run.submission.submission, event.message)

    def _add_record(self, run: _Run, line: bytes) -> None:
        submission = run.submission
        record = decode_record(line, where=show_path(submission.results.evidence))
        submission.stored.add(record)
        if isinstance(record, ItemObserved):
            item = record.observation.item
            run.unseen.pop(item, None)
            submission.tried.add(item)
            title = next(entry.title for entry in submission.rubric.items if entry.id == item)
            self._plugins.observed(record.observation, title)

    def _finish(self, run: _Run) -> None:
        """Score a submission, write its reports and close it."""
        result: Graded | Exception
        with run.closing:
            try:
                _require_sandbox(run)
                result = score_and_report(run.submission, self._files, run.problem)
            except Exception as error:
                result = error
        self._results.append((run.number, result))


def _record_submission(submission: OpenSubmission) -> None:
    """Write down whose submission the folder holds now, and when it was handed in, if that is new."""
    last = submission.stored.last
    if last is None or last.submission != submission.submission:
        record = SubmissionReceived(submission=submission.submission)
        with EvidenceWriter(submission.results.evidence) as records:
            records.write(record)
        submission.stored.add(record)


def _require_sandbox(run: _Run) -> None:
    """Check that something could be run.

    Raises:
        NotObservedError: no sandbox that may be used works on that machine.
    """
    evidence = run.submission.stored.of(run.submission.submission.digest)
    exam = evidence.exams[-1] if evidence and evidence.exams else None
    if exam is None or run.job is None or exam.id != run.job.id or exam.isolation != NO_SANDBOX:
        return
    error = exam.environment.get("sandbox_error", "no sandbox works on this machine")
    least = run.job.min_isolation
    anyway = "--min-isolation process, or min_isolation of course.yaml, runs it without any"
    demand = f"{least} or stronger is demanded" if least else anyway
    raise NotObservedError(f"nothing was run: {error}; see grader doctor ({demand})")
