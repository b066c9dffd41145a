"""One submission from its archive to its mark: read it top to bottom.

    archive -> receive -> observe -> score -> report

Observing happens in other processes: an executor starts the examiner, which starts the student's program in a
sandbox. What comes back is evidence, and everything after it is arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from grader.config.course import Course
from grader.config.rubric import load_rubric
from grader.errors import ExitCode, worst
from grader.exams import Received, Request, check, observe
from grader.intake.receive import receive
from grader.model.evidence import Evidence
from grader.model.observation import Fault
from grader.model.rubric import Rubric
from grader.model.score import Scorecard, Standing
from grader.model.submission import Submission
from grader.model.view import View
from grader.plugins import Plugins
from grader.results import FEEDBACK, Results, incoming
from grader.scoring.redact import closes, staff_view, student_view
from grader.scoring.score import score

EXIT_CODES = {
    Fault.COURSE: ExitCode.COURSE,
    Fault.MACHINE: ExitCode.NOT_OBSERVED,
    Fault.GRADER: ExitCode.BUG,
}


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
        UsageError: there is no such archive, assignment, rubric, item, executor or sandbox.
        NotObservedError: the results folder cannot be used.
    """
    with received(request, course, plugins) as hand_in:
        return marked(request, course, plugins, hand_in)


def marked(request: Request, course: Course, plugins: Plugins, hand_in: Received) -> Graded:
    """The mark of a received hand-in: observe what was not observed yet, score, report."""
    rubric, results = hand_in.rubric, hand_in.results
    evidence, trouble = observe(request, course, plugins, hand_in)
    extensions, zone = course.extensions_of(rubric.assignment), course.zone
    scorecard = score(rubric, evidence, plugins.checks, extensions=extensions, zone=zone)
    reports = _write(staff_view(rubric, evidence, scorecard), plugins, results)
    known = student_view(
        rubric,
        evidence,
        scorecard,
        now=datetime.now(UTC),
        published=request.published,
        closes=closes(rubric, extensions, zone),
    )
    _write(known, plugins, results, FEEDBACK)
    if not (request.one_of_several and rubric.attempts == "best"):
        plugins.graded(evidence.submission, evidence, scorecard)
    return Graded(
        submission=evidence.submission,
        rubric=rubric,
        evidence=evidence,
        scorecard=scorecard,
        results=results,
        reports=reports,
        trouble=trouble,
    )


@contextmanager
def received(request: Request, course: Course, plugins: Plugins) -> Iterator[Received]:
    """One hand-in in its results folder, which is ours meanwhile.

    Raises:
        SubmissionError, CourseError, UsageError, NotObservedError: as `grade` does.
    """
    with incoming(request.out) as workspace:
        submission = receive(
            request.archive,
            assignments=plugins.assignments,
            workspace=workspace,
            student=request.student,
            assignment=request.assignment,
            roster=course.roster.by_id,
        )
        if request.submitted_at is not None:
            submission = replace(submission, submitted_at=request.submitted_at)
        rubric = load_rubric(
            course.rubric_for(submission.assignment, request.rubric),
            kinds=plugins.checks,
            assignments=plugins.assignment_folders,
        )
        check(request, course, plugins, rubric)  # before anything of an earlier run is touched
        results = Results(request.out / submission.assignment / submission.student)
        with results.locked():
            results.adopt(workspace)
            yield Received(submission=submission, rubric=rubric, results=results)


def _write(view: View, plugins: Plugins, results: Results, place: str = "") -> tuple[Path, ...]:
    """A file in every format, of what one audience may know."""
    return tuple(
        results.write(place + report.filename, report.render(view)) for report in plugins.reports.values()
    )
