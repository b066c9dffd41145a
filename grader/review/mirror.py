"""Results folders that follow the gradebook: points and pages of students, written beside the web pages."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING

from grader.config.evidence_file import read_evidence
from grader.config.points_file import append_missing
from grader.errors import GraderError
from grader.gradebook.judgements import judgements_of
from grader.grading.judged import count_points
from grader.grading.results import Results
from grader.review.publishing import is_published

if TYPE_CHECKING:
    from grader.gradebook.book import Gradebook
    from grader.review.class_index import GradedEntry
    from grader.review.desk import Desk

_LATER_S = 2.0
"""Seconds after which a folder in use is tried again."""


class Mirror:
    """A thread that writes what the gradebook has and a results folder lacks; it may be killed at any time.

    What is missing there is found by comparing the two, so nothing has to be remembered.
    """

    def __init__(self, book: Gradebook, results: Path) -> None:
        self._book = book
        self._results = results
        self._waiting: OrderedDict[tuple[str, int], tuple[Desk, GradedEntry]] = OrderedDict()
        self._condition = threading.Condition()
        self._ending = False
        self.problems: dict[str, str] = {}
        """By student, why the pages could not be written; only what is true now."""
        self._thread = threading.Thread(target=self._work, name="mirror", daemon=True)
        self._thread.start()

    def follow(self, desk: Desk, *entries: GradedEntry) -> None:
        """Note that points of these submissions may have changed."""
        with self._condition:
            for entry in entries:
                self._waiting[desk.assignment, entry.number] = desk, entry
            self._condition.notify()

    def close(self, within_s: float = 30.0) -> None:
        """Write what is left, and end."""
        with self._condition:
            self._ending = True
            self._condition.notify()
        self._thread.join(within_s)

    def _work(self) -> None:
        while True:
            with self._condition:
                while not self._waiting and not self._ending:
                    self._condition.wait()
                if not self._waiting:
                    return
                key, (desk, entry) = self._waiting.popitem(last=False)
            student = entry.submission.student
            try:
                self.write(desk, entry)
                self.problems.pop(student, None)
            except GraderError as error:
                self.problems[student] = error.problems[0]
                with self._condition:
                    if not self._ending:
                        self._waiting.setdefault(key, (desk, entry))
                        self._condition.wait(_LATER_S)

    def write(self, desk: Desk, entry: GradedEntry) -> None:
        """Bring one results folder up to date.

        Raises:
            NotObservedError: a run is at work there, or it cannot be written.
        """
        folder = self._results / desk.assignment / entry.submission.student
        results = Results(folder)
        if not results.evidence.exists():
            return
        with results.locked():
            evidence = read_evidence(results.evidence)
            if evidence is None or evidence.submission.digest != entry.submission.digest:
                return  # another submission lies there: the points are not for it
            with self._book.database.reading() as connection:
                records = [each.record for each in judgements_of(connection, entry.submission)]
            published = is_published(self._book, desk.assignment)
            append_missing(folder, records)
            count_points(results, evidence, desk.rubric, desk.files, published=published)
