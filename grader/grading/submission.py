"""Opens a submission once: its files, its results folder, its rubric, and what was observed of it before."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from grader.config.course import FILE as COURSE_FILE
from grader.config.course import Course
from grader.config.evidence_file import EvidenceWriter, StoredEvidence, read_stored
from grader.config.facts import files_imported
from grader.config.points_file import PointsGiven, append_missing, with_points
from grader.config.rubric import load_rubric
from grader.contracts.check import CheckKind
from grader.contracts.sandbox import Sandbox
from grader.errors import CourseError, SubmissionError, UsageError
from grader.grading.declaration import argument_places, refusals, unfit_accepts
from grader.grading.results import Results, incoming
from grader.grading.rubric_of_class import items_in, require_rubric_of, rubric_in
from grader.grading.tasks import left_to_do, still_valid, task_maker, wanted_items, with_skipped
from grader.intake.receive import receive
from grader.intake.upload import Upload
from grader.model.job import Job, Task
from grader.model.observation import Observation
from grader.model.rubric import Rubric
from grader.model.submission import Submission
from grader.plugins import Plugins
from grader.scoring.judge import lasting


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One archive to grade, and what is known of it beside its files."""

    archive: Upload
    out: Path
    student: str | None = None
    assignment: str | None = None
    rubric: str | None = None
    items: tuple[str, ...] = ()
    """Patterns of item ids; none means all."""
    without: frozenset[str] = frozenset()
    """Items that are not observed, even where others use them."""
    fresh: bool = False
    """Observe again what was observed before."""
    min_isolation: str = ""
    """The weakest sandbox to use, where the course does not demand a stronger one."""
    submitted_at: datetime | None = None
    """When it was handed in; None if nobody says."""
    in_future: bool = False
    """Whether that time has not come yet."""
    published: bool = False
    """Whether students may see what is shown once grades are published."""
    one_of_several: bool = False
    """Whether it is an attempt beside others: where the best counts, nobody hears of its grade yet."""
    chosen: str = ""
    """Why it counts and not another upload; where the best counts, that is known once all are graded."""
    earlier: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By assignment, other uploads of the same student that this command has graded."""
    in_order: bool = False
    """Whether the times of submission say that those were handed in before it."""
    followed: bool = False
    """Whether uploads of the same student may come after it, one of which counts in its place."""


class Recorded(Protocol):
    """Knowledge that is in a gradebook and may be missing in a results folder."""

    def published(self, assignment: str) -> bool:
        """Tell whether the grades of an assignment are published."""

    def points_of(self, submission: Submission) -> float:
        """Return the points of the current grade if it is of these files; otherwise 0."""

    def submitted_at(self, submission: Submission) -> datetime | None:
        """Return when these files were handed in, as far as anybody said."""

    def points_given(self, submission: Submission) -> Sequence[PointsGiven]:
        """Return the points that people gave for these files, the oldest first."""


class CourseFiles:
    """A course and its plugins; rubrics and tasks are read once for all submissions of a command."""

    def __init__(self, course: Course, plugins: Plugins, *, recorded: Recorded | None = None) -> None:
        """Take what a gradebook has of submissions, if there is one."""
        self.course = course
        self.plugins = plugins
        self.recorded = recorded
        self._load = cache(
            lambda path: load_rubric(
                path,
                kinds=plugins.checks,
                assignments=plugins.assignment_folders,
                declared=plugins.assignments,
            )
        )
        self._needed: dict[str, Mapping[str, tuple[str, ...]]] = {}
        self._makers: dict[str, Callable[[str], tuple[Task, ...]]] = {}

    def published(self, assignment: str) -> bool:
        """Tell whether the grades of an assignment are published, as far as a gradebook says so."""
        return self.recorded is not None and self.recorded.published(assignment)

    def rubric(self, assignment: str, name: str | None) -> Rubric:
        """The rubric of this name or file, or else that of the assignment.

        Raises:
            CourseError, UsageError: it is wrong, or not there.
        """
        return self.read_rubric(self.course.rubric_for(assignment, name), assignment)

    def assignment_of(self, name: str) -> str:
        """Return the assignment that the rubric of this name or file grades.

        Raises:
            CourseError, UsageError: it is wrong, or not there.
        """
        return self._load(self.course.rubric_for("", name)).assignment

    def read_rubric(self, path: Path, assignment: str) -> Rubric:
        """The rubric in this file, which must grade the assignment.

        Raises:
            CourseError, UsageError: it is wrong, or grades another one.
        """
        rubric: Rubric = self._load(path)
        require_rubric_of(assignment, rubric, path)
        return rubric

    def tasks(self, rubric: Rubric, submission: Submission) -> tuple[Task, ...]:
        """The tasks of a submission."""
        maker = self._makers.get(rubric.digest)
        if maker is None:
            name = submission.assignment
            assignment, folder = self.plugins.assignments[name], self.plugins.assignment_folders[name]
            maker = self._makers[rubric.digest] = task_maker(rubric, assignment, folder, self.plugins.checks)
        return maker(submission.digest)

    def job(
        self,
        submission: Submission,
        tasks: tuple[Task, ...],
        workspace: Path,
        *,
        passed: Mapping[str, bool],
        min_isolation: str,
        **of_run: Any,
    ) -> Job:
        """Return a job with these tasks; `of_run` are further fields of it."""
        assignment = self.plugins.assignments[submission.assignment]
        return Job(
            id=os.urandom(8).hex(),
            submission=submission,
            course=str(self.course.folder),
            assignment_folder=str(self.plugins.assignment_folders[submission.assignment]),
            workspace=str(workspace.absolute()),
            tasks=tasks,
            passed=passed,
            preloads=assignment.preloads,
            accepts=assignment.accepts,
            requires=self._needed_files(submission.assignment),
            limits=assignment.limits,
            build=assignment.build,
            seed=os.urandom(16).hex(),
            min_isolation=min_isolation,
            **of_run,
        )

    def _needed_files(self, assignment: str) -> Mapping[str, tuple[str, ...]]:
        """Return the submitted files that files of the course need: declared, or else as they import them.

        Raises:
            CourseError: the declaration of the assignment fits no submission or no program.
        """
        if assignment not in self._needed:
            declared = self.plugins.assignments[assignment]
            folder = self.plugins.assignment_folders[assignment]
            if lines := self._refused(assignment):
                raise CourseError(*lines)
            imported = files_imported(folder, declared)
            self._needed[assignment] = {**imported, **declared.requires}
        return self._needed[assignment]

    def require_patterns(self, assignment: str | None) -> None:
        """Refuse patterns that let in nothing, in an assignment or in any: every submission lacks a file.

        Raises:
            CourseError: with a line for each.
        """
        names = self.plugins.assignments if assignment is None else (assignment,)
        if lines := [line for name in names for line in self._refused(name, let_in_nothing=True)]:
            raise CourseError(*lines)

    def _refused(self, assignment: str, *, let_in_nothing: bool = False) -> list[str]:
        """Return the mistakes of a declaration that nothing can be graded with, or that let in nothing."""
        folder = self.plugins.assignment_folders[assignment]
        declared = self.plugins.assignments[assignment]
        mistakes = [*refusals(declared, folder)]
        if let_in_nothing:
            mistakes = [mistake for mistake in mistakes if mistake[0] == "accepts"]
            mistakes += [("accepts", message)] if (message := unfit_accepts(declared, folder)) else []
        if not mistakes:
            return []
        place_of = argument_places(folder / "assignment.py", assignment)
        return [f"{place_of(field)}: {field}: {message}" for field, message in mistakes]

    def least_isolation(self, request: Request) -> str:
        """The stronger of what the course and a request demand; empty if neither demands anything.

        Raises:
            CourseError, UsageError: there is no such layer.
        """
        course = self.course
        if not (course.min_isolation or request.min_isolation):
            return ""
        strengths = {sandbox.name: sandbox.strength for sandbox in self.plugins.sandboxes} | {"": -1}
        layers = ", ".join(filter(None, strengths))
        if message := layer_objection(course.min_isolation, self.plugins.sandboxes):
            raise CourseError(f"{course.folder / COURSE_FILE}: min_isolation: {message}")
        if request.min_isolation not in strengths:
            raise UsageError(
                f"--min-isolation {request.min_isolation}: there is no such layer; give one of {layers}"
            )
        return max(course.min_isolation, request.min_isolation, key=strengths.__getitem__)


def layer_objection(name: str, sandboxes: Sequence[Sandbox]) -> str:
    """Return an error message if `min_isolation` names a layer that is not there; otherwise empty."""
    layers = [sandbox.name for sandbox in sandboxes]
    if not name or name in layers:
        return ""
    return f"there is no layer {name!r}; write one of {', '.join(layers)}"


@dataclass(slots=True, kw_only=True)
class OpenSubmission:
    """A submission in its results folder, which is locked meanwhile."""

    request: Request
    submission: Submission
    rubric: Rubric
    results: Results
    tasks: tuple[Task, ...]
    """All of them, also those that are done; each after what it needs."""
    stored: StoredEvidence
    """What the evidence file holds; new records are added as they come."""
    least_isolation: str
    titles: Mapping[str, str]
    """By item."""
    graded_by: str
    """The name of the rubric that the score in the results folder is by; empty without one."""
    items_before: tuple[str, ...] = ()
    """Ids of the items of that score."""
    time_before: datetime | None = None
    """When these files were handed in, as known before this command."""
    tried: set[str] = field(default_factory=set)
    """Items that were observed by this command: simulated or undecided ones are not tried again."""

    def observations(self, *, of_this_command: bool = False) -> dict[str, Observation]:
        """Return the valid observations by item, with the points that people gave."""
        valid = still_valid(self.stored.of(self.submission.digest), self.tasks)
        if of_this_command:
            valid = {item: observation for item, observation in valid.items() if item in self.tried}
        return with_points(self.results.folder, self.submission, self.tasks, valid)

    def passed(self, kinds: Mapping[str, CheckKind]) -> dict[str, bool]:
        """Return {item: passed} for items that need not be observed again."""
        earlier = self.observations(of_this_command=self.request.fresh)
        passed = lasting(self.rubric.items, earlier, kinds, looked_at=self.tried)
        return with_skipped(self.tasks, earlier, passed)

    def used_by(self, tasks: Sequence[Task]) -> dict[str, Observation]:
        """Return the observations that these tasks use, of items that are not among them."""
        names = {name for task in tasks for name in task.uses} - {task.item for task in tasks}
        observations = self.observations() if names else {}
        return {name: observations[name] for name in names & observations.keys()}

    def remaining(self, kinds: Mapping[str, CheckKind]) -> tuple[Task, ...]:
        """The tasks that the request asks for and that are not done."""
        chosen = wanted_items(self.request.items, self.rubric.items) - self.request.without
        return left_to_do(self.tasks, self.passed(kinds), chosen)


GRADED_LAST = "graded last"
"""Begins why an upload counts, where nothing gives an order in time."""


def _chosen(request: Request, assignment: str, rubric: Rubric) -> str:
    """Return why an upload counts; empty if it is the only one, or nobody knows yet."""
    if request.one_of_several and rubric.attempts == "best":
        return ""
    earlier = request.earlier.get(assignment, ())
    if not earlier:
        return request.chosen
    which = "the latest" if request.in_order else GRADED_LAST
    last = f"{which} of {len(earlier) + 1} uploads, after {', '.join(earlier)}"
    return f"{request.chosen}; {last}" if request.chosen else last


@contextmanager
def open_submission(request: Request, files: CourseFiles) -> Iterator[OpenSubmission]:
    """Unpack an archive into its results folder, and lock that.

    Raises:
        SubmissionError: the archive is not accepted.
        CourseError: the rubric or the assignment is wrong, or demands a sandbox that does not exist.
        UsageError: there is no such archive, assignment, rubric, item or sandbox.
        NotObservedError: the results folder cannot be used.
    """
    plugins = files.plugins
    with incoming(request.out) as workspace:
        try:
            submission = receive(
                request.archive,
                assignments=plugins.assignments,
                workspace=workspace,
                student=request.student,
                assignment=request.assignment,
                preferred=files.assignment_of(request.rubric) if request.rubric else "",
                roster=files.course.roster,
            )
        except SubmissionError:
            files.require_patterns(request.assignment)
            raise
        if request.submitted_at is not None:
            in_future = request.in_future
            submission = replace(submission, submitted_at=request.submitted_at, in_future=in_future)
        rubric = files.rubric(submission.assignment, request.rubric)
        wanted_items(request.items, rubric.items)  # before anything of an earlier run is touched
        submission = replace(submission, chosen=_chosen(request, submission.assignment, rubric))
        least_isolation = files.least_isolation(request)
        results = Results(request.out / submission.assignment / submission.student)
        with results.locked():
            if results.evidence.exists():
                EvidenceWriter(results.evidence).close()  # the workers of a host that was killed have ended
            results.adopt(workspace)
            stored = read_stored(results.evidence)
            earlier = stored.of(submission.digest)
            time_before = earlier.submission.submitted_at if earlier else None
            if earlier and submission.submitted_at is None:  # an earlier run was told the time
                before = earlier.submission
                submission = replace(submission, submitted_at=before.submitted_at, in_future=before.in_future)
            if files.recorded is not None:  # it may have been graded in another results folder
                append_missing(results.folder, files.recorded.points_given(submission))
                time_before = files.recorded.submitted_at(submission) or time_before
                submission = replace(submission, submitted_at=submission.submitted_at or time_before)
            yield OpenSubmission(
                request=request,
                submission=submission,
                rubric=rubric,
                results=results,
                tasks=files.tasks(rubric, submission),
                stored=stored,
                least_isolation=least_isolation,
                graded_by=rubric_in(results.folder),
                items_before=items_in(results.folder),
                time_before=time_before,
                titles={item.id: item.title for item in rubric.items},
            )
