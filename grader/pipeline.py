"""One submission from its archive to its mark: read it top to bottom.

    archive -> receive -> observe -> score -> report

Observing happens in other processes: an executor starts the examiner, which starts the student's program in a
sandbox. What comes back is evidence, and everything after it is arithmetic.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path

from grader.config.codec import dumps
from grader.config.course import Course
from grader.config.evidence_file import EvidenceReader, ItemObserved, read_evidence
from grader.config.rubric import load_rubric
from grader.errors import CourseError, ExitCode, NotObservedError, UsageError, worst
from grader.intake.receive import receive
from grader.jobs import REPEATED, holding, left_to_do, tasks_of
from grader.model.evidence import Evidence
from grader.model.job import Job
from grader.model.observation import Fault
from grader.model.rubric import Rubric
from grader.model.score import Scorecard, Standing
from grader.model.submission import Submission
from grader.plugins import Plugins
from grader.results import JOB, Results, incoming
from grader.scoring.score import passed, score

EXIT_CODES = {
    Fault.COURSE: ExitCode.COURSE,
    Fault.MACHINE: ExitCode.NOT_OBSERVED,
    Fault.GRADER: ExitCode.BUG,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What `grader run` was asked to do with one archive."""

    archive: Path
    out: Path
    student: str | None = None
    assignment: str | None = None
    rubric: str | None = None
    items: tuple[str, ...] = ()
    """Patterns of item ids; none means all."""
    fresh: bool = False
    """Observe again what was observed before."""
    executor: str = "local"


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """One submission's mark and where its files are."""

    submission: Submission
    rubric: Rubric
    evidence: Evidence
    scorecard: Scorecard
    results: Results
    reports: tuple[Path, ...]
    trouble: str = ""
    """Why the exam was cut short, if it was."""

    @property
    def exit_code(self) -> ExitCode:
        """GRADED, also if points are open; otherwise whose fault it is that something was not observed."""
        faults = [seen.fault for seen in self.evidence.observations.values() if seen.fault is not None]
        codes = [EXIT_CODES[fault] for fault in faults]
        return worst([*codes, ExitCode.NOT_OBSERVED] if self.trouble else codes)

    @property
    def final(self) -> bool:
        """Whether no point is open any more."""
        return self.scorecard.standing is Standing.FINAL


def grade(request: Request, course: Course, plugins: Plugins) -> Graded:
    """Receive one archive, observe what was not observed yet, score it and write the reports.

    Raises:
        SubmissionError: the archive is not accepted.
        CourseError: the rubric or the assignment is wrong.
        UsageError: there is no such archive, assignment, rubric, item or executor.
        NotObservedError: the results folder cannot be used.
    """
    with incoming(request.out) as workspace:
        submission = receive(
            request.archive,
            assignments=plugins.assignments,
            workspace=workspace,
            student=request.student,
            assignment=request.assignment,
        )
        rubric = load_rubric(
            _rubric_path(course, request.rubric, submission.assignment),
            kinds=plugins.checks,
            assignments=plugins.assignment_folders,
        )
        results = Results(request.out / submission.assignment / submission.student)
        with results.locked():
            results.adopt(workspace)
            evidence, trouble = _observe(request, course, plugins, submission, rubric, results)
            scorecard = score(rubric, evidence, plugins.checks)
            reports = tuple(
                results.write(report.filename, report.render(rubric, evidence, scorecard))
                for report in plugins.reports.values()
            )
    plugins.graded(submission, evidence, scorecard)
    return Graded(
        submission=submission,
        rubric=rubric,
        evidence=evidence,
        scorecard=scorecard,
        results=results,
        reports=reports,
        trouble=trouble,
    )


def _observe(
    request: Request,
    course: Course,
    plugins: Plugins,
    submission: Submission,
    rubric: Rubric,
    results: Results,
) -> tuple[Evidence, str]:
    """The evidence of a submission: what earlier exams left and still holds, and what this one adds.

    The second value says why the exam was cut short, if it was; what it had observed is among the evidence.
    """
    assignment = plugins.assignments[submission.assignment]
    folder = plugins.assignment_folders[submission.assignment]
    tasks = tasks_of(rubric, submission, assignment, folder)
    earlier = {} if request.fresh else holding(read_evidence(results.evidence), tasks)
    job = Job(
        id=secrets.token_hex(8),
        submission=submission,
        course=str(course.folder),
        assignment_folder=str(folder),
        workspace=str(results.workspace.absolute()),
        tasks=left_to_do(tasks, earlier, rubric.items, request.items),
        passed={
            item.id: passed(item, earlier[item.id], plugins.checks, earlier)
            for item in rubric.items
            if item.id in earlier and earlier[item.id].outcome not in REPEATED
        },
        preloads=assignment.preloads,
        limits=assignment.limits,
        seed=secrets.token_hex(16),
        min_isolation=course.min_isolation,
    )
    trouble = _examine(job, plugins, rubric, results, request.executor) if job.tasks else ""
    evidence = read_evidence(results.evidence)
    exams = evidence.exams if evidence else ()
    return Evidence(submission=submission, exams=exams, observations=holding(evidence, tasks)), trouble


def _examine(job: Job, plugins: Plugins, rubric: Rubric, results: Results, executor: str) -> str:
    """Have the job done and tell of each observation as it comes; why it was cut short, if it was."""
    titles = {item.id: item.title for item in rubric.items}
    evidence = EvidenceReader(results.evidence)
    evidence.read()
    job_file = results.write(JOB, dumps(job))
    plugins.exam_started(job.submission, len(job.tasks))
    try:
        for _ in plugins.executors[executor].execute(job_file, results.folder):
            for record in evidence.read():
                if isinstance(record, ItemObserved):
                    plugins.observed(record.observation, titles[record.observation.item])
    except NotObservedError as error:
        return str(error)
    finally:
        job_file.unlink(missing_ok=True)  # it holds the seed of what is not observed yet
    return ""


def _rubric_path(course: Course, named: str | None, assignment: str) -> Path:
    """`--rubric`, a file or a name, or the rubric with the assignment's own name."""
    if named is None:
        path = course.rubric_path(assignment)
        if not path.is_file():
            raise CourseError(
                f"{path}: there is no rubric for {assignment}; write one, or name one by --rubric"
            )
        return path
    for path in (course.rubric_path(named), Path(named)):
        if path.is_file():
            return path
    known = ", ".join(path.stem for path in course.rubrics())
    raise UsageError(f"--rubric {named}: there is none of that name and no such file; there are {known}")
