"""Progress of a run, then the scorecard and the paths of the results."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import tzinfo
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
"""Seconds between two lines about waiting, without a terminal."""


class Display:
    """Progress of one submission on a terminal; anything else gets lines about waiting."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._progress: Progress | None = None
        self._waits = _Waits(stream)

    @hookimpl
    def grader_run_started(self, submission: Submission, total: int) -> None:
        """Start the progress line."""
        from grader.reports.terminal import Progress

        self._progress = Progress(self._stream)
        self._progress.started(total)

    @hookimpl
    def grader_observed(self, observation: Observation, title: str) -> None:
        """Count one more observation."""
        if self._progress is not None:
            self._progress.observed(observation, title)

    @hookimpl
    def grader_waits(self, submission: Submission, message: str) -> None:
        """Show what the run waits for."""
        if self._progress is not None:
            self._progress.waits(message)
        self._waits.tell(submission.student, message)

    @hookimpl
    def grader_queue_status(self, message: str) -> None:
        """Show how the orders stand on other machines."""
        if self._progress is not None:
            self._progress.waits(message)
        self._waits.tell("", message)

    @hookimpl
    def grader_graded(self) -> None:
        """Clear the line."""
        if self._progress is not None:
            self._progress.finished()

    def ended(self, tell: Callable[[], None]) -> None:
        """Call `tell`, which prints the result."""
        tell()

    def close(self) -> None:
        """Clear the line, however the run ended."""
        self.grader_graded()


class ClassDisplay:
    """Progress of a class."""

    def __init__(self, progress: ClassProgress) -> None:
        self._progress = progress
        self._waits = _Waits(sys.stderr)

    @hookimpl
    def grader_observed(self, title: str) -> None:
        """Show an item that was observed."""
        self._progress.observed(title)

    @hookimpl
    def grader_waits(self, submission: Submission, message: str) -> None:
        """Show what a submission waits for."""
        self._progress.waits(f"{submission.student} waits: {message}")
        self._waits.tell(submission.student, message)

    @hookimpl
    def grader_queue_status(self, message: str) -> None:
        """Show how the orders stand on other machines."""
        self._progress.elsewhere(message)
        self._waits.tell("", message)

    def ended(self, tell: Callable[[], None]) -> None:
        """Count one more submission, and call `tell`, which prints its result."""
        self._progress.ended()
        self._progress.aside(tell)

    def close(self) -> None:
        """Clear the line."""
        self._progress.close()


class _Waits:
    """Prints what a run waits for, at most one line a minute, without a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._next = 0.0

    def tell(self, student: str, message: str) -> None:
        """Print a line on a student, or on all, unless the last one is less than a minute old."""
        if not self._stream.isatty() and time.monotonic() >= self._next:
            self._next = time.monotonic() + WAITS_EVERY_S
            who = f"{student} waits: " if student else ""
            echo(f"grader: {who}{message}", err=True)


def show(graded: Graded, zone: tzinfo, items: Sequence[str] = ()) -> None:
    """Print the scorecard, of its lines those that patterns of `items` name, and remarks on the run."""
    from grader.grading.results import FEEDBACK
    from grader.grading.tasks import wanted_items
    from grader.reports.terminal import print_remark
    from grader.reports.terminal import show as show_card

    wanted = wanted_items(items, graded.rubric.items)
    card = graded.scorecard
    lines = tuple(line for line in card.lines if line.item in wanted)
    show_card(replace(card, lines=lines), zone, sys.stdout)
    if len(lines) < len(card.lines):
        echo(f"    Shown: {len(lines)} of {len(card.lines)} items, as --item names them.")
    run = graded.evidence.runs[-1] if graded.evidence.runs else None
    if run is not None:
        missing = run.environment.get("stronger_layers_missing", ())
        why = f" ({'; '.join(missing)})" if missing else ""
        echo(f"    Sandbox: {run.isolation}{why}.")
    if graded.submission.chosen:
        print_remark(f"Counts: {graded.submission.archive}, {graded.submission.chosen}.", sys.stdout)
    if graded.submission.dropped:
        print_remark(f"Not looked at: {', '.join(graded.submission.dropped)}.", sys.stdout)
    files = ", ".join(path.name for path in graded.reports)
    echo(f"    Reports: {graded.results.folder}/ ({files}; for the student: {FEEDBACK})")
