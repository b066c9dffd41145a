"""The host's side of an exam: what is left to observe, who observes it, and what came of it."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from pathlib import Path

from grader.config.codec import dumps
from grader.config.course import FILE as COURSE_FILE
from grader.config.course import Course
from grader.config.evidence_file import (
    EvidenceReader,
    EvidenceWriter,
    ItemObserved,
    SubmissionReceived,
    read_evidence,
    read_hand_ins,
)
from grader.config.points_file import with_points
from grader.errors import CourseError, NotObservedError, UsageError
from grader.intake.hand_in import HandIn
from grader.jobs import cores_of, holding, left_to_do, tasks_of, wanted_items, wanting_quiet
from grader.model.evidence import NO_SANDBOX, Evidence, Exam
from grader.model.job import Job, Task
from grader.model.rubric import Rubric
from grader.model.submission import Submission
from grader.plugins import Plugins
from grader.results import JOB, Results
from grader.scoring.score import lasting


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What `grader run` was asked to do with one hand-in."""

    archive: HandIn
    out: Path
    student: str | None = None
    assignment: str | None = None
    rubric: str | None = None
    items: tuple[str, ...] = ()
    """Patterns of item ids; none means all."""
    fresh: bool = False
    """Observe again what was observed before."""
    executor: str = "local"
    min_isolation: str = ""
    """The weakest sandbox to use, where the course does not demand a stronger one."""
    submitted_at: datetime | None = None
    """When it was handed in; None if nobody says."""
    published: bool = False
    """Whether students may see what is shown once marks are published."""
    one_of_several: bool = False
    """Whether it is an attempt beside others: where the best counts, nobody hears of its mark yet."""
    gpus: int = 0
    """How many there are for this and other exams together, if they go on side by side."""
    cores: tuple[int, ...] = ()
    """Those that its timed items may lease; empty for all that we may use."""
    stage: Path | None = None
    """A folder in which hand-ins may be put that one examiner looks at after the other."""
    looked_at: frozenset[str] = frozenset()
    """Items that an exam of this run has looked at: what it simulated, or could not decide, the next one need
    not look at again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One hand-in in its results folder, and the rubric that marks it."""

    submission: Submission
    rubric: Rubric
    results: Results


def check(request: Request, course: Course, plugins: Plugins, rubric: Rubric) -> None:
    """Whether what is asked for can be.

    Raises:
        CourseError: the course demands a sandbox that does not exist.
        UsageError: the request names an item or a sandbox that does not exist.
    """
    wanted_items(request.items, rubric.items)
    _least_isolation(request, course, plugins)


def observe(request: Request, course: Course, plugins: Plugins, received: Received) -> tuple[Evidence, str]:
    """The evidence of a submission: what earlier exams left and still holds, and what this one adds.

    The second value says why the exam was cut short, if it was; what it had observed is among the evidence.

    Raises:
        CourseError, UsageError: as `check` does.
        NotObservedError: no sandbox that may be used works here, so nothing was run.
    """
    prepared = _prepared(request, course, plugins, received)
    rubric, results = received.rubric, received.results
    job, submission = prepared.job, prepared.job.submission
    trouble = ""
    if job.tasks:
        trouble = _examine(job, plugins, rubric, results, request.executor)
    elif prepared.last is None or prepared.last.submission != submission:
        with EvidenceWriter(results.evidence) as records:  # whose hand-in it is that people judge, and when
            records.write(SubmissionReceived(submission=submission))
    evidence = read_evidence(results.evidence)
    exams = evidence.exams if evidence else ()
    if exams and exams[-1].id == job.id and exams[-1].isolation == NO_SANDBOX:
        raise NotObservedError(_refusal(exams[-1], job.min_isolation))
    observations = with_points(results.folder, submission, prepared.tasks, holding(evidence, prepared.tasks))
    return Evidence(submission=submission, exams=exams, observations=observations), trouble


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """What is left of a hand-in that must not go on beside other exams."""

    request: Request
    """For the exam that observes it."""
    cores: int
    """How many it wants; 0 if it only wants GPUs."""


def observe_untimed(request: Request, course: Course, plugins: Plugins, received: Received) -> Rest | None:
    """Observe what can go on beside other exams, if something else is left that cannot.

    What cuts this exam short cuts the next one short as well, which says so.

    Returns what is left; None if nothing of the kind is, and then nothing was observed.

    Raises:
        CourseError, UsageError: as `check` does.
    """
    job = _prepared(request, course, plugins, received).job
    alone = wanting_quiet(job.tasks, plugins.checks, gpus=request.gpus)
    if not alone:
        return None
    beside = tuple(task for task in job.tasks if task.item not in alone)
    if beside and not request.fresh:  # the next exam would do it again
        _examine(replace(job, tasks=beside), plugins, received.rubric, received.results, request.executor)
        request = replace(request, looked_at=frozenset(task.item for task in beside))
    return Rest(request=request, cores=cores_of(job, plugins.checks, gpus=request.gpus))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prepared:
    """What there is to do, and what earlier exams left."""

    job: Job
    tasks: tuple[Task, ...]
    """All of them, also what is done."""
    last: Evidence | None
    """Of the hand-in that was examined last."""


def _prepared(request: Request, course: Course, plugins: Plugins, received: Received) -> _Prepared:
    submission, rubric, results = received.submission, received.rubric, received.results
    assignment = plugins.assignments[submission.assignment]
    folder = plugins.assignment_folders[submission.assignment]
    tasks = tasks_of(rubric, submission, assignment, folder, plugins.checks)
    hand_ins = read_hand_ins(results.evidence)
    stored, last = hand_ins.get(submission.digest), next(reversed(hand_ins.values()), None)
    if stored and submission.submitted_at is None:
        submission = replace(
            submission, submitted_at=stored.submission.submitted_at
        )  # said at an earlier run
    earlier = with_points(results.folder, submission, tasks, {} if request.fresh else holding(stored, tasks))
    judged = lasting(rubric.items, earlier, plugins.checks, looked_at=request.looked_at)
    job = Job(
        id=os.urandom(8).hex(),
        submission=submission,
        course=str(course.folder),
        assignment_folder=str(folder),
        workspace=str(results.workspace.absolute()),
        tasks=left_to_do(tasks, earlier, judged, wanted_items(request.items, rubric.items)),
        passed=judged,
        preloads=assignment.preloads,
        requires=assignment.requires,
        limits=assignment.limits,
        build=assignment.build,
        seed=os.urandom(16).hex(),
        min_isolation=_least_isolation(request, course, plugins),
        cores=request.cores,
        stage=str(request.stage.absolute()) if request.stage else "",
    )
    return _Prepared(job=job, tasks=tasks, last=last)


def _examine(job: Job, plugins: Plugins, rubric: Rubric, results: Results, executor: str) -> str:
    """Have the job done and tell of each observation as it comes; why it was cut short, if it was."""
    titles = {item.id: item.title for item in rubric.items}
    unseen = {task.item for task in job.tasks}
    evidence = EvidenceReader(results.evidence)
    evidence.read()
    job_file = results.folder / JOB
    try:
        results.write(JOB, dumps(job))
        plugins.exam_started(job.submission, len(job.tasks))
        log = plugins.executors[executor].execute(job_file, results.folder)
        for _ in chain(log, ["the end"]):  # a log may come late: what it did not announce is read in the end
            for record in evidence.read():
                if isinstance(record, ItemObserved):
                    unseen.discard(record.observation.item)
                    plugins.observed(record.observation, titles[record.observation.item])
    except NotObservedError as error:
        return "; ".join(error.problems)
    finally:
        job_file.unlink(missing_ok=True)  # it holds the seed of what is not observed yet
    if unseen:  # whatever the executor thinks of how it went
        return (
            f"{results.evidence}: the exam ended without a record of {', '.join(sorted(unseen))}; run again"
        )
    return ""


def _refusal(exam: Exam, least: str) -> str:
    """Why nothing was run, and what to do: one line."""
    error = exam.environment.get("sandbox_error", "no sandbox works on this machine")
    anyway = "--min-isolation process, or min_isolation of course.yaml, runs it without any"
    demand = f"{least} or stronger is demanded" if least else anyway
    return f"nothing was run: {error}; see grader doctor ({demand})"


def _least_isolation(request: Request, course: Course, plugins: Plugins) -> str:
    """The stronger of what the course and this request demand; empty if neither demands anything."""
    if not (course.min_isolation or request.min_isolation):
        return ""
    strengths = {sandbox.name: sandbox.strength for sandbox in plugins.sandboxes} | {"": -1}
    layers = ", ".join(filter(None, strengths))
    if course.min_isolation not in strengths:
        raise CourseError(
            f"{course.folder / COURSE_FILE}: min_isolation: there is no layer {course.min_isolation!r}; "
            f"write one of {layers}"
        )
    if request.min_isolation not in strengths:
        raise UsageError(
            f"--min-isolation {request.min_isolation}: there is no such layer; give one of {layers}"
        )
    return max(course.min_isolation, request.min_isolation, key=strengths.__getitem__)
