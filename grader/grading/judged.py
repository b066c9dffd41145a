"""Scores a results folder anew when people have given points; nothing is run for it."""

from __future__ import annotations

from grader.config.points_file import with_points
from grader.grading.results import Results
from grader.grading.score import Graded, write_grade
from grader.grading.submission import CourseFiles
from grader.grading.tasks import still_valid
from grader.model.evidence import Evidence
from grader.model.rubric import Rubric


def count_points(
    results: Results, evidence: Evidence, rubric: Rubric, files: CourseFiles, *, published: bool
) -> Graded | None:
    """Score evidence with the points given by hand, write the reports, and tell who listens.

    The caller holds the lock of the folder. Returns None, and writes nothing, if something was observed by
    other tasks than today's: scored now, it would lose its points until it has run again.

    Raises:
        NotObservedError: a file cannot be written, or the points that people gave cannot be read.
    """
    tasks = files.tasks(rubric, evidence.submission)
    valid = still_valid(evidence, tasks)
    observations = with_points(results.folder, evidence.submission, tasks, valid)
    stale = {task.item for task in tasks if task.item in evidence.observations} - observations.keys()
    if stale:
        return None
    judged = Evidence(submission=evidence.submission, runs=evidence.runs, observations=observations)
    graded = write_grade(judged, rubric, results, files, published=published)
    files.plugins.graded(judged.submission, judged, graded.scorecard)
    return graded
