"""Grades from results folders, by the present file of their rubric and without running anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from grader import __version__
from grader.config.evidence_file import EVIDENCE, read_evidence
from grader.config.points_file import with_points
from grader.config.rubric import load_rubric
from grader.grading.rubric_of_class import require_rubric_of, rubric_again, rubrics_in
from grader.grading.tasks import still_valid, tasks_of
from grader.model.evidence import Evidence
from grader.scoring.score import score

if TYPE_CHECKING:
    from grader.config.course import Course
    from grader.model.rubric import Rubric
    from grader.model.score import Scorecard
    from grader.plugins import Plugins


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredResult:
    """The evidence of a submission in a results folder."""

    evidence: Evidence
    judge: Callable[[Evidence], Scorecard]
    """Scores it by the present file of the rubric."""
    outdated: str = ""
    """Why some of it counts no more, so that the score would lose its points until they are run again."""


def grades_in(
    out: Path, course: Course, plugins: Plugins, rubric: str | None, tell: Callable[[str], None]
) -> Iterator[StoredResult]:
    """Yield all evidence below a results folder, by assignment and student, with what scores it.

    Without a `rubric` it is the one that the scores there were given by; `tell` gets a line if it is another.

    Raises:
        UsageError: there is no such rubric, it grades nothing that is there, or the scores there are by
            several rubrics.
        CourseError: the rubric of an assignment is wrong or missing.
        NotObservedError: evidence cannot be read.
    """
    evidence_of = {name: sorted((out / name).glob(f"*/{EVIDENCE}")) for name in plugins.assignment_folders}
    graded = sorted(name for name, folders in evidence_of.items() if folders)
    for name in graded:
        folders = evidence_of[name]
        graded_by = rubrics_in(file.parent for file in folders)
        path, remark = rubric_again(course, name, rubric, graded_by, out)
        loaded = load_rubric(path, kinds=plugins.checks, assignments=plugins.assignment_folders)
        if loaded.assignment in graded and rubric is not None and loaded.assignment != name:
            continue
        require_rubric_of(name, loaded, path)
        if remark:
            tell(remark)
        extensions = course.extensions_of(name)
        judge = partial(_score, loaded, plugins, extensions, course.zone)
        declared, place = plugins.assignments[name], plugins.assignment_folders[name]
        for file in folders:
            stored = read_evidence(file)
            if stored is None:
                continue
            tasks = tasks_of(loaded, stored.submission, declared, place, plugins.checks)
            observations = with_points(file.parent, stored.submission, tasks, still_valid(stored, tasks))
            evidence = Evidence(submission=stored.submission, runs=stored.runs, observations=observations)
            stale = [
                task.item for task in tasks if task.item in stored.observations.keys() - observations.keys()
            ]
            yield StoredResult(evidence=evidence, judge=judge, outdated=_outdated(stored, stale))


def _outdated(stored: Evidence, items: Sequence[str]) -> str:
    """Say why observations of items count no more; empty if there are none."""
    version = stored.runs[-1].environment.get("grader", __version__) if stored.runs else __version__
    if not items:
        return ""
    if version != __version__:
        return f"grader {version} observed them, and this is {__version__}"
    return f"files of the course were changed since {', '.join(items)} were observed"


def _score(
    rubric: Rubric, plugins: Plugins, extensions: Mapping[str, float], zone: tzinfo, evidence: Evidence
) -> Scorecard:
    return score(rubric, evidence, plugins.checks, extensions=extensions, zone=zone)
