"""What a person sees of a run: progress while it goes on, then the card and where the files are."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TextIO

from grader.cli.echo import echo
from grader.markers import hookimpl

if TYPE_CHECKING:
    from grader.model.observation import Observation
    from grader.model.submission import Submission
    from grader.pipeline import Graded
    from grader.reports.class_progress import ClassProgress
    from grader.reports.terminal import Progress


class Display:
    """Hears of the moments of a run and shows them on a terminal; silent on anything else."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._progress: Progress | None = None

    @hookimpl
    def grader_exam_started(self, submission: Submission, total: int) -> None:
        """Begin a line."""
        from grader.reports.terminal import Progress

        self._progress = Progress(self._stream)
        self._progress.started(total)

    @hookimpl
    def grader_observed(self, observation: Observation, title: str) -> None:
        """One more."""
        if self._progress is not None:
            self._progress.observed(observation, title)

    @hookimpl
    def grader_graded(self) -> None:
        """Clear the line."""
        if self._progress is not None:
            self._progress.finished()


class Listener:
    """Hears of the moments of many runs at once."""

    def __init__(self, progress: ClassProgress) -> None:
        self._progress = progress

    @hookimpl
    def grader_observed(self, title: str) -> None:
        """One more item of somebody."""
        self._progress.observed(title)


def show(graded: Graded) -> None:
    """The card on standard output, and what to know about how it came to be."""
    from grader.reports.terminal import show as show_card
    from grader.results import FEEDBACK

    show_card(graded.scorecard, sys.stdout)
    exam = graded.evidence.exams[-1] if graded.evidence.exams else None
    if exam is not None:
        missing = exam.environment.get("stronger_layers_missing", ())
        why = f" ({'; '.join(missing)})" if missing else ""
        echo(f"    Sandbox: {exam.isolation}{why}.")
    if graded.submission.dropped:
        echo(f"    Not looked at: {', '.join(graded.submission.dropped)}.")
    files = ", ".join(path.name for path in graded.reports)
    echo(f"    Reports: {graded.results.folder}/ ({files}; for the student: {FEEDBACK})")
