"""What a person sees of a run: progress while it goes on, then the card and where the files are."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from grader.cli.echo import echo
from grader.markers import hookimpl

if TYPE_CHECKING:
    from grader.grading.score import Graded
    from grader.model.observation import Observation
    from grader.model.submission import Submission
    from grader.reports.class_progress import ClassProgress
    from grader.reports.terminal import Progress


WAITS_EVERY_S = 60.0
"""Where there is no terminal, a line that tells of waiting is followed by the next one only after so long."""


class Display:
    """The progress of one run, on a terminal; anything else gets lines that say what is waited for."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._progress: Progress | None = None
        self._waits = _Waits(stream)

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
    def grader_waits(self, submission: Submission, message: str) -> None:
        """Show what the run waits for."""
        if self._progress is not None:
            self._progress.waits(message)
        self._waits.tell(submission.student, message)

    @hookimpl
    def grader_graded(self) -> None:
        """Clear the line."""
        if self._progress is not None:
            self._progress.finished()

    def ended(self, tell: Callable[[], None]) -> None:
        """Have the result printed."""
        tell()

    def close(self) -> None:
        """Clear the line, however the run ended."""
        self.grader_graded()


class ClassDisplay:
    """The progress of many runs at once."""

    def __init__(self, progress: ClassProgress) -> None:
        self._progress = progress
        self._waits = _Waits(sys.stderr)

    @hookimpl
    def grader_observed(self, title: str) -> None:
        """One more item of somebody."""
        self._progress.observed(title)

    @hookimpl
    def grader_waits(self, submission: Submission, message: str) -> None:
        """Show what one of them waits for."""
        self._progress.waits(f"{submission.student} waits: {message}")
        self._waits.tell(submission.student, message)

    def ended(self, tell: Callable[[], None]) -> None:
        """Count one more, and have its result printed."""
        self._progress.ended()
        self._progress.aside(tell)

    def close(self) -> None:
        """Clear the line."""
        self._progress.close()


class _Waits:
    """Lines that say what is waited for, at most one a minute, where there is no terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._next = 0.0

    def tell(self, student: str, message: str) -> None:
        """Print a line, unless there was one a short time ago."""
        if not self._stream.isatty() and time.monotonic() >= self._next:
            self._next = time.monotonic() + WAITS_EVERY_S
            echo(f"grader: {student} waits: {message}", err=True)


def show(graded: Graded) -> None:
    """The card on standard output, and what to know about how it came to be."""
    from grader.grading.results import FEEDBACK
    from grader.reports.terminal import show as show_card

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
