"""One item of one submission observed again with the seed it had, for whoever doubts a score."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.config.codec import digest_bytes, dumps
from grader.config.evidence_file import EVIDENCE, EvidenceReader, ItemObserved, RunStarted, read_evidence
from grader.config.points_file import PointsGiven, read_points
from grader.config.problem import suggestion
from grader.contracts.engine import Ended, Order, Session
from grader.errors import NotObservedError, UsageError
from grader.files import show_path
from grader.grading.digests import course_digest
from grader.grading.results import WORKSPACE
from grader.grading.rubric_of_class import SCORE, rubric_again, rubrics_in
from grader.grading.tasks import with_gpu
from grader.intake.receive import receive
from grader.model.evidence import Evidence, WorkerRun
from grader.model.job import Job, Task
from grader.model.observation import NEEDS_GPU, Observation
from grader.model.rubric import MANUAL, Rubric
from grader.model.score import Line
from grader.scoring.judge import lasting
from grader.scoring.score import score

if TYPE_CHECKING:
    from grader.config.course import Course
    from grader.grading.submission import CourseFiles
    from grader.intake.upload import Upload
    from grader.plugins import Plugins

_MACHINE = ("grader", "python", "processor", "kernel")
"""Of a run's environment, what may explain another result."""
_GPUS = "gpus"
"""In an environment, devices of the run; missing where no item of it uses any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredScore:
    """A `score.json` with the evidence that lies beside it."""

    folder: Path
    evidence: Evidence
    run_of: Mapping[str, WorkerRun]
    """By item, the run that observed it last."""
    rubric: str
    """The digest of the rubric that the score was given by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One observation, and what it earns by the present rubric."""

    observation: Observation
    line: Line


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """Something that decides what is seen, as it was and as it is; empty where that is not known."""

    name: str
    then: str
    now: str

    @property
    def same(self) -> bool | None:
        """None if it cannot be told."""
        return self.then == self.now if self.then and self.now else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """An item seen twice."""

    item: str
    title: str
    seed: str
    """Empty if none was kept: what is drawn, if anything, was drawn anew."""
    facts: tuple[Fact, ...]
    then: Look
    now: Look
    given: PointsGiven | None = None
    """The points that a person gave for it, which the score has in place of those of `then`."""


def read_score(path: Path) -> StoredScore:
    """A score by its file, the student's copy of it, or the folder of results that it lies in.

    Raises:
        UsageError: there is no score, or it is not that of the evidence beside it.
        NotObservedError: the evidence is missing or cannot be read.
    """
    file = path / SCORE if path.is_dir() else path
    try:
        digests = json.loads(file.read_text(encoding="utf-8"))["digests"]
        of_submission, of_rubric = str(digests["submission"]), str(digests["rubric"])
    except OSError as error:
        if isinstance(error, FileNotFoundError) and file.name == SCORE and (file.parent / EVIDENCE).is_file():
            advice = "grader run of the archive writes it anew"
            raise UsageError(f"{show_path(file)}: is not there, and the evidence is; {advice}") from None
        teams = (folder.name for folder in path.parent.glob("*+*") if path.name in folder.name.split("+"))
        meant = next(teams, "")  # results of a team lie in one folder
        advice = (
            f"{path.name} is in team {meant}: name {show_path(path.parent / meant)}"
            if meant
            else f"name a {SCORE}"
        )
        raise UsageError(f"{show_path(file)}: cannot be read ({error.strerror}); {advice}") from None
    except (ValueError, TypeError, KeyError):
        raise UsageError(f"{show_path(file)}: is no score; name a {SCORE} of a results folder") from None
    folder = next((f for f in (file.parent, file.parent.parent) if (f / EVIDENCE).is_file()), file.parent)
    evidence = read_evidence(folder / EVIDENCE)
    if evidence is None:
        if not (folder / EVIDENCE).is_file():
            advice = "name the score in its results folder, or grade again if that was removed"
            raise NotObservedError(f"{show_path(file)}: has no {EVIDENCE} beside it; {advice}")
        raise NotObservedError(f"{show_path(folder / EVIDENCE)}: holds nothing; grade the archive again")
    if evidence.submission.digest != of_submission:
        raise UsageError(
            f"{show_path(file)}: is the score of another submission than the evidence beside it is of; "
            "name the score that lies there now"
        )
    return StoredScore(folder=folder, evidence=evidence, run_of=_runs(folder / EVIDENCE), rubric=of_rubric)


def replay(
    stored: StoredScore,
    item: str,
    files: CourseFiles,
    session: Session,
    *,
    place: Path,
    archive: Upload | None = None,
    rubric: str | None = None,
) -> Replay:
    """Observe an item again in `place`, an empty folder; the results folder stays as it is.

    The files are those that were kept, or those of `archive`. The rubric is the one of that name, or else
    the one that the score was given by, also if its file has changed.

    Raises:
        UsageError: the item, the rubric or the archive is not there.
        SubmissionError: the archive is not accepted.
        CourseError: the rubric or the assignment is wrong.
        NotObservedError: nothing could be observed.
    """
    course, plugins, evidence = files.course, files.plugins, stored.evidence
    assignment = evidence.submission.assignment
    loaded = files.read_rubric(_rubric_file(course, stored, rubric), assignment)
    titles = {entry.id: entry.title for entry in loaded.items}
    if item not in titles or item not in evidence.observations:
        if any(entry.id == item and entry.check == MANUAL for entry in loaded.items):
            raise UsageError(f"--item {item}: is judged by a person alone; nothing can be observed again")
        observed = [name for name in titles if name in evidence.observations]
        raise UsageError(f"--item {item}: was not observed under this name; {suggestion(item, observed)}")
    workspace = stored.folder / WORKSPACE
    if archive is None and not workspace.exists():
        raise UsageError(f"{show_path(workspace)}: is there no more; name what was handed in by --archive")
    submission = receive(
        workspace if archive is None else archive,
        assignments=plugins.assignments,
        workspace=place / WORKSPACE,
        student=evidence.submission.student,
        assignment=assignment,
    )
    tasks = {task.item: task for task in files.tasks(loaded, submission)}
    then = evidence.observations[item]
    others = (entry for entry in loaded.items if entry.id != item)
    passed = lasting(others, evidence.observations, plugins.checks)
    # what it needs is observed only where nothing is known of that
    needed = [task for name, task in tasks.items() if name in _needs(item, tasks) and name not in passed]
    job = files.job(
        submission,
        (*needed, tasks[item]),
        place / WORKSPACE,
        passed=passed,
        min_isolation=course.min_isolation,
        seeds={item: then.seed} if then.seed else {},
    )
    code = course_digest(plugins.assignment_folders[assignment])
    now, run = _observe_again(job, item, session, place)
    if NEEDS_GPU in now.facts:  # as in the run whose observation is there
        kinds = plugins.assignments[assignment].gpu_kinds
        on_gpu = with_gpu(job.tasks, {task.item for task in job.tasks if not task.devices}, kinds)
        now, run = _observe_again(replace(job, id=f"{job.id}g", tasks=on_gpu), item, session, place)
    return Replay(
        item=item,
        title=titles[item],
        seed=then.seed,
        facts=(
            Fact(name="submission", then=evidence.submission.digest, now=submission.digest),
            Fact(name="rubric", then=stored.rubric, now=loaded.digest),
            Fact(name="task", then=then.digest, now=tasks[item].digest),
            *surroundings(stored.run_of.get(item), run, code),
        ),
        given=read_points(stored.folder, evidence.submission.digest).get(item),
        then=_judged(then, loaded, evidence, course, plugins),
        now=_judged(now, loaded, evidence, course, plugins),
    )


def _rubric_file(course: Course, stored: StoredScore, named: str | None) -> Path:
    if named is None:
        for path in course.rubrics():
            if digest_bytes(path.read_bytes()) == stored.rubric:
                return path
    graded_by = rubrics_in([stored.folder])
    return rubric_again(course, stored.evidence.submission.assignment, named, graded_by, stored.folder)[0]


def _observe_again(job: Job, item: str, session: Session, place: Path) -> tuple[Observation, WorkerRun]:
    session.submit(Order(key=job.id, job=job, outbox=place))
    problem = ""
    while event := session.event():
        if isinstance(event, Ended):
            problem = event.problem
    if problem:
        raise NotObservedError(problem)
    evidence = read_evidence(place / EVIDENCE)
    if evidence is None or item not in evidence.observations:
        raise NotObservedError(f"{item}: the run ended without a record of it; try again")
    return evidence.observations[item], evidence.runs[-1]


def _needs(name: str, tasks: Mapping[str, Task]) -> frozenset[str]:
    """Return the items that an item needs, by way of others as well."""
    direct = frozenset(tasks[name].needs)
    return direct.union(*(_needs(other, tasks) for other in direct))


def _judged(
    observation: Observation, rubric: Rubric, evidence: Evidence, course: Course, plugins: Plugins
) -> Look:
    observations = {**evidence.observations, observation.item: observation}
    card = score(rubric, replace(evidence, observations=observations), plugins.checks, zone=course.zone)
    return Look(
        observation=observation, line=next(line for line in card.lines if line.item == observation.item)
    )


def surroundings(then: WorkerRun | None, now: WorkerRun, course: str) -> tuple[Fact, ...]:
    """Return what may explain another result: course code, sandbox, machine and, if it uses them, GPUs."""
    before: Mapping[str, Any] = then.environment if then else {}
    machine = (
        Fact(name=name, then=_spelled(before.get(name)), now=_spelled(now.environment.get(name)))
        for name in _MACHINE
    )
    gpus = [_gpus(environment.get(_GPUS)) for environment in (before, now.environment)]
    return (
        Fact(name="course code", then=then.course if then else "", now=course),
        Fact(name="sandbox", then=then.isolation if then else "", now=now.isolation),
        *(fact for fact in machine if fact.then or fact.now),
        *([Fact(name=_GPUS, then=gpus[0], now=gpus[1])] if _GPUS in now.environment else ()),
    )


def _gpus(gpus: Sequence[Any] | None) -> str:
    return dumps(gpus) if gpus else "none"


def _spelled(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else dumps(value)


def _runs(file: Path) -> dict[str, WorkerRun]:
    runs: dict[str, WorkerRun] = {}
    run_of: dict[str, WorkerRun] = {}
    for record in EvidenceReader(file).read():
        if isinstance(record, RunStarted):
            runs[record.run.id] = record.run
        elif isinstance(record, ItemObserved):
            run_of[record.observation.item] = runs[record.run]
    return run_of
