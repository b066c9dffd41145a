"""Scores an observed submission and writes its reports."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from grader.config.points_file import read_points, remark_on_no_item
from grader.errors import ExitCode, OutdatedError, worst
from grader.files import host_folders
from grader.grading.results import FEEDBACK, Results
from grader.grading.submission import CourseFiles, OpenSubmission
from grader.model.evidence import Evidence
from grader.model.observation import Fault
from grader.model.rubric import Rubric
from grader.model.score import Scorecard, Standing
from grader.model.submission import Submission
from grader.model.view import AudienceView
from grader.plugins import Plugins
from grader.scoring.drawings import mistakes
from grader.scoring.redact import closes, staff_view, student_view
from grader.scoring.score import score

EXIT_CODES = {
    Fault.COURSE: ExitCode.COURSE,
    Fault.MACHINE: ExitCode.NOT_OBSERVED,
    Fault.BUSY: ExitCode.NOT_OBSERVED,
    Fault.GRADER: ExitCode.BUG,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """The score of one submission, and where its files are."""

    submission: Submission
    rubric: Rubric
    evidence: Evidence
    scorecard: Scorecard
    results: Results
    reports: tuple[Path, ...]
    trouble: str = ""
    """Why observing was cut short, if it was."""
    mistakes: tuple[str, ...] = ()
    """Lines on drawings that the course's or a plugin's kinds failed to draw."""
    ran: bool = True
    """Whether this command had anything to run for it."""
    collected: bool = False
    """Whether all that was to run had been run before this command began, elsewhere."""
    graded_by: str = ""
    """The name of the rubric that the earlier score in this folder was by; empty without one."""
    no_item: str = ""
    """A line on points by hand for ids that are no items of the rubric; empty without such."""
    time_before: datetime | None = None
    """When the same files were handed in, as known before this command; None if nobody said."""
    outdated: tuple[str, ...] = ()
    """Lines on a later run that the gradebook has; only if it is of the same files and this command ran
    nothing (`superseded`), or if another upload may follow."""
    superseded: bool = False
    """Whether a later run of the same files counts, and this command ran nothing that could have."""

    @property
    def exit_code(self) -> ExitCode:
        """GRADED, also if points are open; otherwise whose fault it is that something was not observed."""
        return worst(code for code, _ in self.causes)

    @property
    def causes(self) -> tuple[tuple[ExitCode, str], ...]:
        """Causes of the exit code, such as `gpu.speed: no GPU is here`, each with its code."""
        observations = self.evidence.observations.values()
        causes = tuple(
            (EXIT_CODES[each.fault], f"{each.item}: {each.note}") for each in observations if each.fault
        )
        return (*causes, (ExitCode.NOT_OBSERVED, "cut short, as told above")) if self.trouble else causes

    @property
    def final(self) -> bool:
        """Whether no point is open any more."""
        return self.scorecard.standing is Standing.FINAL


def score_and_report(submission: OpenSubmission, files: CourseFiles, trouble: str, *, ran: bool) -> Graded:
    """Score what was observed, write the reports of staff and student, and tell who listens.

    `ran` tells whether this command had anything to run for it.

    Raises:
        NotObservedError: a file cannot be written, or the points that people gave cannot be read.
    """
    request, rubric = submission.request, submission.rubric
    stored = submission.stored.of(submission.submission.digest)
    evidence = Evidence(
        submission=submission.submission,
        runs=stored.runs if stored else (),
        observations=submission.observations(),
    )
    graded = write_grade(evidence, rubric, submission.results, files, published=request.published)
    outdated: tuple[str, ...] = ()
    superseded = False
    if not (request.one_of_several and rubric.attempts == "best"):
        try:
            files.plugins.graded(graded.submission, evidence, graded.scorecard)
        except OutdatedError as error:
            superseded = error.same_files and not ran
            if not (request.followed or superseded):
                raise
            outdated = error.problems
    return replace(
        graded,
        trouble=trouble,
        ran=ran,
        graded_by=submission.graded_by,
        no_item=remark_on_no_item(
            read_points(submission.results.folder, submission.submission.digest),
            (item.id for item in rubric.items),
            submission.items_before,
        ),
        time_before=submission.time_before,
        outdated=outdated,
        superseded=superseded,
    )


def write_grade(
    evidence: Evidence, rubric: Rubric, results: Results, files: CourseFiles, *, published: bool
) -> Graded:
    """Score evidence and write the reports of staff and student.

    Raises:
        NotObservedError: a file cannot be written.
    """
    course, plugins = files.course, files.plugins
    published = published or files.published(rubric.assignment)
    extensions, zone = course.extensions_of(rubric.assignment), course.zone
    scorecard = score(rubric, evidence, plugins.checks, extensions=extensions, zone=zone)
    assignment = plugins.assignments.get(rubric.assignment)
    title = assignment.title if assignment else ""
    for_staff = staff_view(rubric, evidence, scorecard, kinds=plugins.checks)
    reports = _write(
        replace(for_staff, assignment_title=title, course_title=course.title, time_zone=zone),
        plugins,
        results,
    )
    for_student = student_view(
        rubric,
        evidence,
        scorecard,
        kinds=plugins.checks,
        now=datetime.now(UTC),
        published=published,
        closes=closes(rubric, extensions, zone),
        host_folders=host_folders(course.folder, results.folder.parent.parent),
    )
    _write(
        replace(for_student, assignment_title=title, course_title=course.title, time_zone=zone),
        plugins,
        results,
        FEEDBACK,
    )
    return Graded(
        submission=evidence.submission,
        rubric=rubric,
        evidence=evidence,
        scorecard=scorecard,
        results=results,
        reports=reports,
        mistakes=tuple(dict.fromkeys(mistakes(chain.from_iterable(for_staff.drawings.values())))),
    )


def _write(view: AudienceView, plugins: Plugins, results: Results, place: str = "") -> tuple[Path, ...]:
    """A file in every format, of what one audience may know."""
    return tuple(
        results.write(place + report.filename, report.render(view)) for report in plugins.reports.values()
    )
